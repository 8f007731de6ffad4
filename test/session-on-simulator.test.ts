// Goal: what a session costs is what its plans said. Method: whole sessions over loopback on the simulator,
// compared with the simulator's own record.
import { describe, expect, test } from "vitest";
import {
  runSimulated,
  type SimulatedRun,
  type SimulatedSession,
  type SimulatedTurn,
} from "../harness/simulated-session.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { toToolDefinition } from "../src/core/message/tool-definition.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../src/core/wire/openai/responses/index.ts";
import type { Protocol } from "../src/core/wire/protocol.ts";
import { vendorPath } from "../src/simulator/index.ts";
import { promptTokens } from "../src/core/message/usage.ts";

const rules = Array.from(
  { length: 120 },
  (_, index) => `Rule ${index}: before you change module ${index}, read its tests and its callers.`,
).join("\n");

const tools = ["read_file", "search", "run_tests"].map((name) => ({
  definition: toToolDefinition({
    name,
    description: `Does what ${name} says, in the workspace and nowhere else.`,
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  }),
  needs: [],
}));

function sessionOn(
  model: string,
  policy: string,
  turns: readonly SimulatedTurn[],
  protocol: Protocol = anthropicMessages,
): SimulatedSession {
  return {
    setup: {
      model: resolveModel(model).facts,
      protocol,
      policy: findPolicy(policy),
      context: { role: "unified", workspaceRules: rules, date: "2026-11-15" },
      tools,
      counter: cheapCounter,
      options: { outputTokensMax: 4000, stream: true },
    },
    turns,
    toolResult: ({ name, inputJson }) =>
      `${name} ${inputJson} gave: ${"all lines as they were before. ".repeat(12)}`,
  };
}

function parallelTurns(count: number, parallel: number): SimulatedTurn[] {
  return Array.from({ length: count }, (_, index) => ({
    afterMs: 60_000,
    text: `Look at module ${index} and tell me what depends on it.`,
    replies: [
      {
        thinking: `Module ${index} has ${parallel} callers.`,
        text: `I read ${parallel} files at once.`,
        toolCalls: Array.from({ length: parallel }, (__, file) => ({
          name: "read_file",
          input: { path: `src/${index}/${file}.ts` },
        })),
      },
      { text: `Module ${index} is used by ${parallel} files, all of them tested.` },
    ],
  }));
}

test("40 turns with 12 parallel tools read at least 95 % of their prompts, each call up to the tail before it", async () => {
  const run = await runSimulated(sessionOn("claude-sonnet-4-6", "adaptive", parallelTurns(40, 12)));
  expectAnswered(run, 80);
  const later = run.calls.filter(({ turnId }) => turnId !== "turn-1");
  const usages = later.map(({ usage }) => usage ?? fail());
  const read = usages.reduce((sum, usage) => sum + usage.cacheReadTokens, 0);
  const prompt = usages.reduce((sum, usage) => sum + promptTokens(usage), 0);
  expect(read / prompt).toBeGreaterThanOrEqual(0.95);
  for (const [index, call] of run.calls.entries()) {
    if (index === 0) continue;
    const before = run.calls[index - 1]?.plan.markers.find(({ slot }) => slot === "tail");
    expect(call.plan.expected.hitBlock).toBe(before?.block);
    expect(run.simulated[index]?.billed?.bill.hitBlock).toBe(before?.block);
  }
});

test("a short natural prompt is cached on turn 2 where metis pads it (M-26)", async () => {
  const run = await runSimulated({
    ...sessionOn("claude-haiku-4-5", "metis", [
      { afterMs: 0, text: "Hello.", replies: [{ text: "Hello. What shall we do?" }] },
      { afterMs: 30_000, text: "Nothing yet.", replies: [{ text: "I am here." }] },
    ]),
    setup: {
      ...sessionOn("claude-haiku-4-5", "metis", []).setup,
      context: { role: "unified", persona: { identity: "You are a careful helper." } },
      tools: tools.slice(0, 1),
    },
  });
  expectAnswered(run, 2);
  expect(run.session.padding.tokens).toBeGreaterThan(2000);
  expect(run.calls[0]?.usage?.cacheWriteTokens["5m"]).toBeGreaterThan(4096);
  expect(run.calls[1]?.usage?.cacheReadTokens).toBeGreaterThan(4096);
});

/** A clock that changes, two changes of memory, a pause of two hours, thinking and tools. */
function eventfulTurns(count: number): SimulatedTurn[] {
  return Array.from({ length: count }, (_, index) => ({
    afterMs: index === 20 ? 2 * 3_600_000 : 45_000 + 1000 * index,
    text: `Step ${index}: look again at what changed.`,
    replies: [
      {
        thinking: `I should look at file ${index} first.`,
        text: "Looking.",
        toolCalls: [1, 2].map((file) => ({
          name: "search",
          input: { path: `src/${index}/${file}.ts`, "10": 1, "9": 2 },
        })),
      },
      { thinking: `Nothing new in step ${index}.`, text: `Step ${index} is done.` },
    ],
    volatile:
      index < 10
        ? []
        : [
            {
              name: "memory change",
              layer: "memory" as const,
              stability: "turn" as const,
              text: `Memory changed since the session began: note ${index < 25 ? 1 : 2} was added.`,
            },
          ],
  }));
}

test.each(["claude-sonnet-5-5", "claude-opus-5-5"])(
  "40 turns with thinking on %s: no refusal and no thinking block dropped",
  async (model) => {
    const run = await runSimulated(sessionOn(model, "adaptive", eventfulTurns(40)));
    expectAnswered(run, 80);
    const thinking = run.calls.filter(({ reply }) =>
      reply?.content.some(({ type }) => type === "thinking"),
    );
    expect(thinking).toHaveLength(80);
    const dropped = run.turns.flatMap(({ calls }) => calls.flatMap(({ notes }) => notes));
    expect(dropped).toEqual([]);
    expectPlansHeld(run);
    // Two hours are longer than any lifetime: the call after the pause starts over, no other does.
    const cold = run.calls.filter(({ usage }) => usage?.cacheReadTokens === 0);
    expect(cold.map(({ turnId, number }) => `${turnId}.${number}`)).toEqual([
      "turn-1.1",
      "turn-21.1",
    ]);
  },
);

test("a first image hides what was written of the messages, and the plan knows it", async () => {
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const image = {
    type: "image" as const,
    source: { kind: "base64" as const, mediaType: "image/png", data: png },
  };
  const turns = eventfulTurns(12).map((turn, index) =>
    index === 6 ? { ...turn, text: [{ type: "text" as const, text: "Like this:" }, image] } : turn,
  );
  const run = await runSimulated(sessionOn("claude-sonnet-4-6", "adaptive", turns));
  expectAnswered(run, 24);
  expectPlansHeld(run);
  const [before, at, after] = [11, 12, 13].map(
    (call) => run.calls[call]?.usage?.cacheReadTokens ?? 0,
  );
  expect(at).toBeLessThan((before ?? 0) - 2000);
  expect(after).toBeGreaterThan(before ?? 0);
});

describe.each([openaiResponses, openaiChat])("the same session over $name", (protocol) => {
  test("on gpt-6.1-sol every call reads up to the end of the call before it", async () => {
    const run = await runSimulated(
      sessionOn("gpt-6.1-sol", "adaptive", eventfulTurns(40), protocol),
    );
    expectAnswered(run, 80);
    expectPlansHeld(run);
    const cold = run.calls.filter(({ usage }) => usage?.cacheReadTokens === 0);
    expect(cold.map(({ turnId, number }) => `${turnId}.${number}`)).toEqual([
      "turn-1.1",
      "turn-21.1",
    ]);
  });

  test("on gpt-5.5 every call reads the whole steps of what was sent before", async () => {
    const run = await runSimulated(sessionOn("gpt-5.5", "adaptive", eventfulTurns(40), protocol));
    expectAnswered(run, 80);
    for (const [index, { usage, turnId, number }] of run.calls.entries()) {
      // The model does not see the reasoning of earlier turns: a new turn shares what precedes the last one's.
      const before = run.calls[number === 1 ? index - 2 : index - 1]?.usage ?? null;
      if (before === null || usage === null || (turnId === "turn-21" && number === 1)) continue;
      expect(usage.cacheReadTokens % 2048).toBe(0);
      // At most the step that was begun and the clock's line are paid again.
      expect(usage.cacheReadTokens).toBeGreaterThan(promptTokens(before) - 2048 - 100);
    }
    const cold = run.calls.filter(({ usage }) => usage?.cacheReadTokens === 0);
    expect(cold.map(({ turnId, number }) => `${turnId}.${number}`)).toEqual([
      "turn-1.1",
      "turn-21.1",
    ]);
  });
});

// DeepSeek keeps a prefix to the end of an input. The clock's line stands there, so it has to be sent again.
test.each([
  { protocol: openaiChat, basePath: `${vendorPath("deepseek")}/v1` },
  { protocol: anthropicMessages, basePath: `${vendorPath("deepseek")}/anthropic` },
])(
  "where only whole inputs are kept, every call reads all that the one before sent ($protocol.name)",
  async ({ protocol, basePath }) => {
    const session = sessionOn("deepseek-flash", "adaptive", eventfulTurns(12), protocol);
    const run = await runSimulated({ ...session, basePath });
    expectAnswered(run, 24);
    // The opening of the reply is no part of the input that is kept.
    const opening = 3;
    const sent = run.calls.map(({ usage }) => promptTokens(usage ?? fail()) - opening);
    const read = run.calls.map(({ usage }) => usage?.cacheReadTokens);
    expect(read).toEqual([0, ...sent.slice(0, -1)]);
    expect(run.calls.map(({ verdict }) => verdict?.kind)).toEqual(
      run.calls.map(() => "as expected"),
    );
  },
);

/** Every hit is where the plan said, and the tokens read are those between the markers of earlier calls. */
function expectPlansHeld(run: SimulatedRun): void {
  for (const [index, call] of run.calls.entries()) {
    const { hitBlock = null } = run.simulated[index]?.billed?.bill ?? {};
    // Chat writes a reply as one block, where the provider sees one for each of its tool calls.
    const isOneToOne = run.session.protocol.name !== "openai-chat";
    expect(isOneToOne ? hitBlock : null).toBe(isOneToOne ? call.plan.expected.hitBlock : null);
    expect(call.verdict?.kind).toBe("as expected");
    expect(call.refuted).toEqual([]);
  }
}

function expectAnswered(run: SimulatedRun, calls: number): void {
  expect(run.calls.flatMap(({ failure }) => (failure === null ? [] : [failure]))).toEqual([]);
  expect(run.calls).toHaveLength(calls);
  expect(run.simulated.map(({ status }) => status)).toEqual(run.calls.map(() => 200));
}

function fail(): never {
  throw new Error("a call without usage");
}
