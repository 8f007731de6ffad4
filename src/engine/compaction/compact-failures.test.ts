// Goal: a compaction that is not to be had, or fails, is told with what it cost. Method: models, routes and settings
// without one, and a simulator that refuses, breaks off or says something else.
import { afterEach, describe, expect, test } from "vitest";
import type { Message } from "../../core/message/message.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import type { CallOptions } from "../../core/wire/protocol.ts";
import { type ScriptStep } from "../../simulator/index.ts";
import type { ProviderWish } from "../../core/turn/compaction/make-notes.ts";
import { openSession } from "../session/open-session.ts";
import type { Session } from "../../core/session/session.ts";
import {
  asCompacted,
  asFailed,
  claude,
  closeWorlds,
  compact,
  costOf,
  gpt,
  lastBilled,
  openWorld,
  setupOf,
  summaryText,
  tools,
  type Kind,
  type World,
} from "../../../harness/compacted-session.ts";

afterEach(closeWorlds);

describe("a compaction that is not to be had", () => {
  test.each<[string, Kind, string]>([
    ["protocol", { ...gpt, protocol: openaiChat }, "openai-chat has no compaction"],
    [
      "model",
      { ...claude, model: "claude-haiku-4-5" },
      "claude-haiku-4-5 does not compact on demand by claude-api",
    ],
    [
      "route",
      { ...claude, model: "bedrock/claude-opus-5-5" },
      "claude-opus-5-5 does not compact on demand by bedrock",
    ],
    [
      "setting",
      { ...claude, options: { betas: ["compact-2026-01-12"] } },
      "calls ask for compact-2026-01-12, which cannot be combined with a summary on demand",
    ],
  ])("by its %s is told, and nothing is sent", async (_what, kind, why) => {
    const world = await openWorld(kind.protocol);
    const messages = [
      { role: "user" as const, content: [{ type: "text" as const, text: "Hello." }] },
    ];
    const session = openSession({ ...setupOf(kind), messages });
    expect(await compact(session, world)).toEqual({ kind: "unavailable", why });
    expect(world.simulator.calls()).toEqual([]);
  });
});

const use: Message = {
  role: "assistant",
  content: [{ type: "tool_use", id: "t1", name: "read_file", inputJson: "{}" }],
};
const result: Message = {
  role: "tool",
  content: [
    {
      type: "tool_result",
      toolUseId: "t1",
      content: [{ type: "text", text: "x" }],
      isError: false,
    },
  ],
};

describe.each([
  ["a summary on demand", { ...claude, model: "claude-opus-5" }],
  ["the compact endpoint", { ...gpt, more: { tools } }],
])("%s that fails", (_name, kind) => {
  async function openFor(
    messages: readonly Message[],
    steps?: readonly ScriptStep[],
  ): Promise<{ world: World; session: Session }> {
    const world = await openWorld(kind.protocol, steps);
    return { world, session: openSession({ ...setupOf(kind), messages }) };
  }
  const asked: Message = { role: "user", content: [{ type: "text", text: "Read a file." }] };

  test("with nothing to compact is not sent", async () => {
    const { world, session } = await openFor([]);
    expect(asFailed(await compact(session, world)).reasons).toEqual([
      "there is nothing to compact",
    ]);
    expect(world.simulator.calls()).toEqual([]);
  });

  test("with a tool use that waits is not sent, and succeeds with its result", async () => {
    const { world, session } = await openFor([asked, use]);
    expect(asFailed(await compact(session, world)).reasons).toEqual([
      "no result follows the tool uses t1: give it in what is pending, or cut before them",
    ]);
    expect(world.simulator.calls()).toEqual([]);
    expect(asCompacted(await compact(session, world, { pending: [result] })).kind).toBe(
      "compacted",
    );
  });

  test("for want of room says so, and is not tried again", async () => {
    const { world, session } = await openFor([asked]);
    world.simulator.fault({ kind: "overflow", tokens: 1_200_000, tokensMax: 1_000_000 });
    const failed = asFailed(await compact(session, world));
    expect(failed.failure?.kind).toBe("context-overflow");
    expect(failed.reasons).toEqual([expect.stringMatching(/^context-overflow: /)]);
    expect(failed.cache).toEqual(session.cache);
    expect(world.simulator.calls()).toHaveLength(1);
  });

  test("once is tried again, twice is told", async () => {
    const { world, session } = await openFor([asked]);
    world.simulator.fault({ kind: "overloaded" });
    expect((await compact(session, world)).kind).toBe("compacted");
    world.simulator.fault({ kind: "overloaded" }, { kind: "overloaded" });
    expect(asFailed(await compact(session, world))).toMatchObject({
      failure: { kind: "overloaded" },
      calls: [{ status: "failed", usage: null, costPicoUsd: null }],
    });
  });

  test("because it is cancelled ends at once", async () => {
    const { world, session } = await openFor([asked]);
    const failed = asFailed(await compact(session, world, {}, AbortSignal.abort()));
    expect(failed.failure?.kind).toBe("cancelled");
    expect(world.simulator.calls()).toEqual([]);
  });
});

describe("a summary on demand without a summary", () => {
  test.each<[string, ScriptStep, Partial<ProviderWish>, string]>([
    ["that was too long", { text: summaryText }, { outputTokensMax: 3 }, "max_tokens"],
    ["that called a tool", { toolCalls: [{ name: "read_file", input: {} }] }, {}, "tool_use"],
    ["that was empty", { text: "" }, {}, "end_turn"],
  ])("%s is a failure, and what it cost is not lost", async (_what, step, request, stop) => {
    const world = await openWorld(claude.protocol, [{ ...step, when: {}, times: "always" }]);
    const messages = [
      { role: "user" as const, content: [{ type: "text" as const, text: "Hello." }] },
    ];
    const session = openSession({ ...setupOf(claude), messages });
    const failed = asFailed(await compact(session, world, request));
    expect(failed.reasons).toEqual([
      `the provider answered without a compaction (stop reason: ${stop})`,
    ]);
    expect(failed.failure).toBeNull();
    expect(costOf(failed)).toBe(lastBilled(world).costUsd);
    expect(failed.calls[0]?.costPicoUsd).toBeGreaterThan(0n);
  });

  test("leaves out what may not stand beside it, and cuts instructions that are too long", async () => {
    const world = await openWorld(claude.protocol);
    const options: Partial<CallOptions> = {
      stopSequences: ["x"],
      toolChoice: "any",
      outputSchemaJson: "{}",
      extraJson: { output_config: '{"effort":"low","format":{"type":"json_schema"}}' },
    };
    const kind = { ...claude, model: "claude-opus-5", options };
    const messages = [
      { role: "user" as const, content: [{ type: "text" as const, text: "Hello." }] },
    ];
    const session = openSession({ ...setupOf(kind), messages });
    const instructions = "Keep names. ".repeat(2000);
    const done = asCompacted(await compact(session, world, { instructions }));
    expect(done.notes?.map(({ detail }) => detail)).toEqual([
      "stop sequences: not taken with a summary on demand",
      "the output schema: not taken with a summary on demand",
      "tool choice: not taken with a summary on demand",
      "output_config.format: not taken with a summary on demand",
      "the instructions are 23999 characters long, and cut to 16384",
    ]);
  });
});
