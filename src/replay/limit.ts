// The limit: the lowest possible cost for the same bytes at the same times. See docs/limit.md.
import { ratesAt } from "../core/models/prices.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { createSentPrefixes } from "./sent-prefixes.ts";

export interface Limits {
  readonly limitPicoUsd: bigint;
  /** With keep-warm: prefixes are repeated during long gaps. */
  readonly warmPicoUsd: bigint;
}

export interface LimitRequest {
  /** Keys of every prefix and tokens of every block. */
  readonly keys: readonly string[];
  readonly tokens: (block: number) => number;
  /** The tokens up to and including each block, if the caller has them. */
  readonly cumulative?: readonly number[];
  readonly remainderTokens: number;
  readonly startMs: number;
  readonly model: ModelFacts;
}

export interface LimitMeter {
  /** The least cost this request can add, including what it adds to earlier requests. Call in order of time. */
  add(request: LimitRequest): Limits;
}

/** One meter per workspace, because requests of a workspace share entries. */
export function createLimitMeter(): LimitMeter {
  const sent = createSentPrefixes<Sighting>(isSame);
  return {
    add: (request) => {
      const { keys, startMs, model, remainderTokens } = request;
      const terms = termsOf(model);
      const cumulative = request.cumulative ?? sumUp(request);
      const cold: Sums = { plain: remainderTokens, read: 0, written: 0 };
      const warm: Sums = { ...cold };
      sent.visit(keys, (seen, { from, to }) => {
        const count = (cumulative[to - 1] ?? 0) - (cumulative[from - 1] ?? 0);
        const reads = Math.max(
          1,
          Math.ceil((startMs - (seen?.lastMs ?? startMs)) / terms.longestMs),
        );
        return {
          lastMs: startMs,
          // Without repetitions, a prefix does not outlive the longest lifetime.
          isKept: add(seen?.isKept, count, reads === 1 ? 1 : Infinity, terms, cold),
          isKeptWarm: add(seen?.isKeptWarm, count, reads, terms, warm),
        };
      });
      const priceOf = pricing(model, startMs, remainderTokens + (cumulative[keys.length - 1] ?? 0));
      return { limitPicoUsd: priceOf(cold), warmPicoUsd: priceOf(warm) };
    },
  };
}

function sumUp({ keys, tokens }: LimitRequest): readonly number[] {
  let sum = 0;
  return keys.map((_, block) => (sum += tokens(block)));
}

/** When a prefix was last sent, and whether it is cached since then. */
interface Sighting {
  readonly lastMs: number;
  readonly isKept: boolean;
  readonly isKeptWarm: boolean;
}

function isSame(left: Sighting, right: Sighting): boolean {
  return (
    left.lastMs === right.lastMs &&
    left.isKept === right.isKept &&
    left.isKeptWarm === right.isKeptWarm
  );
}

interface Terms {
  readonly longestMs: number;
  readonly read: number;
  /** Extra cost of a write over plain input. */
  readonly premium: number;
}

function termsOf({ cache }: ModelFacts): Terms {
  const longest = cache.lifetimes.at(-1);
  // A provider that keeps prefixes by itself and says not for how long may keep them for ever.
  const unstated = cache.automatic === null ? 0 : Infinity;
  const writes = cache.lifetimes.map(({ writeMultiplier }) => writeMultiplier ?? 1);
  return {
    longestMs: longest === undefined ? unstated : longest.seconds * 1000,
    read: cache.readMultiplier ?? 1,
    premium: writes.length === 0 ? 0 : Math.max(0, Math.min(...writes) - 1),
  };
}

/** Tokens by price: plain, read (once per repetition during a gap), and written earlier because they are read now. */
interface Sums {
  plain: number;
  read: number;
  written: number;
}

/**
 * Adds blocks, and returns whether they were read. A write was worth its premium if the reads now plus the premium then
 * cost less than plain input.
 */
function add(
  isKept: boolean | undefined,
  count: number,
  reads: number,
  terms: Terms,
  sums: Sums,
): boolean {
  const isRead = isKept !== undefined && reads * terms.read + (isKept ? 0 : terms.premium) < 1;
  if (!isRead) sums.plain += count;
  else {
    sums.read += reads * count;
    if (!isKept) sums.written += count;
  }
  return isRead;
}

function pricing(model: ModelFacts, startMs: number, total: number): (sums: Sums) => bigint {
  if (model.prices.kind === "unpriced") return () => 0n;
  const rates = ratesAt(model.prices.rows, startMs, total)?.rates;
  if (rates === undefined) return () => 0n;
  const read = rates.readPicoUsd ?? rates.inputPicoUsd;
  const writes = Object.values(rates.writePicoUsd).filter((each) => each !== null);
  const write = writes.reduce(
    (least, each) => (each < least ? each : least),
    writes[0] ?? rates.inputPicoUsd,
  );
  const premium = write > rates.inputPicoUsd ? write - rates.inputPicoUsd : 0n;
  return (sums) =>
    BigInt(sums.plain) * rates.inputPicoUsd +
    BigInt(sums.read) * read +
    BigInt(sums.written) * premium;
}
