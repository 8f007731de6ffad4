// Goal: the limit is never above what is possible. Method: on tiny recordings try every choice of markers and
// lifetimes on the simulator's billing, and compare the cheapest with the bound.
import { expect, test } from "vitest";
import { createRandom, type Random } from "../../harness/random-message.ts";
import { noUsage } from "../../src/core/message/usage.ts";
import { costOf } from "../../src/core/models/cost.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { createLimitMeter } from "../../src/replay/limit.ts";
import {
  createBilling,
  createGrowingPrompt,
  type BillableBlock,
  type BillableMarker,
} from "../../src/simulator/index.ts";

const { facts } = resolveModel("claude-sonnet-4-6");
/** Nothing is too short or too far: what is left is what the bound speaks of. */
const model: ModelFacts = { ...facts, cache: { ...facts.cache, minimumTokens: 0 } };

interface TinyRequest {
  readonly startMs: number;
  readonly blocks: readonly BillableBlock[];
}

test("no choice of markers and lifetimes costs less than the limit, and some come close", () => {
  const random = createRandom(3);
  let touched = 0;
  for (let number = 0; number < 60; number += 1) {
    const requests = tinyRecording(random);
    const least = cheapest(requests);
    const limit = limitOf(requests);
    expect(limit.limitPicoUsd <= least).toBe(true);
    expect(limit.warmPicoUsd <= limit.limitPicoUsd).toBe(true);
    if (Number(limit.limitPicoUsd) >= 0.98 * Number(least)) touched += 1;
  }
  expect(touched).toBeGreaterThan(10);
});

test("a prefix sent twice within the hour costs its write once and its read once", () => {
  const blocks = [block("a", 1000), block("b", 500)];
  const limit = limitOf([
    { startMs: 0, blocks: blocks.slice(0, 1) },
    { startMs: 3_600_000, blocks },
    { startMs: 10_000_000, blocks },
  ]);
  // $3 a million: a 1.25 + 0.1 + 1, b 1 + 1; the third is too late to read.
  expect(limit.limitPicoUsd).toBe(BigInt((1250 + 100 + 1000 + 1000) * 3_000_000));
  // Two lifetimes of waiting cost two reads: 0.2 for a; b is worth 1.25 and then 0.2.
  expect(limit.warmPicoUsd).toBe(BigInt((1250 + 100 + 200 + 625 + 100) * 3_000_000));
});

function limitOf(requests: readonly TinyRequest[]): { limitPicoUsd: bigint; warmPicoUsd: bigint } {
  const meter = createLimitMeter();
  let [limitPicoUsd, warmPicoUsd] = [0n, 0n];
  for (const { startMs, blocks } of requests) {
    const prompt = createGrowingPrompt({ workspace: "w", model, settings: {} });
    prompt.append(blocks);
    const tokens = (index: number): number => blocks[index]?.tokens ?? 0;
    const added = meter.add({
      keys: prompt.keys,
      tokens,
      remainderTokens: 0,
      startMs: at(startMs),
      model,
    });
    limitPicoUsd += added.limitPicoUsd;
    warmPicoUsd += added.warmPicoUsd;
  }
  return { limitPicoUsd, warmPicoUsd };
}

/** Every request's every choice, tried one after the other. */
function cheapest(requests: readonly TinyRequest[]): bigint {
  const choices = requests.map(({ blocks }) => choicesOf(blocks.length));
  const counts = choices.map(({ length }) => length);
  let least: bigint | null = null;
  for (let number = 0; number < counts.reduce((all, each) => all * each, 1); number += 1) {
    let rest = number;
    const billing = createBilling();
    let total = 0n;
    for (const [index, { startMs, blocks }] of requests.entries()) {
      const markers = choices[index]?.[rest % (counts[index] ?? 1)] ?? [];
      rest = Math.floor(rest / (counts[index] ?? 1));
      const open = billing.open({
        id: `${index}`,
        workspace: "w",
        model,
        blocks,
        markers,
        mode: "implicit",
        settings: {},
        startMs: at(startMs),
      });
      open.begin();
      const { uncachedTokens, readTokens, writeTokens } = open.bill;
      const usage = {
        ...noUsage,
        uncachedTokens,
        cacheReadTokens: readTokens,
        cacheWriteTokens: writeTokens,
      };
      total += costOf(usage, model, { at: at(startMs) }).totalPicoUsd;
    }
    if (least === null || total < least) least = total;
  }
  return least ?? 0n;
}

/** No marker, 5m or 1h on each block, where no 1h comes after a 5m. */
function choicesOf(length: number): readonly (readonly BillableMarker[])[] {
  return Array.from({ length: 3 ** length }, (_, number) => {
    const markers: BillableMarker[] = [];
    for (let place = 0, rest = number; place < length; place += 1, rest = Math.floor(rest / 3)) {
      if (rest % 3 > 0) {
        markers.push({ block: place, lifetime: rest % 3 === 1 ? "5m" : "1h", origin: "explicit" });
      }
    }
    return markers;
  }).filter((markers) => {
    const firstShort = markers.findIndex(({ lifetime }) => lifetime === "5m");
    return (
      firstShort === -1 || markers.slice(firstShort).every(({ lifetime }) => lifetime === "5m")
    );
  });
}

/** Three requests of up to three blocks that begin alike, minutes to hours apart. */
function tinyRecording(random: Random): TinyRequest[] {
  let startMs = 0;
  return Array.from({ length: 3 }, () => {
    startMs += Math.floor(random() * (random() < 0.5 ? 400_000 : 5_000_000));
    const length = 1 + Math.floor(random() * 3);
    const blocks = Array.from({ length }, (_, index) =>
      block(`${index}${random() < 0.2 ? "x" : ""}`, 100 * (index + 1)),
    );
    return { startMs, blocks };
  });
}

function block(hash: string, tokens: number): BillableBlock {
  return { hash, tokens, tier: "messages", run: null, boundary: null };
}

function at(startMs: number): number {
  return 1_800_000_000_000 + startMs;
}
