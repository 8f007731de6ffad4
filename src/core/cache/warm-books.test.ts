import { expect, test } from "vitest";
import { findKeptPrefix, type KeptPrefix } from "./kept-prefix.ts";
import { blocksOf, entryAt, nowMs, sonnet, stateWith, usageOf } from "./test-kit.ts";
import {
  bookCall,
  bookRefresh,
  keepBooks,
  lastCallMs,
  noWarmBooks,
  readBooks,
} from "./warm-books.ts";

const blocks = blocksOf("static 2000", "user 1000", "said 500", "user 700", "volatile 50");
const state = stateWith(entryAt(0, "1h"), entryAt(2, "5m"), entryAt(3, "5m"));
const kept = findKeptPrefix(state, blocks, nowMs);

test("the longest live entry is kept until its lifetime ends, and a longer one after it", () => {
  expect(kept).toEqual({
    tokens: 4200,
    lifetime: "5m",
    keptMs: 300_000,
    expiresMs: nowMs + 240_000,
    longTokens: 2000,
    longUntilMs: nowMs + 3_540_000,
    promptTokens: 4250,
  });
  expect(findKeptPrefix(state, blocks, nowMs + 250_000)).toMatchObject({
    tokens: 2000,
    lifetime: "1h",
    longTokens: 0,
  });
  expect(findKeptPrefix(state, blocks, nowMs + 4_000_000)).toBe(null);
  expect(findKeptPrefix(state, blocksOf("static 10"), nowMs)).toMatchObject({ tokens: 10 });
});

const since = { callMs: nowMs - 60_000, kept: kept as KeptPrefix };
const warm = bookRefresh(noWarmBooks, 1_000_000n, since);

test("a call after a refresh earns what it read instead of writing it", () => {
  const call = { usage: usageOf(50, 4200), costPicoUsd: 5n, startMs: nowMs + 400_000 };
  // 2,200 tokens at $3.75 a million instead of $0.30; the longer entry had the rest.
  expect(bookCall(warm, call, sonnet)).toEqual({
    paidPicoUsd: 5n,
    spentPicoUsd: 1_000_000n,
    savedPicoUsd: 7_590_000_000n,
    since: null,
  });
  expect(bookCall(warm, { ...call, startMs: nowMs + 200_000 }, sonnet).savedPicoUsd).toBe(0n);
  expect(bookCall(warm, { ...call, usage: usageOf(4250, 0) }, sonnet).savedPicoUsd).toBe(0n);
});

test("the time of the last call is not that of a refresh", () => {
  expect(lastCallMs(noWarmBooks, nowMs)).toBe(nowMs);
  const twice = bookRefresh(warm, 2n, { callMs: nowMs, kept: null });
  expect(lastCallMs(twice, nowMs + 1)).toBe(nowMs - 60_000);
});

test("are stored only where there is something to store, and damaged ones count as none", () => {
  expect(keepBooks({ ...noWarmBooks, paidPicoUsd: 9n })).toBe(null);
  expect(readBooks(JSON.parse(JSON.stringify(keepBooks(warm))))).toEqual(warm);
  for (const damaged of [null, 3, { spent: "x", saved: 7, since: 5 }]) {
    expect(readBooks(damaged)).toEqual(noWarmBooks);
  }
});
