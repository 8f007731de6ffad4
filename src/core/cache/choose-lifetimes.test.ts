import { describe, expect, test } from "vitest";
import type { CachePlan } from "./cache-plan.ts";
import { openCacheState, type CacheState } from "./cache-state.ts";
import { learnFromReply } from "./learn-from-reply.ts";
import { openPace, paceAt, type Pace } from "./pace.ts";
import { planCache } from "./plan-cache.ts";
import { findPolicy } from "./policies.ts";
import { addEvidence } from "./evidence.ts";
import { blocksOf, nowMs, sonnet } from "./test-kit.ts";

const minute = 60_000;

/** Calls of one session, each a little longer, on a provider that bills what the plan expects. */
function playSession(
  gapsMs: readonly number[],
  first: CacheState = openCacheState(),
  start: readonly string[] = ["static 3000", "user 90000"],
) {
  let state = first;
  let pace: Pace = openPace("human");
  let atMs = nowMs;
  const plans: CachePlan[] = [];
  for (const [index, gapMs] of [0, ...gapsMs].entries()) {
    const blocks = blocksOf(...start, `said 200 x${index * 2 + 1}`);
    pace = paceAt(pace, index === 0 ? null : atMs, atMs + gapMs);
    atMs += gapMs;
    const { markers } = findPolicy("adaptive");
    const plan = planCache({ blocks, rules: sonnet, markers, state, pace, now: atMs });
    const { readTokens, writeTokens, uncachedTokens } = plan.expected;
    const usage = {
      uncachedTokens,
      cacheReadTokens: readTokens,
      cacheWriteTokens: writeTokens,
      outputTokens: 0,
      reasoningTokens: 0,
    };
    const reply = { state, plan, blocks, rules: sonnet.cache, usage, reportsCache: true };
    state = learnFromReply({ ...reply, startMs: atMs }).state;
    plans.push(plan);
  }
  return { plans, state };
}

function tailOf({ markers }: CachePlan): string | undefined {
  return markers.findLast(({ slot }) => slot === "tail")?.lifetime;
}

describe("a session that pauses before anything protects it", () => {
  const { plans, state } = playSession([20 * minute, 7 * minute, 25 * minute, 6 * minute]);

  test("is written for an hour from its second call on", () => {
    expect(plans.map(tailOf)).toEqual(["5m", "1h", "1h", "1h", "1h"]);
    expect(plans.map(({ expected }) => expected.readTokens)).toEqual([
      0, 0, 93_600, 94_000, 94_400,
    ]);
  });

  test("says which account led, by how much, and what a pause would have cost", () => {
    expect(plans[0]?.account).toBeUndefined();
    expect(plans[1]?.account).toEqual({
      leader: "plain",
      leadTokens: -23_300,
      reason: "so far no caching would have been 23300 input tokens cheaper",
    });
    expect(plans[1]?.markers.at(-1)?.reason).toBe(
      "a pause now would leave this session 144620 input tokens behind a simple policy; so far no caching would have been 23300 input tokens cheaper",
    );
    expect(plans[4]?.account?.leader).toBe("long tail");
  });

  test("stays within one 5-minute write of the best simple policy", () => {
    const { ours, ...simple } = state.accounts?.paid ?? { ours: NaN };
    const behind = ours - Math.min(...Object.values(simple));
    expect(behind).toBeGreaterThan(0);
    expect(behind).toBeLessThan(1.25 * 94_800);
  });
});

test("the conversation is not written once no caching leads by far", () => {
  const { plans, state } = playSession(Array.from({ length: 12 }, () => 61 * minute));
  expect(new Set(plans.slice(6).map(tailOf))).toEqual(new Set([undefined]));
  expect(plans[6]?.account?.leader).toBe("plain");
  const { ours, plain } = state.accounts?.paid ?? { ours: NaN, plain: NaN };
  expect(ours - plain).toBeLessThan(1.25 * 98_000);
});

test("neither is a long head, as a step for an hour, after an hour for everything was lost again and again", () => {
  const minutes = [5.01, 5.01, 5.01, 50, 50, 61, 61, 61, 5.01, 61, 61, 61, 61, 61, 61];
  const gapsMs = minutes.map((each) => each * minute);
  const { plans, state } = playSession(gapsMs, openCacheState(), ["static 33000", "user 75000"]);
  expect(plans.slice(-5).flatMap(({ markers }) => markers)).toEqual([]);
  expect(plans.at(-1)?.account?.leader).toBe("plain");
  const { ours, plain } = state.accounts?.paid ?? { ours: NaN, plain: NaN };
  expect(ours - plain).toBeLessThan(1.25 * 108_000);
});

test("a session more than 0.4 writes behind no caching does as no caching does, until it leads no more", () => {
  const { plans } = playSession([61 * minute, 20 * minute, minute, minute]);
  expect(plans.map(tailOf)).toEqual(["5m", "5m", undefined, "5m", "5m"]);
  expect(plans[2]?.account).toMatchObject({ leader: "plain" });
});

test("a session without pauses is never written for an hour beyond its steps", () => {
  const { plans } = playSession(Array.from({ length: 20 }, () => minute));
  expect(new Set(plans.map(tailOf))).toEqual(new Set(["5m"]));
});

describe("where steps were seen not to last", () => {
  const doubting: CacheState = {
    ...openCacheState(),
    evidence: addEvidence(openCacheState().evidence, "steps last", false),
  };

  test("an hour is chosen at once if pauses are to be expected, and kept up while all before it has it", () => {
    const { plans, state } = playSession([minute, minute, 30 * minute, minute], doubting);
    expect(plans.map(tailOf)).toEqual(["1h", "1h", "1h", "1h", "1h"]);
    expect(plans[3]?.expected.readTokens).toBe(94_000);
    expect(state.entries.some(({ isStep }) => isStep)).toBe(false);
  });

  test("a prefix that was written for five minutes gets no hour after it", () => {
    const short = playSession([minute]).state;
    const state = { ...short, evidence: doubting.evidence };
    const blocks = blocksOf("static 3000", "user 90000", "said 200 x5");
    const { markers } = findPolicy("adaptive");
    const pace = openPace("human");
    const plan = planCache({
      blocks,
      rules: sonnet,
      markers,
      state,
      pace,
      now: nowMs + 2 * minute,
    });
    expect(tailOf(plan)).toBe("5m");
  });
});
