import { describe, expect, test } from "vitest";
import { decideKeepWarm } from "./keep-warm.ts";
import { learnPace, openPace, type Pace } from "./pace.ts";
import { gpt, olderGpt, sonnet } from "./test-kit.ts";

const human = openPace("human");
/** Most calls come seven minutes after the one before. */
const late = Array.from({ length: 392 }).reduce<Pace>((pace) => learnPace(pace, 420_000), human);

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
