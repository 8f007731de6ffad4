// Whether a compaction pays: the rewritten prefix and the summary cost now; every later, shorter prompt saves.
import { ratesAt, type Rates } from "../../models/prices.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import type { Moment } from "../../models/moment.ts";
import type { CompactionState } from "./compaction-state.ts";

export interface WeighingModel {
  readonly prices: ModelFacts["prices"];
  readonly cache: Pick<ModelFacts["cache"], "readMultiplier" | "lifetimes">;
}

export interface CompactionQuestion {
  readonly model: WeighingModel;
  readonly at: Moment;
  /** The next prompt without a compaction, including its foundation. */
  readonly contextTokens: number;
  /** Tools and system, which a compaction leaves unchanged. */
  readonly foundationTokens: number;
  /** The kept part of the history, including the newest messages. */
  readonly keptTokens: number;
  /** What replaces the rest: summary, index, repeated messages. */
  readonly compactionTokens: number;
  readonly summary: SummaryCost;
  /** The part of the next prompt that was sent before and could be read from the cache. */
  readonly sentTokens: number;
  /** Nothing can be read now: the pause was too long, the model changed, or the prefix breaks anyway. */
  readonly isCacheCold: boolean;
  /** The probability that a later call finds nothing to read. */
  readonly coldChance: number;
  readonly callsLeft: number;
}

export interface SummaryCost {
  /** The session's own model repeats the prompt, or another model gets the compacted part. */
  readonly kind: "same prefix" | "separate model" | "none";
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Only for a separate model. */
  readonly model?: WeighingModel;
}

/**
 * The numbers of a decision. Money is exact if the model has a price; otherwise prices are relative to an input
 * token.
 */
export interface Weighing {
  readonly isPriced: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summaryPicoUsd: bigint;
  /** The extra cost of the next call for its new prefix. Negative if it is cheaper at once. */
  readonly rewritePicoUsd: bigint;
  readonly costNowPicoUsd: bigint;
  /** The average for each call after the next one. */
  readonly savingPerCallPicoUsd: bigint;
  /** How many calls after the next one it takes. Null if it never pays. */
  readonly breakEvenCalls: number | null;
  readonly callsLeft: number;
  /** How many times over it should pay. Null if it costs nothing. */
  readonly gainFactor: number | null;
}

export function weighCompaction(question: CompactionQuestion): Weighing {
  const { model, at, contextTokens, foundationTokens, keptTokens, compactionTokens } = question;
  const tokensAfter = foundationTokens + compactionTokens + keptTokens;
  const before = findRates(model, at, contextTokens);
  const after = findRates(model, at, tokensAfter);
  const summaryPicoUsd = priceSummary(question, before);
  const rewritePicoUsd = priceNext(question, after, true) - priceNext(question, before, false);
  const costNowPicoUsd = summaryPicoUsd + rewritePicoUsd;
  const savingPerCallPicoUsd =
    priceLater(contextTokens, before, question.coldChance) -
    priceLater(tokensAfter, after, question.coldChance);
  return {
    isPriced: model.prices.kind === "priced",
    tokensBefore: contextTokens,
    tokensAfter,
    summaryPicoUsd,
    rewritePicoUsd,
    costNowPicoUsd,
    savingPerCallPicoUsd,
    breakEvenCalls: countBreakEven(costNowPicoUsd, savingPerCallPicoUsd),
    callsLeft: question.callsLeft,
    gainFactor:
      costNowPicoUsd <= 0n
        ? null
        : (Number(savingPerCallPicoUsd) * question.callsLeft) / Number(costNowPicoUsd),
  };
}

/** The price of one call's prompt. */
export interface PromptPrice {
  readonly cachedPicoUsd: bigint;
  /** At the write price if the provider has one, else as plain input. */
  readonly uncachedPicoUsd: bigint;
}

/** Null if the model has no price. */
export function pricePrompt(model: WeighingModel, at: Moment, tokens: number): PromptPrice | null {
  const { prices } = model;
  if (prices.kind !== "priced" || ratesAt(prices.rows, at, tokens) === null) return null;
  const { read, write } = findRates(model, at, tokens);
  return { cachedPicoUsd: times(tokens, read), uncachedPicoUsd: times(tokens, write) };
}

/** A session lasts about as long as it has so far; later calls would soon be compacted anyway. */
export function expectCallsLeft({
  callsSinceFold,
}: Pick<CompactionState, "callsSinceFold">): number {
  return Math.max(callsLeftMin, callsSinceFold);
}

const callsLeftMin = 2;

interface TokenRates {
  readonly input: bigint;
  readonly read: bigint;
  readonly write: bigint;
  readonly output: bigint;
}

function findRates({ prices, cache }: WeighingModel, at: Moment, promptTokens: number): TokenRates {
  const applied = prices.kind === "priced" ? ratesAt(prices.rows, at, promptTokens) : null;
  if (applied !== null) return toTokenRates(applied.rates);
  const read = cache.readMultiplier ?? 1;
  const write = cache.lifetimes[0]?.writeMultiplier ?? 1;
  return {
    input: unit,
    read: BigInt(Math.round(read * Number(unit))),
    write: BigInt(Math.round(write * Number(unit))),
    output: unit * usualOutputFactor,
  };
}

/** The price of an input token if none is known. */
const unit = 1_000_000n;
const usualOutputFactor = 5n;

/** Writes without their own price cost the same as input. */
function toTokenRates({
  inputPicoUsd,
  outputPicoUsd,
  readPicoUsd,
  writePicoUsd,
}: Rates): TokenRates {
  const writes = Object.values(writePicoUsd).filter((each) => each !== null);
  return {
    input: inputPicoUsd,
    read: readPicoUsd ?? inputPicoUsd,
    write: writes.reduce((least, each) => (each < least ? each : least), writes[0] ?? inputPicoUsd),
    output: outputPicoUsd,
  };
}

function priceSummary(question: CompactionQuestion, own: TokenRates): bigint {
  const { summary, isCacheCold, sentTokens, model, at } = question;
  if (summary.kind === "none") return 0n;
  if (summary.kind === "separate model") {
    const rates = findRates(summary.model ?? model, at, summary.inputTokens);
    return times(summary.inputTokens, rates.input) + times(summary.outputTokens, rates.output);
  }
  const read = isCacheCold ? 0 : Math.min(sentTokens, summary.inputTokens);
  return (
    times(read, own.read) +
    times(summary.inputTokens - read, own.input) +
    times(summary.outputTokens, own.output)
  );
}

/** The next call: after a compaction only the foundation can be read. */
function priceNext(question: CompactionQuestion, rates: TokenRates, isCompacted: boolean): bigint {
  const { contextTokens, foundationTokens, keptTokens, compactionTokens, isCacheCold } = question;
  const prompt = isCompacted ? foundationTokens + compactionTokens + keptTokens : contextTokens;
  const known = isCompacted ? foundationTokens : question.sentTokens;
  const read = isCacheCold ? 0 : Math.min(known, prompt);
  return times(read, rates.read) + times(prompt - read, rates.write);
}

/** A later call reads everything sent before, unless it comes too late. */
function priceLater(promptTokens: number, rates: TokenRates, coldChance: number): bigint {
  const cold = BigInt(Math.round(Math.min(1, Math.max(0, coldChance)) * 1000));
  return (
    (times(promptTokens, rates.read) * (1000n - cold) + times(promptTokens, rates.write) * cold) /
    1000n
  );
}

function countBreakEven(cost: bigint, saving: bigint): number | null {
  if (cost <= 0n) return 0;
  return saving <= 0n ? null : Number((cost + saving - 1n) / saving);
}

function times(tokens: number, picoPerToken: bigint): bigint {
  return BigInt(Math.round(tokens)) * picoPerToken;
}
