// Where a compaction cuts: at turns, inside one that is too large, never between a tool and its answer (CF-E).
import { expect, test } from "vitest";
import type { Message } from "../../../src/core/message/message.ts";
import { anthropicMessages } from "../../../src/core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../../src/core/wire/openai/responses/index.ts";
import type { OpenLedger } from "../../ledger/stores.ts";
import { words } from "../speakers.ts";
import { messagesOf, readMessages, splitPairs, textOf } from "../looks.ts";
import { compactionsSoon, openWorld, type WorldOptions } from "../test-kit.ts";
import { fileTool, reads } from "../tools.ts";

export function boundaryContract(open: OpenLedger): void {
  test("CF-E: what is kept begins with a turn and is the same to the byte", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    await world.talk(7);
    const before = messagesOf(world.session);
    await world.talk(1, { from: 8 });
    const [compaction] = await world.folds();
    expect(compaction).toMatchObject({
      summarizedThroughTurnId: "turn-5",
      firstKeptTurnId: "turn-6",
      firstKeptIndex: 0,
      turnsSummarized: 5,
      headTurnCount: 8,
      tailStartIndex: 10,
    });
    const [notes, ...kept] = messagesOf(world.session);
    expect(textOf(notes ?? none)).toContain("<notes-on-earlier-conversation>");
    expect(kept.slice(0, 4)).toEqual(before.slice(10));
    expect(await readMessages(world.store.ledger)).toEqual([notes, ...kept]);
  });

  test("CF-E: one huge message cannot be folded, and goes out", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    await world.talk(1, { tokens: 15_000 });
    const [run] = await world.talk(1, { from: 2, tokens: 1_500 });
    expect(run?.end).toBe("done");
    expect(await world.folds()).toEqual([]);
    expect(world.payloads("compaction.skipped")).toContainEqual({
      trigger: "context_limit",
      outcome: "no_boundary",
    });
  });

  test("CF-E: a turn that is too large is cut where a reply begins, and what was asked stands before it word for word", async () => {
    const world = await openWorld(open, {
      ...working({ steps: 12, tokens: 900 }),
      settings: compactionsSoon,
    });
    const request = "Read every part, and keep the ports 4177 and 4178 in mind.";
    const run = await world.say(request, { id: "long" });
    expect(run.end).toBe("done");
    const folds = (await world.folds()).toReversed();
    expect(folds.length).toBeGreaterThan(0);
    expect(folds[0]).toMatchObject({ firstKeptTurnId: "long", turnsSummarized: 0 });
    expect(folds[0]?.firstKeptIndex).toBeGreaterThan(1);
    const messages = messagesOf(world.session);
    const asked = messages.filter((each) => each.role === "user" && textOf(each).includes(request));
    expect(asked.filter((each) => textOf(each).endsWith(request))).toHaveLength(1);
    expect(splitPairs(messages)).toEqual([]);
    expect(await readMessages(world.store.ledger)).toEqual(messages);
    const { key } = world.session.thread.end;
    expect((await world.restart()).thread.end.key).toBe(key);
    const next = await world.say("And now?");
    expect(next.end).toBe("done");
    expect(await world.violations()).toEqual([]);
  });

  test("CF-E: answers of tools that were asked for at once are never parted", async () => {
    const world = await openWorld(open, {
      ...working({ steps: 8, tokens: 400, atOnce: 3 }),
      settings: compactionsSoon,
      auto: { turnsBetweenMin: 0, callsBetweenMin: 0, compactionsMax: 100 },
    });
    for (const number of [1, 2, 3]) {
      const run = await world.say(`Read the parts of round ${number}.`);
      expect(run.end).toBe("done");
      expect(splitPairs(messagesOf(world.session))).toEqual([]);
    }
    expect((await world.folds()).length).toBeGreaterThan(2);
    for (const { text } of world.bodies) expect(unanswered(text)).toEqual([]);
  });

  test.each([
    ["claude-sonnet-4-6", anthropicMessages],
    ["gpt-5.5", openaiChat],
    ["gpt-6.1-sol", openaiResponses],
  ] as const)(
    'CF-E: with the shape "pair" %s is never shown two messages of one speaker in a row',
    async (model, protocol) => {
      const world = await openWorld(open, {
        ...working({ steps: 2, tokens: 1_000 }),
        model,
        protocol,
        settings: { ...compactionsSoon, summaryShape: "pair" },
        auto: { turnsBetweenMin: 0, callsBetweenMin: 0, compactionsMax: 100 },
      });
      for (let number = 1; number <= 6; number += 1) {
        const run = await world.say(`Read round ${number}: ${words(400, `round ${number}`)}`);
        expect(run.calls.map(({ failure }) => failure)).toEqual(run.calls.map(() => null));
        expect(neighbours(messagesOf(world.session))).toEqual([]);
      }
      expect((await world.folds()).length).toBeGreaterThan(1);
    },
  );
}

const none: Message = { role: "user", content: [] };

function working(reading: Parameters<typeof reads>[0]): WorldOptions {
  return { tools: [fileTool("read")], speak: reads(reading) };
}

/** Uses without answers and answers nobody asked for, in a request of the Messages API. */
function unanswered(body: string): readonly string[] {
  const uses = [...body.matchAll(/"type":"tool_use","id":"([^"]+)"/g)].map((found) => found[1]);
  const results = [...body.matchAll(/"tool_use_id":"([^"]+)"/g)].map((found) => found[1]);
  return [...new Set([...uses, ...results])].flatMap((id) =>
    id !== undefined && uses.includes(id) && results.includes(id) ? [] : [String(id)],
  );
}

/** A message after one of the same speaker; answers of tools belong together. */
function neighbours(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ role }, index) =>
    index > 0 && role !== "tool" && messages[index - 1]?.role === role ? [`${index} ${role}`] : [],
  );
}
