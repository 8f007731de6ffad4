import { describe, expect, test } from "vitest";
import {
  addEvidence,
  isRefuted,
  noEvidence,
  reliabilityOf,
  type CachePromise,
  type Evidence,
} from "./evidence.ts";

function seen(promise: CachePromise, held: number, broken: number): Evidence {
  return { ...noEvidence, [promise]: { held, broken } };
}

describe("how sure one may be of a promise", () => {
  test("starts as if documents were two observations that held", () => {
    expect(reliabilityOf(noEvidence, "writes are kept")).toBeCloseTo(2 / 2.1, 10);
  });

  test("rises with what held and falls with what broke", () => {
    expect(reliabilityOf(seen("lookback finds", 8, 0), "lookback finds")).toBeCloseTo(
      10 / 10.1,
      10,
    );
    expect(reliabilityOf(seen("lookback finds", 0, 2), "lookback finds")).toBeCloseTo(2 / 4.1, 10);
  });

  test("is counted for each promise by itself", () => {
    const evidence = addEvidence(
      addEvidence(noEvidence, "markers refresh", true),
      "markers refresh",
      false,
    );
    expect(evidence).toEqual({
      "writes are kept": { held: 0, broken: 0 },
      "long lifetimes last": { held: 0, broken: 0 },
      "markers refresh": { held: 1, broken: 1 },
      "lookback finds": { held: 0, broken: 0 },
      "steps last": { held: 0, broken: 0 },
    });
    expect(noEvidence["markers refresh"]).toEqual({ held: 0, broken: 0 });
  });
});

describe("a promise is refuted", () => {
  test.each<[CachePromise, number, number, boolean]>([
    ["writes are kept", 0, 1, false],
    ["writes are kept", 0, 2, true],
    ["writes are kept", 13, 2, true],
    ["writes are kept", 14, 2, false],
    ["writes are kept", 20, 3, true],
    ["long lifetimes last", 1, 2, true],
    ["long lifetimes last", 2, 2, false],
    ["markers refresh", 1, 2, true],
    ["markers refresh", 2, 2, false],
    ["lookback finds", 6, 2, true],
    ["lookback finds", 7, 2, false],
    ["steps last", 0, 1, true],
    ["steps last", 1, 1, false],
    ["steps last", 1, 2, true],
  ])("%s after it held %i and broke %i times: %s", (promise, held, broken, expected) => {
    expect(isRefuted(seen(promise, held, broken), promise)).toBe(expected);
  });
});
