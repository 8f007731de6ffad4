// Goal: a provider's own compaction takes the place of a conversation, at the cost that was expected. Method: whole
// sessions over loopback on the simulator, compacted between two turns, compared with the simulator's own record.
import { afterEach, describe, expect, test } from "vitest";
import { messagesFrom } from "../../core/assembly/thread.ts";
import { decodeMessage } from "../../core/message/decode-message.ts";
import { encodeMessage } from "../../core/message/encode-message.ts";
import { validateConversation } from "../../core/message/validate-conversation.ts";
import { openSession } from "../session/open-session.ts";
import type { Session } from "../../core/session/session.ts";
import { resumeSession } from "../session/stored-session.ts";
import {
  asCompacted,
  claude,
  closeWorlds,
  compact,
  costOf,
  cut,
  compaction,
  gpt,
  lastBilled,
  openWorld,
  say,
  setupOf,
  summaryText,
  talk,
  tools,
  usualSteps,
  type Kind,
  goOn,
  type ReadPart,
} from "../../../harness/compacted-session.ts";

afterEach(closeWorlds);

function bytesOf({ thread: { bytes } }: Session): string {
  return new TextDecoder().decode(bytes.slice(0, bytes.length));
}

/** How many tokens the foundation alone has, no reply has told before the first call on it. */
function blocksOf(parts: readonly ReadPart[]): readonly (number | null)[] {
  return parts.map(({ block }) => block);
}

describe.each([
  ["a stream", true],
  ["one piece", false],
])("a summary on demand in %s", (_name, stream) => {
  const kind = { ...claude, options: { stream } };

  test("is one signed block that stands first, and its cost is exact", async () => {
    const world = await openWorld(kind.protocol);
    const before = await talk(openSession(setupOf(kind)), world, 1, 4);
    const done = asCompacted(await compact(before, world));
    expect(done.messages).toEqual([
      {
        role: "assistant",
        content: [
          {
            type: "compaction",
            content: summaryText,
            signature: expect.any(String),
            json: expect.any(String),
          },
        ],
      },
    ]);
    expect(done.summary).toBe(summaryText);
    expect(done.calls).toMatchObject([
      { model: "claude-opus-5-5", provider: "anthropic", status: "complete", failure: null },
    ]);
    expect(costOf(done)).toBe(lastBilled(world).costUsd);
    expect(done.notes).toEqual([]);
    const compacted = compaction(before, done);
    const after = await goOn(compacted, world, 5);
    expect(blocksOf(after.planned)).toEqual(blocksOf(after.billed));
    expect(after.planned.at(-1)).toEqual(after.billed.at(-1));
  });

  test("reads what the last call left, and writes nothing", async () => {
    const world = await openWorld(kind.protocol);
    const before = await talk(openSession(setupOf(kind)), world, 1, 4);
    const { bill } = world.simulator.calls().at(-1)?.billed ?? {};
    const { "5m": short = 0, "1h": long = 0 } = bill?.writeTokens ?? {};
    const left = (bill?.readTokens ?? 0) + short + long;
    const done = asCompacted(await compact(before, world));
    expect(lastBilled(world).readTokens).toBe(left);
    expect(done.calls[0]?.usage).toMatchObject({ cacheReadTokens: left, cacheWriteTokens: {} });
  });
});

describe("the session after a summary on demand", () => {
  test("asks for its feature on every request, and only then", async () => {
    const world = await openWorld(claude.protocol);
    const before = await talk(
      openSession(setupOf({ ...claude, model: "claude-opus-5" })),
      world,
      1,
      2,
    );
    const done = asCompacted(await compact(before, world));
    const after = await goOn(compaction(before, done), world, 3);
    expect(blocksOf(after.planned)).toEqual(blocksOf(after.billed));
    expect(after.planned.at(-1)).toEqual(after.billed.at(-1));
    const beta = "compact-2026-09-04";
    expect(world.betas).toEqual([undefined, undefined, beta, beta, beta]);
  });

  test("keeps the thinking of the turns behind it, to the byte", async () => {
    const world = await openWorld(claude.protocol);
    const before = await talk(openSession(setupOf(claude)), world, 1, 5);
    const turnStarts = messagesFrom(before.thread, 0).flatMap(({ role }, index) =>
      role === "user" ? [index] : [],
    );
    const { head, tail } = cut(before, turnStarts[2] ?? 0);
    expect(
      tail.flatMap(({ content }) => content).filter(({ type }) => type === "thinking"),
    ).toHaveLength(3);
    const done = asCompacted(await compact(before, world, { thread: head }));
    expect(done.calls[0]?.usage?.cacheReadTokens).toBeGreaterThan(2000);
    const after = await goOn(compaction(before, done, tail), world, 6);
    expect(blocksOf(after.planned)).toEqual(blocksOf(after.billed));
    expect(after.planned.at(-1)).toEqual(after.billed.at(-1));
    expect(messagesFrom(after.session.thread, 1).slice(0, tail.length)).toEqual(tail);
  });

  test("may go on with a reply of the model itself", async () => {
    const world = await openWorld(claude.protocol);
    const before = await talk(openSession(setupOf(claude)), world, 1, 3);
    const reply = messagesFrom(before.thread, 0).findLastIndex(({ role }) => role === "assistant");
    const { head, tail } = cut(before, reply);
    const done = asCompacted(await compact(before, world, { thread: head }));
    const after = await goOn(compaction(before, done, tail), world, 4);
    expect(blocksOf(after.planned)).toEqual(blocksOf(after.billed));
    expect(after.planned.at(-1)).toEqual(after.billed.at(-1));
  });

  test("can be compacted again: the new summary stands for the old one, too", async () => {
    const seen: string[] = [];
    const world = await openWorld(claude.protocol, [
      {
        when: { wants: "summary" },
        times: "always",
        reply: ({ turns }) => {
          seen.push(turns.map(({ text }) => text).join("\n"));
          return { parts: [{ kind: "text", text: `Summary ${seen.length}.` }], stop: "end" };
        },
      },
      ...usualSteps.slice(1),
    ]);
    let session = await talk(openSession(setupOf(claude)), world, 1, 2);
    const first = asCompacted(await compact(session, world));
    ({ session } = await goOn(compaction(session, first), world, 3));
    const again = asCompacted(await compact(session, world));
    expect(seen[1]).toContain("Summary 1.");
    expect(again.summary).toBe("Summary 2.");
    expect(lastBilled(world).readTokens).toBeGreaterThan(2000);
    const compacted = compaction(session, again);
    expect(compacted.thread.messages.length).toBe(1);
    const after = await goOn(compacted, world, 5);
    expect(blocksOf(after.planned)).toEqual(blocksOf(after.billed));
    expect(after.planned.at(-1)).toEqual(after.billed.at(-1));
  });
});

describe("the compact endpoint", () => {
  test("gives the user's messages and a sealed item, reads the cache, and its cost is exact", async () => {
    const world = await openWorld(gpt.protocol);
    const before = await talk(openSession(setupOf(gpt)), world, 1, 4);
    const done = asCompacted(await compact(before, world));
    expect(world.simulator.calls().at(-1)).toMatchObject({
      path: "/v1/responses/compact",
      status: 200,
    });
    expect(done.messages.map(({ role }) => role)).toEqual([
      "user",
      "user",
      "user",
      "user",
      "assistant",
    ]);
    expect(done.messages[0]?.content).toEqual([
      { type: "opaque", json: expect.stringMatching(/^\{"id":"msg_\w+","type":"message",/) },
      { type: "text", text: expect.stringMatching(/^Turn 1: look/) },
    ]);
    expect(done.messages[4]?.content).toEqual([
      { type: "opaque", json: expect.stringMatching(/^\{"id":"cmp_\w+","type":"compaction",/) },
    ]);
    expect(done.summary).toBeNull();
    expect(costOf(done)).toBe(lastBilled(world).costUsd);
    expect(done.calls[0]?.usage?.cacheReadTokens).toBe(lastBilled(world).readTokens);
    expect(lastBilled(world).readTokens).toBeGreaterThan(2000);
    expect(validateConversation(done.messages)).toEqual([]);
    const after = await goOn(compaction(before, done), world, 5);
    // The provider sees that the user's first message is the one it has, whatever id it stands under now.
    expect(after.verdicts).not.toContain("read less");
    expect(after.planned.slice(1)).toEqual(after.billed.slice(1));
  });

  test("gives its output to the next call verbatim", async () => {
    const world = await openWorld(gpt.protocol);
    const before = await talk(openSession(setupOf(gpt)), world, 1, 2);
    const done = asCompacted(await compact(before, world));
    const items = done.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "opaque" ? [block.json] : [])),
    );
    expect(bytesOf(compaction(before, done))).toBe(items.join(","));
  });

  test("compacts what it compacted before", async () => {
    const world = await openWorld(gpt.protocol);
    let session = await talk(openSession(setupOf(gpt)), world, 1, 2);
    const first = asCompacted(await compact(session, world));
    ({ session } = await goOn(compaction(session, first), world, 3));
    const again = asCompacted(await compact(session, world));
    expect(again.messages).toHaveLength(5);
    const after = await goOn(compaction(session, again), world, 5);
    // The provider sees that the user's first message is the one it has, whatever id it stands under now.
    expect(after.verdicts).not.toContain("read less");
    expect(after.planned.slice(1)).toEqual(after.billed.slice(1));
  });

  test("keeps a tail of the conversation behind its output", async () => {
    const world = await openWorld(gpt.protocol);
    const before = await talk(openSession(setupOf(gpt)), world, 1, 4);
    const { head, tail } = cut(before, 4);
    const done = asCompacted(await compact(before, world, { thread: head }));
    const after = await goOn(compaction(before, done, tail), world, 5);
    // The provider sees that the user's first message is the one it has, whatever id it stands under now.
    expect(after.verdicts).not.toContain("read less");
    expect(after.planned.slice(1)).toEqual(after.billed.slice(1));
  });

  test("takes no tools: nothing is read or written, and the state of the cache stays as it was", async () => {
    const world = await openWorld(gpt.protocol);
    const before = await talk(openSession(setupOf({ ...gpt, more: { tools } })), world, 1, 3);
    const done = asCompacted(await compact(before, world));
    expect(done.calls[0]?.usage).toMatchObject({ cacheReadTokens: 0, cacheWriteTokens: {} });
    expect(done.cache).toBe(before.cache);
    expect(done.notes).toEqual([
      { kind: "option-ignored", detail: "tools: the compact endpoint takes none" },
    ]);
    const after = await goOn(compaction(before, done), world, 4);
    // The provider sees that the user's first message is the one it has, whatever id it stands under now.
    expect(after.verdicts).not.toContain("read less");
    expect(after.planned.slice(1)).toEqual(after.billed.slice(1));
  });

  test("has no place for instructions, and says so", async () => {
    const world = await openWorld(gpt.protocol);
    const before = await talk(openSession(setupOf(gpt)), world, 1, 1);
    const done = asCompacted(await compact(before, world, { instructions: "Keep names." }));
    expect(done.notes).toEqual([
      {
        kind: "option-ignored",
        detail: "the instructions: the compact endpoint sums up in its own way",
      },
    ]);
  });
});

describe.each([
  ["a summary on demand", claude],
  ["the compact endpoint", gpt],
])("%s in the ledger", (_name, kind) => {
  test("is the same to the byte after a restart, and so is every later request", async () => {
    const world = await openWorld(kind.protocol);
    const before = await talk(openSession(setupOf(kind)), world, 1, 2);
    const done = asCompacted(await compact(before, world));
    for (const message of done.messages) {
      expect(decodeMessage(encodeMessage(message))).toEqual(message);
    }
    const first = openSession({ ...setupOf(kind), id: "s2", messages: done.messages });
    const next = await say(first, { ...world }, 7);
    const resumed = await resumeSession(world.ledger, "s2", setupOf(kind));
    expect(bytesOf(resumed)).toBe(bytesOf(next.session));
    expect(resumed.thread.written).toEqual(next.session.thread.written);
    const after = await goOn(resumed, world, 8);
    expect(blocksOf(after.planned)).toEqual(blocksOf(after.billed));
    expect(after.planned.at(-1)).toEqual(after.billed.at(-1));
  });
});

describe("another model", () => {
  const setups: readonly [string, Kind][] = [
    ["that compacts nothing", { ...claude, model: "claude-haiku-4-5" }],
    ["of another protocol", gpt],
  ];
  test.each(setups)("%s is shown the words of the summary", async (_what, kind) => {
    const first = await openWorld(claude.protocol);
    const before = await talk(openSession(setupOf(claude)), first, 1, 2);
    const done = asCompacted(await compact(before, first));
    const shown: string[] = [];
    const world = await openWorld(kind.protocol, [
      {
        when: {},
        times: "always",
        reply: ({ turns }) => {
          shown.push(...turns.map(({ text }) => text));
          return { parts: [{ kind: "text", text: "Yes." }], stop: "end" };
        },
      },
    ]);
    const session = openSession({ ...setupOf(kind), messages: done.messages });
    await say(session, world, 3);
    expect(shown.join("\n")).toContain(summaryText);
    expect(world.betas).toEqual([undefined]);
  });

  test("of another provider is shown what the users said, where the rest is sealed", async () => {
    const first = await openWorld(gpt.protocol);
    const before = await talk(openSession(setupOf(gpt)), first, 1, 2);
    const done = asCompacted(await compact(before, first));
    const world = await openWorld(claude.protocol);
    const run = await say(openSession({ ...setupOf(claude), messages: done.messages }), world, 3);
    expect(run.calls[0]?.notes).toEqual([
      {
        kind: "content-left-out",
        detail: "a block of type compaction: it belongs to another protocol (and 2 before it)",
      },
    ]);
  });
});
