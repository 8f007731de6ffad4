import { expect, test } from "vitest";
import { noUsage } from "../message/usage.ts";
import { keepSpent, nothingSpent, readSpent, type Spent } from "./summary-bill.ts";

const usage = { ...noUsage, uncachedTokens: 7, cacheWriteTokens: { "5m": 3 } };
const spent: Spent = { usages: [usage], costPicoUsd: 12_345n, callsWithoutCost: 1 };

test("what was spent is read as it was kept", () => {
  expect(readSpent(JSON.parse(JSON.stringify(keepSpent(spent))))).toEqual(spent);
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["no object", "12"],
  ["an object of something else", { format: 3 }],
  ["money that is none", { usages: 7, costPicoUsd: "1e9", callsWithoutCost: -1 }],
  ["usages that are none", { usages: [null, { uncachedTokens: "7" }], costPicoUsd: 5 }],
])("%s was not spent", (_name, kept) => {
  expect(readSpent(kept)).toEqual(nothingSpent);
});

test("of what was kept, only what can be read is booked", () => {
  const strange = { ...usage, cacheWriteTokens: { "7d": 1 } };
  const kept = { usages: [strange, usage], costPicoUsd: "-3", callsWithoutCost: 2 };
  expect(readSpent(kept)).toEqual({ usages: [usage], costPicoUsd: 0n, callsWithoutCost: 2 });
});
