import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import { parseRetries, planRetry, usualRetries, type RetryQuestion } from "./retry.ts";

const overloaded: ProviderFailure = {
  kind: "overloaded",
  detail: "Overloaded",
  retryAfterMs: undefined,
};

function ask(parts: Partial<RetryQuestion>): ReturnType<typeof planRetry> {
  return planRetry({
    attempt: 1,
    failure: overloaded,
    isWished: null,
    hasGivenParts: false,
    leftMs: 3_600_000,
    random: 0.5,
    options: usualRetries,
    ...parts,
  });
}

function limited(retryAfterMs: number): ProviderFailure {
  return { kind: "rate-limited", detail: "slow down", retryAfterMs };
}

describe("the wait before another attempt", () => {
  test.each([
    [1, 0, 0],
    [1, 0.5, 250],
    [1, 0.999, 499],
    [2, 0.5, 500],
    [3, 0.5, 1_000],
  ])("after attempt %i with a draw of %d is %i ms", (attempt, random, delayMs) => {
    expect(ask({ attempt, random }).delayMs).toBe(delayMs);
  });

  test("never passes thirty seconds, however many attempts there were", () => {
    const options = { ...usualRetries, attemptsMax: 2_000 };
    expect(ask({ attempt: 1_500, random: 0.5, options })).toEqual({
      delayMs: 15_000,
      reason: "backoff, up to 30000 ms",
    });
  });

  test("is exactly what the provider asks for", () => {
    expect(ask({ failure: limited(7_321) })).toEqual({
      delayMs: 7_321,
      reason: "the provider asks for it",
    });
    expect(ask({ failure: limited(60_000), attempt: 3 }).delayMs).toBe(60_000);
  });

  test("is drawn where the provider asks for no time at all", () => {
    expect(ask({ failure: limited(0) })).toEqual({
      delayMs: 250,
      reason: "backoff, up to 500 ms",
    });
  });

  test("is never less than the provider's wish, nor above both limits", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, retryAfterMs, random) => {
          const failure: ProviderFailure = { kind: "server-error", detail: "", retryAfterMs };
          const { delayMs } = ask({ attempt, failure, random });
          if (delayMs === null) return;
          expect(delayMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
          expect(delayMs).toBeLessThanOrEqual(60_000);
        },
      ),
    );
  });
});

describe("what the provider itself says", () => {
  const invalid: ProviderFailure = { kind: "invalid-request", detail: "no" };

  test("makes an attempt of what would have had none", () => {
    expect(ask({ failure: invalid, isWished: true }).delayMs).toBe(250);
    const cancelled: ProviderFailure = { kind: "cancelled", detail: "by the caller" };
    expect(ask({ failure: cancelled, isWished: true }).delayMs).toBeNull();
  });

  test("takes the attempt from what would have had one", () => {
    expect(ask({ isWished: false })).toEqual({
      delayMs: null,
      reason: "the provider asks for no other attempt",
    });
  });
});

describe("there is no further attempt", () => {
  test("where the same request would fail again", () => {
    const failure: ProviderFailure = { kind: "invalid-request", detail: "no" };
    expect(ask({ failure })).toEqual({
      delayMs: null,
      reason: "the same request would fail again",
    });
  });

  test("once the caller has seen a part of the reply", () => {
    expect(ask({ hasGivenParts: true })).toEqual({
      delayMs: null,
      reason: "a part of the reply was given on already",
    });
  });

  test("after the fourth", () => {
    expect(ask({ attempt: 3 }).delayMs).toBe(1_000);
    expect(ask({ attempt: 4 })).toEqual({ delayMs: null, reason: "4 of 4 attempts" });
  });

  test("where the provider asks for more than a minute", () => {
    expect(ask({ failure: limited(60_001) })).toEqual({
      delayMs: null,
      reason: "the provider asks for 60001 ms, which is above retryAfterMsMax 60000",
    });
  });

  test("where the wait would take all the time that is left", () => {
    expect(ask({ failure: limited(2_000), leftMs: 2_000 })).toEqual({
      delayMs: null,
      reason: "2000 ms are left, and the wait is 2000 ms",
    });
    expect(ask({ failure: limited(2_000), leftMs: 2_001 }).delayMs).toBe(2_000);
  });
});

test("retry options that make no sense are refused by name", () => {
  expect(parseRetries({ attemptsMax: 1 })).toEqual({ ...usualRetries, attemptsMax: 1 });
  expect(() => parseRetries({ attemptsMax: 0 })).toThrow("retries.attemptsMax is 0");
  expect(() => parseRetries({ backoffMsMax: Number.NaN })).toThrow("retries.backoffMsMax is NaN");
  expect(() => parseRetries({ retryAfterMsMax: 3e9 })).toThrow("from 0 to 2147483647");
});
