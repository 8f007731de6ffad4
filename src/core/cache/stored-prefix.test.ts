import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveModel } from "../models/resolve-model.ts";
import { openPace, type PaceKind } from "./pace.ts";
import { decideStoring, type StoringDecision, type StoringQuestion } from "./stored-prefix.ts";
import { countUnasked, noUnaskedReads, unaskedChance, type UnaskedReads } from "./unasked-reads.ts";

const model = resolveModel("gemini-3.8-flash").facts;
const nowMs = Date.UTC(2026, 10, 18, 12);

/** So many calls a minute apart that found what the call before sent, or did not. */
function seen(count: number, isHeld: boolean): UnaskedReads {
  let reads = noUnaskedReads;
  for (let call = 0; call < count; call += 1) reads = countUnasked(reads, 60_000, isHeld);
  return reads;
}

function decide(
  more: Partial<StoringQuestion> & { readonly kind?: PaceKind } = {},
): StoringDecision {
  const { kind = "human", ...given } = more;
  return decideStoring({
    model,
    pace: openPace(kind),
    unasked: seen(4, false),
    lastCallMs: nowMs - 5000,
    nowMs,
    candidates: [
      { blocks: 3, tokens: 40_000 },
      { blocks: 9, tokens: 50_000 },
    ],
    promptTokens: 50_000,
    grownTokens: 500,
    live: null,
    ...given,
  });
}

describe("a prefix is made", () => {
  test("where nothing is kept by itself: the whole conversation, for the write and ten minutes of storage", () => {
    expect(decide()).toEqual({
      do: "create",
      prefix: { blocks: 9, tokens: 50_000 },
      // 50,000 tokens at $0.75 per million, and a sixth of an hour at $0.50 per million: $0.0375 + $0.00416666….
      costPicoUsdMax: 41_666_666_666n,
      gainPicoUsd: expect.any(BigInt) as bigint,
      reason: expect.stringMatching(
        /^storing 50000 tokens is expected to save \$0\.\d{4} beyond what it costs$/,
      ) as string,
    });
  });

  test.each([
    [
      "what is kept by itself is not known",
      { unasked: seen(1, false) },
      "what the provider keeps by itself is not known yet",
    ],
    [
      "everything is kept by itself",
      { unasked: seen(8, true) },
      "making and keeping it would cost more than it is expected to save",
    ],
    [
      "no other call comes",
      { kind: "one-shot" },
      "making and keeping it would cost more than it is expected to save",
    ],
    [
      "the next call comes in hours",
      { kind: "cron" },
      "making and keeping it would cost more than it is expected to save",
    ],
    [
      "the prompt is short",
      { candidates: [{ blocks: 3, tokens: 4095 }] },
      "fewer than the 4096 tokens that can be stored",
    ],
    [
      "the vendor publishes no price",
      { model: resolveModel("gemini-3.7-flash").facts },
      "no price is published for what gemini-3.7-flash stores",
    ],
    [
      "the model stores nothing",
      { model: resolveModel("claude-sonnet-4-6").facts },
      "claude-sonnet-4-6 stores no prefixes",
    ],
  ] as const)("not where %s", (_why, more, reason) => {
    expect(decide(more)).toEqual({ do: "none", reason });
  });

  test("of the head alone, where only that can be stored", () => {
    const candidates = [{ blocks: 3, tokens: 40_000 }];
    expect(decide({ candidates })).toMatchObject({ do: "create", prefix: { blocks: 3 } });
  });
});

describe("a prefix that is stored", () => {
  const live = { blocks: 9, tokens: 50_000, expiresMs: nowMs + 600_000 };

  test("is kept while calls may come, and looked at a minute before its end", () => {
    expect(decide({ live })).toMatchObject({
      do: "keep",
      atMs: nowMs + 540_000,
      costPicoUsdMax: 0n,
    });
  });

  test("is extended in its last minute, for ten more minutes of storage", () => {
    const due = { ...live, expiresMs: nowMs + 60_000 };
    expect(decide({ live: due })).toMatchObject({ do: "extend", costPicoUsdMax: 4_166_666_666n });
  });

  test("is given up where no call is expected, and where all is kept without it", () => {
    const reason = "the calls to come would save less than keeping it costs";
    expect(decide({ live, kind: "cron" })).toEqual({ do: "delete", reason });
    expect(decide({ live, unasked: seen(30, true), grownTokens: 20_000 })).toEqual({
      do: "delete",
      reason,
    });
  });

  test.each([
    [49_000, { do: "keep" }],
    [10_000, { do: "create", prefix: { blocks: 9, tokens: 50_000 } }],
  ])("of %i tokens gives way to 50000 only where that earns its write twice", (tokens, decided) => {
    expect(decide({ live: { ...live, tokens } })).toMatchObject(decided);
  });
});

test("what it decides for always gains something by its own account", () => {
  const tokens = fc.integer({ min: 1, max: 400_000 });
  const reads = fc.record({ count: fc.nat(12), isHeld: fc.boolean() });
  fc.assert(
    fc.property(
      fc.record({
        kind: fc.constantFrom<PaceKind>("human", "tool loop", "worker", "cron", "one-shot"),
        head: tokens,
        rest: tokens,
        grown: fc.nat(20_000),
        reads,
        waitedMs: fc.nat(7_200_000),
        leftMs: fc.option(fc.integer({ min: 1, max: 900_000 })),
      }),
      ({ kind, head, rest, grown, reads: { count, isHeld }, waitedMs, leftMs }) => {
        const decision = decide({
          kind,
          unasked: seen(count, isHeld),
          lastCallMs: nowMs - waitedMs,
          candidates: [
            { blocks: 1, tokens: head },
            { blocks: 2, tokens: head + rest },
          ],
          promptTokens: head + rest,
          grownTokens: grown,
          live: leftMs === null ? null : { blocks: 1, tokens: head, expiresMs: nowMs + leftMs },
        });
        const gain = "gainPicoUsd" in decision ? decision.gainPicoUsd : 0n;
        const atMs = decision.do === "keep" ? decision.atMs : nowMs;
        expect(gain).toBeGreaterThanOrEqual(0n);
        expect(atMs).toBeGreaterThanOrEqual(nowMs);
      },
    ),
    { numRuns: 150 },
  );
});

test("what is kept by itself is learned by the length of the pause", () => {
  expect(unaskedChance(noUnaskedReads, 60_000)).toBeCloseTo(0.78);
  expect(unaskedChance(seen(4, true), 60_000)).toBeCloseTo((4 + 0.78) / 5);
  expect(unaskedChance(seen(4, false), 300_000)).toBeCloseTo(0.78 / 5);
  // A minute says nothing about an hour.
  expect(unaskedChance(seen(4, false), 3_600_000)).toBeCloseTo(0.3);
});
