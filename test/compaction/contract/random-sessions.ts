// Random sessions: any model, layout and settings, with failures, crashes, restarts and compacts at any moment.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findPolicy } from "../../../src/core/cache/policies.ts";
import { policyNames } from "../../../src/core/cache/policy.ts";
import { anthropicMessages } from "../../../src/core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../../src/core/wire/openai/responses/index.ts";
import type { Deps } from "../../../src/engine.ts";
import { leaseMs, type OpenLedger } from "../../ledger/stores.ts";
import { reply, words, writesSummaries } from "../speakers.ts";
import { expectCosts, expectSame, messagesOf, splitPairs } from "../looks.ts";
import { compactionsSoon, openWorld, type World } from "../test-kit.ts";
import { fileTool, reads } from "../tools.ts";

const models = [
  ["claude-sonnet-4-6", anthropicMessages],
  ["claude-opus-5-5", anthropicMessages],
  ["claude-haiku-4-5", anthropicMessages],
  ["gpt-6.1-sol", openaiResponses],
  ["gpt-5.5", openaiChat],
] as const;

type Step =
  | { readonly kind: "talk"; readonly tokens: number }
  | { readonly kind: "work"; readonly tokens: number }
  /** Dies when it sends for the nth time; another process goes on with the turn, or gives it up. */
  | { readonly kind: "crash"; readonly at: number; readonly isResumed: boolean }
  | { readonly kind: "fail"; readonly at: number; readonly fault: "server error" | "overflow" }
  | { readonly kind: "compact" }
  | { readonly kind: "restart" }
  | { readonly kind: "pause" };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("talk" as const),
      tokens: fc.integer({ min: 20, max: 2_500 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("work" as const),
      tokens: fc.integer({ min: 20, max: 600 }),
    }),
  },
  fc.record({
    kind: fc.constant("crash" as const),
    at: fc.integer({ min: 1, max: 5 }),
    isResumed: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("fail" as const),
    at: fc.integer({ min: 1, max: 5 }),
    fault: fc.constantFrom("server error" as const, "overflow" as const),
  }),
  fc.record({ kind: fc.constant("compact" as const) }),
  fc.record({ kind: fc.constant("restart" as const) }),
  fc.record({ kind: fc.constant("pause" as const) }),
);

const programs = fc.record({
  model: fc.nat({ max: models.length - 1 }),
  policy: fc.constantFrom(...policyNames),
  shape: fc.constantFrom("message" as const, "pair" as const),
  steps: fc.array(steps, { minLength: 6, maxLength: 16 }),
  toolTokens: fc.integer({ min: 20, max: 2_500 }),
  toolSteps: fc.integer({ min: 1, max: 8 }),
  atOnce: fc.integer({ min: 1, max: 3 }),
  mayUseProvider: fc.boolean(),
  hasSummariser: fc.boolean(),
  isEnabled: fc.boolean(),
  /** Every so manyth summary is empty; 0 for none. */
  breaks: fc.constantFrom(0, 0, 1, 2),
  isClearing: fc.boolean(),
});

export function randomSessionsContract(open: OpenLedger, count: number): void {
  test("whatever happens, the ledger and the process have the same session, and the provider takes it", async () => {
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        expect(await play(open, program)).toBe("done");
      }),
      { numRuns: count, seed: 20_261_116 },
    );
  });
}

type Program = typeof programs extends fc.Arbitrary<infer Value> ? Value : never;

async function play(open: OpenLedger, program: Program): Promise<string> {
  const [model, protocol] = models[program.model] ?? models[0];
  const { toolSteps, toolTokens, atOnce, shape, mayUseProvider, isEnabled, breaks } = program;
  let summaries = 0;
  const world = await openWorld(open, {
    model,
    protocol,
    windowTokens: 24_000,
    setup: { policy: findPolicy(program.policy) },
    tools: [fileTool("read")],
    speak: reads({ steps: toolSteps, tokens: toolTokens, atOnce }),
    summariserTokens: program.hasSummariser ? 9_000 : undefined,
    summary: (prompt) => {
      summaries += 1;
      return breaks > 0 && summaries % breaks === 0 ? reply("") : writesSummaries(prompt);
    },
    settings: {
      ...compactionsSoon,
      isEnabled,
      compactAtShare: 0.4,
      summaryShape: shape,
      mayUseProvider,
      ...(program.isClearing ? { clearing } : {}),
    },
    auto: { turnsBetweenMin: 1, callsBetweenMin: 3, compactionsMax: 100 },
  });
  try {
    for (const [index, step] of program.steps.entries()) {
      await take(world, step, index);
      if (world.session.isRecorded) await expectSame(world);
      expect(splitPairs(messagesOf(world.session))).toEqual([]);
    }
    // What was paid for in vain is booked with the next call, unless the process is gone before that.
    const last = await world.say("Is that all?");
    if (!program.steps.some(({ kind }) => kind === "crash")) await expectCosts(world);
    return last.end;
  } finally {
    await world.close();
  }
}

const clearing = {
  thresholdBytes: 2_000,
  tools: ["read"],
  resultsKept: 2,
  gainTokensMin: 1_000,
  gainShareMin: 0.1,
};

async function take(world: World, step: Step, index: number): Promise<void> {
  switch (step.kind) {
    case "talk":
      return done(await world.say(`Talk ${index}. ${words(step.tokens, `talk ${index}`)}`));
    case "work":
      return done(await world.say(`Read ${index}. ${words(step.tokens, `work ${index}`)}`));
    case "compact":
      if (!world.session.isRecorded) return;
      await world.compact();
      await world.restart();
      return;
    case "restart":
      if (world.session.isRecorded) await world.restart();
      return;
    case "pause":
      return world.pass(20 * 60_000);
    case "fail":
      await world.sayTo(
        edgesThat(world, step.at, () => world.simulator.fault({ kind: step.fault })),
        `Read ${index}.`,
      );
      return;
    case "crash": {
      if (!world.session.isRecorded) return;
      const deps = edgesThat(world, step.at, () => {
        throw new Crash();
      });
      try {
        await world.sayTo(deps, `Read ${index}.`);
      } catch (error) {
        if (!(error instanceof Error && error.cause instanceof Crash)) throw error;
        // A process that is gone gives no lease back.
        await world.pass(leaseMs + 1);
        await world.restart();
        if (step.isResumed) return done(await world.resumeTurn());
        await world.store.ledger.abandonTurn(world.session.id);
        await world.restart();
      }
    }
  }
}

class Crash extends Error {}

/** The turn went well, and the provider had nothing to say against any call. */
function done({ end, calls }: Awaited<ReturnType<World["say"]>>): void {
  expect(calls.flatMap(({ failure }) => (failure === null ? [] : [failure]))).toEqual([]);
  expect(end).toBe("done");
}

function edgesThat(world: World, at: number, happens: () => void): Deps {
  const { provider } = world.deps;
  let sent = 0;
  return {
    ...world.deps,
    provider: {
      send: (call) => {
        if ((sent += 1) === at) happens();
        return provider.send(call);
      },
    },
  };
}
