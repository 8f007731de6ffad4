import { describe, expect, test } from "vitest";
import type { Lifetime } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { createRuler, type KnownEntry } from "./cache-state.ts";
import type { ExpectedBill } from "./cache-plan.ts";
import { entriesByBlock, expectBill, tailOf } from "./expect-bill.ts";
import { blocksOf, entryAt, gpt, nowMs, olderGpt, sonnet } from "./test-kit.ts";

interface Question {
  readonly model?: ModelFacts;
  readonly shorts?: readonly string[];
  readonly markers?: readonly (readonly [block: number, lifetime: Lifetime])[];
  readonly entries?: readonly KnownEntry[];
  readonly requestMarker?: Lifetime;
  readonly mode?: "implicit" | "explicit";
  readonly promptTokens?: number;
}

/** Ends at 2000, 3000, 3500, 3800 and 3850 tokens. */
const talk = ["static 2000", "user 1000", "assistant 500", "user 300", "volatile 50"];

function bill({
  model = sonnet,
  shorts = talk,
  markers = [],
  entries = [],
  ...rest
}: Question): ExpectedBill {
  const blocks = blocksOf(...shorts);
  return expectBill({
    blocks,
    markers: markers.map(([block, lifetime]) => ({ block, lifetime })),
    requestMarker: rest.requestMarker ?? null,
    mode: rest.mode ?? "implicit",
    rules: model.cache,
    entries: entriesByBlock(entries),
    ruler: createRuler(blocks, null),
    nowMs,
    ...(rest.promptTokens === undefined ? {} : { promptTokens: rest.promptTokens }),
  });
}

function tokensOf({ readTokens, writeTokens, uncachedTokens }: ExpectedBill): unknown {
  return [readTokens, writeTokens, uncachedTokens];
}

function namesOf(entries: readonly KnownEntry[]): readonly string[] {
  return entries.map(({ block, lifetime }) => `${block} ${lifetime}`);
}

describe("mixed lifetimes are billed by span: read to A, 1h from A to B, 5m from B to C, the rest plain", () => {
  test("A at the hit, B at the last 1h marker after it, C at the last marker", () => {
    const hit = entryAt(0, "5m");
    const expected = bill({
      markers: [
        [1, "1h"],
        [3, "5m"],
      ],
      entries: [hit],
    });
    expect(tokensOf(expected)).toEqual([2000, { "1h": 1000, "5m": 800 }, 50]);
    expect(expected.spanEnds).toEqual({ "1h": 1, "5m": 3 });
    expect(namesOf(expected.written)).toEqual(["1 1h", "3 5m"]);
    expect(expected.refreshed).toEqual([hit]);
  });

  test("A is 0 without a hit, and every marker up to B is billed at 1h", () => {
    const expected = bill({
      markers: [
        [0, "1h"],
        [1, "1h"],
        [3, "5m"],
      ],
    });
    expect(tokensOf(expected)).toEqual([0, { "1h": 3000, "5m": 800 }, 50]);
  });

  test("B is A where no 1h marker stands after the hit", () => {
    const expected = bill({
      markers: [
        [0, "1h"],
        [3, "5m"],
      ],
      entries: [entryAt(1, "5m")],
    });
    expect(tokensOf(expected)).toEqual([3000, { "5m": 800 }, 50]);
  });

  test("nothing is written where the last marker stands at the hit", () => {
    const expected = bill({ markers: [[1, "5m"]], entries: [entryAt(1, "5m")] });
    expect(tokensOf(expected)).toEqual([3000, {}, 850]);
    expect(expected.written).toEqual([]);
  });

  test("without markers everything is plain", () => {
    expect(tokensOf(bill({ entries: [entryAt(1, "5m")] }))).toEqual([0, {}, 3850]);
  });
});

describe("what there is afterwards", () => {
  test("a marker before the hit lets a live entry live on", () => {
    const [head, hit] = [entryAt(0, "1h", 1_000_000), entryAt(1, "5m")];
    const { refreshed } = bill({
      markers: [
        [0, "1h"],
        [3, "5m"],
      ],
      entries: [head, hit],
    });
    expect(namesOf(refreshed)).toEqual(["1 5m", "0 1h"]);
  });

  test("it writes nothing: not an expired entry of its own lifetime, and not one of another", () => {
    const [gone, hit] = [entryAt(0, "5m", 400_000), entryAt(1, "1h", 400_000)];
    const markers = [
      [0, "5m"],
      [1, "1h"],
      [3, "5m"],
    ] as const;
    expect(namesOf(bill({ markers, entries: [gone, hit] }).written)).toEqual(["3 5m"]);
    const longer = [
      [0, "1h"],
      [1, "1h"],
      [3, "5m"],
    ] as const;
    expect(namesOf(bill({ markers: longer, entries: [gone, hit] }).written)).toEqual(["3 5m"]);
  });

  test("a written entry starts to live when the call is sent", () => {
    expect(bill({ markers: [[3, "1h"]] }).written).toEqual([entryAt(3, "1h", 0)]);
  });
});

describe("markers that are not ours", () => {
  test("one for the whole request stands on the last block that can carry it", () => {
    const shorts = [...talk, "thinking 10"];
    expect(tokensOf(bill({ shorts, requestMarker: "5m" }))).toEqual([0, { "5m": 3850 }, 10]);
  });

  test("a provider's own stands at the end of the latest message of the user", () => {
    const shorts = ["static 2000", "user 100", "assistant 50"];
    expect(tokensOf(bill({ model: gpt, shorts }))).toEqual([0, { "30m": 2100 }, 50]);
    expect(tokensOf(bill({ model: gpt, shorts, mode: "explicit" }))).toEqual([0, {}, 2150]);
    expect(namesOf(bill({ model: gpt, shorts, markers: [[1, "30m"]] }).written)).toEqual(["1 30m"]);
  });

  test("one on too short a prefix counts for nothing", () => {
    const shorts = ["static 1000", "user 20", "user 500"];
    const expected = bill({
      shorts,
      markers: [
        [0, "1h"],
        [2, "5m"],
      ],
    });
    expect(tokensOf(expected)).toEqual([0, { "5m": 1520 }, 0]);
    expect(namesOf(expected.written)).toEqual(["2 5m"]);
  });
});

const sent = (block: number): KnownEntry => ({
  ...entryAt(block, "24h", 60_000, olderGpt.cache),
  lifetime: null,
});

describe("a provider that keeps whole steps", () => {
  test("gives back whole steps of a prefix, and remembers what it was sent for a while", () => {
    const shorts = ["static 5000", "user 100", "volatile 10"];
    const expected = bill({ model: olderGpt, shorts, entries: [sent(0)] });
    expect(tokensOf(expected)).toEqual([4096, {}, 1014]);
    const times = { keptMs: 1_800_000, tokens: null, writtenMs: nowMs, touchedMs: nowMs };
    expect(expected.written).toEqual([
      { key: "k0", block: 0, lifetime: null, ...times },
      { key: "k1", block: 1, lifetime: null, ...times },
    ]);
  });

  test("gives back nothing of less than a step", () => {
    const expected = bill({
      model: olderGpt,
      shorts: ["static 2000", "user 100"],
      entries: [sent(0)],
    });
    expect([expected.hit, expected.readTokens]).toEqual([null, 0]);
  });
});

test("an exact count of the prompt decides what is left plain", () => {
  const expected = bill({ markers: [[3, "5m"]], promptTokens: 4000 });
  expect(tokensOf(expected)).toEqual([0, { "5m": 3800 }, 200]);
});

test("the tail is the last block that is not sent for this call alone", () => {
  expect(tailOf(blocksOf("static 10", "user 10", "volatile 10 x2"))).toBe(1);
  expect(tailOf(blocksOf("volatile 10"))).toBe(-1);
  expect(tailOf([])).toBe(-1);
});
