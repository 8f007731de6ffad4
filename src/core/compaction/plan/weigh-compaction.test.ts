import { describe, expect, test } from "vitest";
import { resolveModel } from "../../models/resolve-model.ts";
import { expectCallsLeft, weighCompaction, type CompactionQuestion } from "./weigh-compaction.ts";

// $3 per million input tokens, reads at 0.1, writes at 1.25 for 5 minutes, $15 output.
const model = resolveModel("claude-sonnet-4-5").facts;

const question: CompactionQuestion = {
  model,
  at: "2026-01-01",
  contextTokens: 150_000,
  foundationTokens: 10_000,
  keptTokens: 20_000,
  compactionTokens: 3_500,
  summary: { kind: "same prefix", inputTokens: 151_000, outputTokens: 1_500 },
  sentTokens: 148_000,
  isCacheCold: false,
  coldChance: 0,
  callsLeft: 40,
};

describe("a warm cache", () => {
  test("the summary reads the prefix, the next call writes what is new, later calls save reads", () => {
    const weighing = weighCompaction(question);
    // 148,000 read, 3,000 new, 1,500 written by the model.
    expect(weighing.summaryPicoUsd).toBe(
      148_000n * 300_000n + 3_000n * 3_000_000n + 1_500n * 15_000_000n,
    );
    // 10,000 read and 23,500 written, instead of 148,000 read and 2,000 written.
    expect(weighing.rewritePicoUsd).toBe(
      10_000n * 300_000n + 23_500n * 3_750_000n - 148_000n * 300_000n - 2_000n * 3_750_000n,
    );
    expect(weighing.costNowPicoUsd).toBe(115_125_000_000n);
    expect(weighing.savingPerCallPicoUsd).toBe(116_500n * 300_000n);
    expect(weighing).toMatchObject({
      isPriced: true,
      tokensBefore: 150_000,
      tokensAfter: 33_500,
      breakEvenCalls: 4,
      callsLeft: 40,
    });
    expect(weighing.gainFactor).toBeCloseTo(12.14, 2);
  });

  test("another model pays for all of the head, and nothing of ours is read", () => {
    const summary = { kind: "separate model", inputTokens: 116_500, outputTokens: 1_500 } as const;
    const haiku = resolveModel("claude-haiku-4-5").facts;
    const weighing = weighCompaction({ ...question, summary: { ...summary, model: haiku } });
    expect(weighing.summaryPicoUsd).toBe(116_500n * 1_000_000n + 1_500n * 5_000_000n);
  });

  test("calls that may come too late save more", () => {
    const { savingPerCallPicoUsd } = weighCompaction({ ...question, coldChance: 0.1 });
    expect(savingPerCallPicoUsd).toBe(116_500n * (270_000n + 375_000n));
  });
});

test("in a cold cache a fold costs next to nothing: everything would have to be written again", () => {
  const weighing = weighCompaction({ ...question, isCacheCold: true });
  expect(weighing.costNowPicoUsd).toBeLessThan(50_000_000_000n);
  expect(weighing.rewritePicoUsd).toBe(33_500n * 3_750_000n - 150_000n * 3_750_000n);
  const mechanical = {
    ...question,
    isCacheCold: true,
    summary: { ...question.summary, kind: "none" },
  } as const;
  expect(weighCompaction(mechanical)).toMatchObject({ breakEvenCalls: 0, gainFactor: null });
});

test("a fold that makes the prompt longer never pays", () => {
  const weighing = weighCompaction({ ...question, contextTokens: 33_000, sentTokens: 31_000 });
  expect(weighing).toMatchObject({ breakEvenCalls: null });
  expect(weighing.gainFactor).toBeLessThan(0);
});

test("a model without a price is weighed by its shares of an input token's price", () => {
  const unpriced = { ...model, prices: { kind: "unpriced", reason: "private" } } as const;
  expect(weighCompaction({ ...question, model: unpriced })).toMatchObject({
    isPriced: false,
    breakEvenCalls: 4,
  });
});

test("a session is expected to go on as long as it has since its last fold", () => {
  expect([0, 1, 2, 80].map((calls) => expectCallsLeft({ callsSinceFold: calls }))).toEqual([
    2, 2, 2, 80,
  ]);
});
