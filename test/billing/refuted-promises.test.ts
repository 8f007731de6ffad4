// Goal: a provider that does not keep its promises is noticed, and costs little more than if we had known.
// Method: bill planned sessions on a provider that breaks one promise; compare with plans that never relied on it.
import { expect, test } from "vitest";
import {
  toBillableBlocks,
  toPromptBlocks,
  type LooseBlock,
} from "../../harness/random/random-sessions.ts";
import { createRandom, type Random } from "../../harness/random-message.ts";
import { openCacheState } from "../../src/core/cache/cache-state.ts";
import {
  addEvidence,
  noEvidence,
  type CachePromise,
  type Evidence,
} from "../../src/core/cache/evidence.ts";
import { learnFromReply } from "../../src/core/cache/learn-from-reply.ts";
import { learnPace, openPace } from "../../src/core/cache/pace.ts";
import { planCache } from "../../src/core/cache/plan-cache.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { costOf } from "../../src/core/models/cost.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { createBilling } from "../../src/simulator/index.ts";

const { facts } = resolveModel("claude-sonnet-4-6");

/** Keeps everything for five minutes and a second at most, whatever was asked and paid for. */
const forgetful: ModelFacts = {
  ...facts,
  cache: {
    ...facts.cache,
    lifetimes: facts.cache.lifetimes.map((rules, index) => ({ ...rules, seconds: 300 + index })),
  },
};

test("a provider that ignores 1h is found out, and costs within 5 % of never having asked for it", () => {
  const trusting = runSessions({ provider: forgetful, lostShare: 0, evidence: noEvidence });
  const knowing = runSessions({
    provider: forgetful,
    lostShare: 0,
    evidence: refuted("long lifetimes last"),
  });
  expect(trusting.refuted).toEqual(new Set(["long lifetimes last", "steps last"]));
  expect(knowing.longTokens).toBe(0);
  expect(trusting.longTokens).toBeGreaterThan(0);
  expect(trusting.cost / knowing.cost).toBeLessThanOrEqual(1.05);
});

test("a provider that loses 20 % of writes is found out, and costs within 5 % of having known it", () => {
  const trusting = runSessions({ provider: facts, lostShare: 0.2, evidence: noEvidence });
  const knowing = runSessions({
    provider: facts,
    lostShare: 0.2,
    evidence: refuted("writes are kept"),
  });
  const plain = runSessions({
    provider: facts,
    lostShare: 0.2,
    evidence: noEvidence,
    policy: "tail-5m",
  });
  expect(trusting.refuted).toContain("writes are kept");
  expect(trusting.cost / knowing.cost).toBeLessThanOrEqual(1.05);
  expect(trusting.cost / plain.cost).toBeLessThanOrEqual(1.05);
});

test("a provider that keeps its promises is never doubted", () => {
  const run = runSessions({ provider: facts, lostShare: 0, evidence: noEvidence });
  expect(run.refuted).toEqual(new Set());
  expect(run.surprises).toBe(0);
});

interface Circumstances {
  readonly provider: ModelFacts;
  readonly lostShare: number;
  readonly evidence: Evidence;
  readonly policy?: string;
}

interface Total {
  readonly cost: number;
  readonly longTokens: number;
  readonly surprises: number;
  readonly refuted: ReadonlySet<CachePromise>;
}

/** What was learned of the provider goes from session to session. */
function runSessions({ provider, lostShare, evidence, policy = "adaptive" }: Circumstances): Total {
  const random = createRandom(7);
  const losing = createRandom(8);
  const { markers } = findPolicy(policy);
  let cost = 0n;
  let longTokens = 0;
  let surprises = 0;
  let known = evidence;
  const refutedPromises = new Set<CachePromise>();
  for (let session = 0; session < 40; session += 1) {
    const billing = createBilling();
    let state = openCacheState(known);
    let pace = openPace("human");
    let now = 1_800_000_000_000;
    let prompt: readonly LooseBlock[] = [system(random, session)];
    for (let call = 0; call < 60; call += 1) {
      const gapMs = gap(random);
      now += gapMs;
      prompt = [...prompt, ...added(random, `${session}.${call}`)];
      const blocks = toPromptBlocks(prompt);
      const plan = planCache({ blocks, rules: facts, markers, state, pace, now });
      const open = billing.open({
        id: `${session}.${call}`,
        workspace: "w",
        model: provider,
        blocks: toBillableBlocks(prompt),
        markers: plan.markers.map(({ block, lifetime }) => ({
          block,
          lifetime,
          origin: "explicit",
        })),
        mode: "implicit",
        settings: {},
        startMs: now,
      });
      if (losing() < lostShare) open.abandon();
      else open.begin();
      const usage = {
        uncachedTokens: open.bill.uncachedTokens,
        cacheReadTokens: open.bill.readTokens,
        cacheWriteTokens: open.bill.writeTokens,
        outputTokens: 0,
        reasoningTokens: 0,
      };
      cost += costOf(usage, facts, { at: now }).totalPicoUsd;
      longTokens += usage.cacheWriteTokens["1h"] ?? 0;
      const lesson = learnFromReply({
        state,
        plan,
        blocks,
        rules: facts.cache,
        usage,
        reportsCache: true,
        startMs: now,
      });
      for (const promise of lesson.refuted) refutedPromises.add(promise);
      if (lesson.verdict.kind !== "as expected") surprises += 1;
      state = lesson.state;
      pace = learnPace(pace, gapMs);
    }
    known = state.evidence;
  }
  return { cost: Number(cost), longTokens, surprises, refuted: refutedPromises };
}

function refuted(promise: CachePromise): Evidence {
  return Array.from({ length: 20 }).reduce<Evidence>(
    (evidence) => addEvidence(evidence, promise, false),
    noEvidence,
  );
}

/** Mostly a tool loop; now and then someone goes for coffee, or to lunch. */
function gap(random: Random): number {
  const draw = random();
  if (draw < 0.88) return random() * 120_000;
  return draw < 0.98 ? 300_000 + random() * 3_000_000 : 4_000_000 + random() * 9_000_000;
}

function system(random: Random, session: number): LooseBlock {
  return loose(random, `system ${session}`, "system text", "system", 6000);
}

function added(random: Random, name: string): LooseBlock[] {
  return [
    { ...loose(random, `use ${name}`, "tool_use", "assistant", 150), endsMessage: true },
    { ...loose(random, `result ${name}`, "tool_result", "user", 2500), endsMessage: true },
  ];
}

function loose(
  random: Random,
  content: string,
  kind: LooseBlock["kind"],
  role: LooseBlock["role"],
  tokensMax: number,
): LooseBlock {
  const tokens = Math.ceil(tokensMax * (0.5 + random() / 2));
  const tier = role === "system" ? "T1" : "T4";
  return { content, tokens, tier, kind, role, endsMessage: false, mayCarryMarker: true };
}
