import { expect, test } from "vitest";
import { noUsage } from "../message/usage.ts";
import { costOf } from "./cost.ts";
import { toClock } from "./moment.ts";
import { resolveModel } from "./resolve-model.ts";

const million = { ...noUsage, uncachedTokens: 1_000_000 };

function inputAt(at: string | number, id = "deepseek-flash"): bigint {
  return costOf(million, resolveModel(id).facts, { at }).totalPicoUsd;
}

const peak = 300_000_000_000n;
const offPeak = 150_000_000_000n;

test.each<readonly [string, string, bigint]>([
  ["a Wednesday before the first hours", "2026-11-18T00:59:59.999Z", offPeak],
  ["their first moment", "2026-11-18T01:00:00Z", peak],
  ["their last", "2026-11-18T03:59:59.999Z", peak],
  ["the pause between the hours", "2026-11-18T04:00:00Z", offPeak],
  ["its end", "2026-11-18T05:59:59Z", offPeak],
  ["the second hours", "2026-11-18T06:00:00Z", peak],
  ["their last moment", "2026-11-18T09:59:59Z", peak],
  ["the rest of the day", "2026-11-18T10:00:00Z", offPeak],
  ["a Saturday", "2026-11-21T02:00:00Z", offPeak],
  ["a Sunday", "2026-11-22T07:00:00Z", offPeak],
  ["the Monday after", "2026-11-23T02:00:00Z", peak],
  ["the Friday before", "2026-11-20T09:00:00Z", peak],
  ["China's National Day, a Thursday", "2026-10-01T02:00:00Z", offPeak],
  ["the first workday after it", "2026-10-08T02:00:00Z", peak],
  ["a Saturday on which people worked for it", "2026-10-10T02:00:00Z", offPeak],
  ["a day without a time, which is priced as peak", "2026-11-18", peak],
])("DeepSeek's price at %s", (_name, at, expected) => {
  expect(inputAt(at)).toBe(expected);
});

test("milliseconds are the same hours", () => {
  const at = Date.parse("2026-11-18T04:00:00Z");
  expect([inputAt(at - 1), inputAt(at)]).toEqual([peak, offPeak]);
});

test("reads, output and regions follow the hours, and the bill says so", () => {
  const { facts } = resolveModel("deepseek-v4-pro");
  const usage = { ...noUsage, cacheReadTokens: 1_000_000, outputTokens: 1_000_000 };
  const { readPicoUsd, outputPicoUsd, applied } = costOf(usage, facts, {
    at: "2026-11-21T02:00:00Z",
  });
  expect([readPicoUsd, outputPicoUsd]).toEqual([22_000_000_000n, 1_980_000_000_000n]);
  expect(applied).toMatchObject({ from: "2026-08-17", isOffPeak: true });
  const before = costOf(usage, facts, { at: "2026-08-16T12:00:00Z" });
  expect(before.outputPicoUsd).toBe(870_000_000_000n);
  expect(before.applied).not.toHaveProperty("isOffPeak");
});

test("a moment knows its weekday and its hour", () => {
  const days = ["2026-11-18", "2024-02-29T23:59Z", "2000-01-01T00:00:00Z"];
  expect(days.map(toClock)).toEqual([
    { day: "2026-11-18", weekday: 3, hour: null },
    { day: "2024-02-29", weekday: 4, hour: 23 },
    { day: "2000-01-01", weekday: 6, hour: 0 },
  ]);
  expect(toClock(-1)).toEqual({ day: "1969-12-31", weekday: 3, hour: 23 });
});
