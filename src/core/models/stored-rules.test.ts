import { describe, expect, test } from "vitest";
import { resolveModel } from "./resolve-model.ts";
import { parseStored, storageCost, storagePriceAt, type StoredRules } from "./stored-rules.ts";

function storedOf(id: string): StoredRules | null {
  return resolveModel(id).facts.cache.stored;
}

describe("what a provider keeps under a name", () => {
  test("has a price per token and hour that may change on a day", () => {
    const stored = storedOf("gemini-3.8-flash");
    expect(stored).toEqual({
      defaultSeconds: 3600,
      minimumTokens: 4096,
      storage: [
        { from: null, picoUsdPerTokenHour: 500_000n },
        { from: "2027-01-01", picoUsdPerTokenHour: 1_000_000n },
      ],
    });
    const at = (day: string) => stored && storagePriceAt(stored, day)?.picoUsdPerTokenHour;
    expect(["2026-11-18", "2026-12-31T23:59:59Z", "2027-01-01"].map(at)).toEqual([
      500_000n,
      500_000n,
      1_000_000n,
    ]);
  });

  test("is known where its price is not, and claimed for no router and no other vendor", () => {
    expect(storedOf("gemini-3.5-flash")).toEqual({
      defaultSeconds: 3600,
      minimumTokens: 4096,
      storage: [],
    });
    expect(
      storagePriceAt({ defaultSeconds: null, minimumTokens: null, storage: [] }, 0),
    ).toBeNull();
    expect(storedOf("vertex/gemini-3.1-pro-preview")?.storage).toEqual([
      { from: null, picoUsdPerTokenHour: 4_500_000n },
    ]);
    const others = ["openrouter/google/gemini-3.8-flash", "gemini-2.0-flash", "gpt-6.1-sol"];
    expect(others.map(storedOf)).toEqual([null, null, null]);
  });

  test.each([
    [[{ from: "2027-01-01", usdPerMTokHour: 1 }], "storage[0].from is misplaced"],
    [[{ usdPerMTokHour: 1 }, { usdPerMTokHour: 2 }], "storage[1].from is misplaced"],
    [
      [
        { usdPerMTokHour: 1 },
        { from: "2027-01-01", usdPerMTokHour: 2 },
        { from: "2026-01-01", usdPerMTokHour: 3 },
      ],
      "storage[2].from is misplaced",
    ],
    [[{ usdPerMTokHour: "free" }], "usdPerMTokHour"],
    [[{ usd: 1 }], "usd"],
  ])("with prices %j is refused", (storage, message) => {
    expect(() => parseStored({ storage }, "a file")).toThrow(message);
  });
});

test("keeping a prefix costs its tokens by the millisecond, at the price of each day, rounded down once", () => {
  const rules = storedOf("gemini-3.8-flash");
  const cost = (from: string, to: string, tokens = 10_000): bigint | null | undefined =>
    rules && storageCost({ tokens, fromMs: Date.parse(from), toMs: Date.parse(to) }, rules);
  // $0.50 per million tokens and hour.
  expect(cost("2026-11-18T12:00:00Z", "2026-11-18T13:00:00Z")).toBe(5_000_000_000n);
  expect(cost("2026-11-18T12:00:00.000Z", "2026-11-18T12:00:00.001Z", 1)).toBe(0n);
  expect(cost("2026-11-18T12:00:00Z", "2026-11-18T12:00:01Z", 1)).toBe(138n);
  // Half an hour at $0.50, half an hour at $1.
  expect(cost("2026-12-31T23:30:00Z", "2027-01-01T00:30:00Z")).toBe(7_500_000_000n);
  expect(cost("2026-11-18T13:00:00Z", "2026-11-18T12:00:00Z")).toBe(0n);
  const free = { defaultSeconds: null, minimumTokens: null, storage: [] };
  expect(storageCost({ tokens: 1, fromMs: 0, toMs: 1 }, free)).toBeNull();
});
