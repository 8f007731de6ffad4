import { describe, expect, test } from "vitest";
import { openPace } from "./pace.ts";
import { planCache, type PlanQuestion } from "./plan-cache.ts";
import { findPolicy } from "./policies.ts";
import type { CachePlan } from "./cache-plan.ts";
import { bedrock, blocksOf, entryAt, gpt, nowMs, olderGpt, sonnet, stateWith } from "./test-kit.ts";

const talk = ["tool 500", "static 3000", "session 1000", "user 200", "volatile 50"];

interface Question extends Partial<Omit<PlanQuestion, "blocks" | "markers">> {
  readonly shorts?: readonly string[];
  readonly policy?: string;
}

function plan({ shorts = talk, policy = "adaptive", ...more }: Question): CachePlan {
  return planCache({
    blocks: blocksOf(...shorts),
    rules: sonnet,
    markers: findPolicy(policy).markers,
    state: stateWith(),
    pace: openPace("human"),
    now: nowMs,
    ...more,
  });
}

function placesOf({ markers }: CachePlan): readonly string[] {
  return markers.map(({ slot, block, lifetime }) => `${slot} ${block} ${lifetime}`);
}

describe("by fixed rules", () => {
  test("a worker writes nothing for an hour, and each marker says why (H-10, C-5)", () => {
    const { markers } = plan({ policy: "nexo", pace: openPace("worker") });
    expect(markers.map(({ lifetime }) => lifetime)).not.toContain("1h");
    expect(markers[0]?.reason).toContain("5m because a worker comes back soon or never");
    expect(plan({ policy: "nexo" }).markers.map(({ lifetime }) => lifetime)).toContain("1h");
  });

  test("a one-shot without tools is not marked, and every drop says why; with tools it is, for five minutes", () => {
    for (const policy of ["metis", "nexo", "hermes", "nexus", "tail-1h", "automatic"]) {
      const bare = plan({ policy, shorts: talk.slice(1), pace: openPace("one-shot") });
      expect([placesOf(bare), bare.requestMarker]).toEqual([[], null]);
      expect(new Set(bare.dropped.map(({ reason }) => reason))).toEqual(
        new Set(["a one-shot without tools sends no second call"]),
      );
    }
    const withTools = plan({ policy: "tail-1h", pace: openPace("one-shot") });
    expect(placesOf(withTools)).toEqual(["tail 3 5m"]);
  });
});

describe("a plan", () => {
  test("of a first call says what will be written and what that costs", () => {
    const cold = plan({});
    expect(placesOf(cold)).toEqual(["head 2 5m", "tail 3 5m"]);
    expect(cold.dropped).toEqual([
      { block: 2, lifetime: "5m", slot: "guard", reason: "the same place as another marker" },
    ]);
    expect(cold.expected).toEqual({
      hitBlock: null,
      hit: null,
      spanEnds: { "5m": 3 },
      refreshed: [],
      written: [entryAt(2, "5m", 0), entryAt(3, "5m", 0)],
      readTokens: 0,
      writeTokens: { "5m": 4700 },
      uncachedTokens: 50,
      // 4700 tokens at $3.75 and 50 at $3 a million.
      costPicoUsd: 17_775_000_000n,
    });
    expect([cold.requestMarker, cold.mode, cold.cacheKey]).toEqual([null, null, null]);
  });

  test("of a later one says what will be read", () => {
    const hit = entryAt(3, "5m");
    const shorts = [...talk.slice(0, 4), "said 300", "use 100", "result 2000", "volatile 50"];
    const { expected } = plan({ shorts, state: stateWith(hit) });
    expect(expected).toMatchObject({
      hitBlock: 3,
      hit: { block: 3, positionsBack: 3 },
      refreshed: [hit],
      readTokens: 4700,
      writeTokens: { "1h": 300, "5m": 2100 },
      uncachedTokens: 50,
      // 4700 at $0.30, 300 at $6, 2100 at $3.75 and 50 at $3 a million.
      costPicoUsd: 11_235_000_000n,
    });
  });

  test("goes by the exact count of a prompt where there is one", () => {
    expect(plan({ promptTokens: 5000 }).expected.uncachedTokens).toBe(300);
  });

  test("corrects its counts by the last reply", () => {
    const state = { ...stateWith(), measured: { key: "k2", block: 2, tokens: 9000 } };
    expect(plan({ state }).expected.writeTokens).toEqual({ "5m": 9200 });
  });

  test("counts markers that stand in the request already, and keeps them before its own", () => {
    const present = [
      { block: 0, lifetime: "5m" as const },
      { block: 1, lifetime: "5m" as const },
      { block: 2, lifetime: "5m" as const },
    ];
    const shorts = ["tool 1500", ...talk.slice(1)];
    const planned = plan({ shorts, policy: "last-n", present });
    expect(placesOf(planned)).toEqual([
      "present 0 5m",
      "present 1 5m",
      "present 2 5m",
      "rule 3 5m",
    ]);
    expect(planned.dropped).toMatchObject([
      { slot: "head", reason: "the same place as another marker" },
    ]);
  });
});

describe("one marker for the whole request", () => {
  test("is the provider's to place where it takes one", () => {
    const planned = plan({ policy: "automatic" });
    expect([planned.requestMarker, planned.markers]).toEqual(["5m", []]);
    expect(planned.expected.writeTokens).toEqual({ "5m": 4750 });
  });

  test("is dropped where it takes none, and the plan says why", () => {
    const planned = plan({ policy: "automatic", rules: bedrock });
    expect(planned.requestMarker).toBeNull();
    expect(planned.dropped).toEqual([
      {
        block: 4,
        lifetime: "5m",
        slot: "rule",
        reason: "the provider takes no marker for a whole request",
      },
    ]);
    expect(plan({ policy: "automatic", rules: olderGpt }).dropped).toMatchObject([
      { reason: "the provider takes no markers" },
    ]);
  });
});

describe("where a provider ends prefixes by itself", () => {
  test("it may, beside the marker of the plan, and calls of one foundation share a key", () => {
    const planned = plan({ rules: gpt });
    expect(placesOf(planned)).toEqual(["head 2 30m"]);
    expect([planned.mode, planned.cacheKey]).toEqual(["implicit", "strata-k1"]);
  });

  test("it may not for a call without a successor", () => {
    const planned = plan({ rules: gpt, pace: openPace("one-shot") });
    expect([planned.mode, planned.markers]).toEqual(["explicit", []]);
    expect(planned.expected).toMatchObject({ writeTokens: {}, uncachedTokens: 4750 });
  });

  test("a policy without markers asks for nothing and shares no key", () => {
    const planned = plan({ rules: gpt, policy: "none" });
    expect([planned.mode, planned.cacheKey, planned.markers]).toEqual(["explicit", null, []]);
  });

  test("its own prefix takes one of the places", () => {
    const shorts = ["tool 10", "static 2000", "user 10 x9"];
    const planned = plan({ shorts, rules: gpt, policy: "last-n" });
    expect(placesOf(planned)).toEqual(["rule 8 30m", "rule 9 30m", "rule 10 30m"]);
    expect(planned.dropped).toMatchObject([{ slot: "head", reason: "over the provider's limit" }]);
  });
});

test("a provider without markers is planned for without any", () => {
  const planned = plan({ rules: olderGpt, policy: "tail-5m" });
  expect([planned.markers, planned.mode]).toEqual([[], null]);
  expect(planned.dropped).toMatchObject([{ block: 3, reason: "the provider takes no markers" }]);
});
