// Goal: while a session runs, each miss gets its true cause, and an honest provider is never blamed.
// Method: sessions of the engine on the simulator, under every policy, with text that changes on every turn.
import { expect, test } from "vitest";
import { createRandom } from "../harness/random-message.ts";
import { randomWords } from "../harness/random-talk.ts";
import { runSimulated, type SimulatedRun } from "../harness/simulated-session.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import { policyNames, type PolicyName } from "../src/core/cache/policy.ts";
import type { PayloadOf } from "../src/core/events/event.ts";
import { noUsage, promptTokens } from "../src/core/message/usage.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { createEventBus } from "../src/edge/events/event-bus.ts";

interface Watched {
  readonly run: SimulatedRun;
  readonly misses: readonly PayloadOf<"cache.miss">[];
}

async function play(policy: PolicyName, pauseMs = 60_000): Promise<Watched> {
  const random = createRandom(5);
  const misses: PayloadOf<"cache.miss">[] = [];
  const bus = createEventBus({ onProblem: () => {} });
  bus.subscribe((event) => {
    if (event.type === "cache.miss") misses.push(event.payload);
  });
  const tool = { name: "look", description: randomWords(random, 100) };
  const inputSchemaJson = '{"type":"object","properties":{"place":{"type":"string"}}}';
  const run = await runSimulated({
    setup: {
      id: "live",
      model: resolveModel("claude-sonnet-4-6").facts,
      protocol: anthropicMessages,
      policy: findPolicy(policy),
      context: { role: "unified", workspaceRules: randomWords(random, 4000) },
      tools: [{ definition: { ...tool, inputSchemaJson }, needs: [] }],
      counter: cheapCounter,
      options: { outputTokensMax: 1000, stream: true },
    },
    turns: Array.from({ length: 6 }, (_, index) => ({
      afterMs: index === 5 ? pauseMs : 60_000,
      text: randomWords(random, 400),
      replies: [
        { text: "Looking.", toolCalls: [{ name: "look", input: { place: "shelf" } }] },
        { text: randomWords(random, 300) },
      ],
      volatile: [
        {
          name: "memory",
          layer: "memory",
          stability: "turn",
          text: `Note ${index}: ${randomWords(random, 30)}`,
        },
      ],
    })),
    toolResult: () => randomWords(random, 200),
    events: bus,
  });
  await bus.close();
  return { run, misses };
}

test.each(policyNames)("under %s an honest provider is not blamed", async (policy) => {
  const { run, misses } = await play(policy);
  expect(run.calls).toHaveLength(12);
  expect(run.calls.flatMap(({ refuted }) => refuted)).toEqual([]);
  expect(run.calls.map(({ verdict }) => verdict?.kind)).toEqual(
    Array.from({ length: 12 }, () => "as expected"),
  );
  // Only text that changes on every turn breaks a prefix here, and it is named.
  expect(new Set(misses.map(({ block_tier: tier }) => tier))).toEqual(
    new Set(breaksItself.has(policy) ? ["T5"] : []),
  );
});

/** Volatile text stands before the history, or before the only marker. */
const breaksItself: ReadonlySet<PolicyName> = new Set(["metis", "hermes", "automatic"]);

test("a layout that breaks its own cache is named, with block and byte", async () => {
  const { misses } = await play("metis");
  expect(misses[0]).toMatchObject({
    cause: "system changed",
    block_tier: "T5",
    block_label: "volatile",
    block_index: 2,
  });
  expect(misses[0]?.block_byte_offset).toBeGreaterThan(0);
  expect(Number(misses[0]?.lost_cost_usd)).toBeGreaterThan(0);
});

test("a pause that outlived the cache is named, and never loses more than the prompt", async () => {
  const { run, misses } = await play("tail-5m", 7_200_000);
  const [miss, ...more] = misses;
  expect(more).toEqual([]);
  expect(miss).toMatchObject({ cause: "lifetime expired", detail: "after 120 min" });
  const usage = run.calls.at(-2)?.usage ?? noUsage;
  expect(miss?.lost_tokens).toBeLessThanOrEqual(promptTokens(usage));
});
