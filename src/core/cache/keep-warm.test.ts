import { describe, expect, test } from "vitest";
import { decideKeepWarm, decideRefresh, type RefreshQuestion } from "./keep-warm.ts";
import type { KeptPrefix } from "./kept-prefix.ts";
import { learnPace, openPace, type Pace } from "./pace.ts";
import { gpt, nowMs, olderGpt, sonnet } from "./test-kit.ts";
import { noWarmBooks, type WarmBooks } from "./warm-books.ts";

const human = openPace("human");
/** Most calls come seven minutes after the one before. */
const late = afterGaps(392, 420_000);

function afterGaps(count: number, gapMs: number): Pace {
  return Array.from({ length: count }).reduce<Pace>((pace) => learnPace(pace, gapMs), human);
}

describe("repeating a prefix before it expires", () => {
  test("costs more than it saves where nearly every call comes in time", () => {
    // Comes late: 0.98 · 0.04 · 285/1500; waits: 1 − 0.98 · 0.93 · 285/300.
    // 0.007448 · 1.15 · 10,000 − 0.13417 · 0.1 · 10,000 = 85.7 − 134.2.
    expect(
      decideKeepWarm({ rules: sonnet.cache, pace: human, shortTokens: 10_000, longTokens: 0 }),
    ).toEqual({
      pays: false,
      afterMs: 285_000,
      gainTokens: -49,
      reason:
        "1 % of calls come just after 5m: repeating would cost about 49 input tokens more than it saves",
    });
  });

  test("pays where many calls come a little late", () => {
    // After a pause 399 of 402 are of this class: comes 0.9999 · 0.9928 · 0.19.
    const plan = decideKeepWarm({
      rules: sonnet.cache,
      pace: late,
      shortTokens: 10_000,
      longTokens: 0,
    });
    expect(plan).toEqual({
      pays: true,
      afterMs: 285_000,
      gainTokens: 1176,
      reason: "19 % of calls come just after 5m: repeating saves about 1176 input tokens",
    });
  });

  test("does not pay for what a longer lifetime keeps anyway", () => {
    const question = { rules: sonnet.cache, pace: late, shortTokens: 10_000, longTokens: 9500 };
    expect(decideKeepWarm(question)).toMatchObject({ pays: false, gainTokens: -885 });
  });

  test("starts fifteen seconds before the provider's shortest lifetime ends", () => {
    const question = { rules: gpt.cache, pace: human, shortTokens: 10_000, longTokens: 0 };
    expect(decideKeepWarm(question).afterMs).toBe(1_785_000);
  });

  test("is out of the question where the provider has no way to", () => {
    const question = { rules: olderGpt.cache, pace: late, shortTokens: 10_000, longTokens: 0 };
    expect(decideKeepWarm(question)).toEqual({
      pays: false,
      afterMs: null,
      gainTokens: 0,
      reason: "the provider has no way to",
    });
  });
});

describe("refreshing the prefix of a session that waits", () => {
  const callMs = nowMs;
  const kept: KeptPrefix = {
    tokens: 10_000,
    lifetime: "5m",
    keptMs: 300_000,
    expiresMs: callMs + 300_000,
    longTokens: 0,
    longUntilMs: 0,
    promptTokens: 10_100,
  };
  const rich: WarmBooks = { ...noWarmBooks, paidPicoUsd: 1_000_000_000_000n };
  const question: RefreshQuestion = {
    model: sonnet,
    pace: late,
    kept,
    lifetimes: ["5m"],
    callMs,
    books: rich,
    markers: "rules",
  };

  test("pays where the pauses so far were a little longer than the lifetime", () => {
    // Reads 10,000 at $0.30 and sends 100 at $3 a million; at most 10,605 tokens are written at $3.75.
    expect(decideRefresh(question)).toEqual({
      pays: true,
      atMs: callMs + 285_000,
      costPicoUsd: 3_300_000_000n,
      costPicoUsdMax: 39_768_750_000n,
      reason:
        "37 % of calls are expected in the next 5m of such a pause: a refresh saves more than it costs",
    });
  });

  test("does not pay for a session without such pauses, or for what a longer lifetime keeps", () => {
    expect(decideRefresh({ ...question, pace: openPace("tool loop") })).toMatchObject({
      pays: false,
      reason:
        "9 % of calls are expected in the next 5m of such a pause: a refresh would not save twice what it costs",
    });
    const longUntilMs = callMs + 3_600_000;
    expect(
      decideRefresh({ ...question, kept: { ...kept, longTokens: 9000, longUntilMs } }),
    ).toMatchObject({ pays: false });
  });

  test("under least-cost markers pays from the first cent it saves, once in a pause", () => {
    // A third of 3,000 · $3.45 a million is more than the $0.0033 of a refresh, and less than twice that.
    const longUntilMs = callMs + 3_600_000;
    const partly = { ...question, kept: { ...kept, longTokens: 7000, longUntilMs }, pace: human };
    const planned = { ...question, markers: "least-cost" as const };
    expect(decideRefresh({ ...partly, markers: "least-cost" })).toMatchObject({
      pays: true,
      reason:
        "35 % of calls are expected in the next 5m of such a pause: a refresh saves more than it costs",
    });
    expect(decideRefresh(partly)).toMatchObject({ pays: false });
    const since = { callMs, kept };
    expect(decideRefresh({ ...planned, books: { ...rich, since } })).toMatchObject({
      pays: false,
      reason: "one refresh has bridged this pause already",
    });
    expect(decideRefresh({ ...question, books: { ...rich, since } })).toMatchObject({ pays: true });
  });

  test("under least-cost markers may cost 6 % of a session with eight calls, and 2 % of a shorter one", () => {
    const planned = { ...question, markers: "least-cost" as const };
    const books = { ...noWarmBooks, paidPicoUsd: 55_000_000_000n };
    expect(decideRefresh({ ...planned, books, pace: afterGaps(7, 60_000) })).toMatchObject({
      pays: true,
    });
    expect(decideRefresh({ ...planned, books, pace: afterGaps(6, 60_000) })).toMatchObject({
      pays: false,
    });
    const less = { ...books, paidPicoUsd: 54_999_999_999n };
    expect(decideRefresh({ ...planned, books: less, pace: afterGaps(7, 60_000) })).toMatchObject({
      pays: false,
    });
  });

  test("under least-cost markers counts on the pauses of the agent the more it has seen", () => {
    const planned = { ...question, markers: "least-cost" as const };
    const told = [0, 3, 30].map((pauses) =>
      decideRefresh({ ...planned, pace: afterGaps(pauses, 5_000_000) })?.reason.slice(0, 4),
    );
    expect(told).toEqual(["35 %", "19 %", "4 % "]);
  });

  /** Whether it pays after so many lifetimes. */
  const waited = (lifetimes: number): boolean | undefined =>
    decideRefresh({
      ...question,
      kept: { ...kept, expiresMs: callMs + lifetimes * 300_000 },
    })?.pays;

  test("pays less the longer the session has waited", () => {
    expect([1, 3, 5, 7, 13].map(waited)).toEqual([true, true, true, false, false]);
  });

  test("never costs a session more than 2 % of what it has cost, beyond what it has saved", () => {
    const poor = { ...noWarmBooks, paidPicoUsd: 164_999_999_999n };
    expect(decideRefresh({ ...question, books: poor })).toMatchObject({
      pays: false,
      reason: expect.stringContaining("costs too much for what the session has cost so far"),
    });
    const earned = { ...poor, savedPicoUsd: 10_000_000n };
    expect(decideRefresh({ ...question, books: earned })).toMatchObject({ pays: true });
  });

  test("is not decided without a price", () => {
    const model = { ...sonnet, prices: { kind: "unpriced" as const, reason: "it has none" } };
    expect(decideRefresh({ ...question, model })).toBe(null);
  });
});
