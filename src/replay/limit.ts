// The limit: the lowest possible cost for the same bytes at the same times. See docs/limit.md.
import { ratesAt } from "../core/models/prices.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";

export interface Limits {
  readonly limitPicoUsd: bigint;
  /** With keep-warm: prefixes are repeated during long gaps. */
  readonly warmPicoUsd: bigint;
}

export interface LimitRequest {
  /** Keys of every prefix and tokens of every block. */
  readonly keys: readonly string[];
  readonly tokens: (block: number) => number;
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
  const sent = new Map<string, Sighting>();
  return {
    add: (request) => {
      const { keys, tokens, startMs, model, remainderTokens } = request;
      const terms = termsOf(model);
      const cold: Sums = { plain: remainderTokens, read: 0, written: 0 };
      const warm: Sums = { ...cold };
      let total = remainderTokens;
      for (const [block, key] of keys.entries()) {
        const count = tokens(block);
        total += count;
        const seen = sent.get(key) ?? { lastMs: startMs, isKept: undefined, isKeptWarm: undefined };
        const reads = Math.max(1, Math.ceil((startMs - seen.lastMs) / terms.longestMs));
        // Without repetitions, a prefix does not outlive the longest lifetime.
        seen.isKept = add(seen.isKept, count, reads === 1 ? 1 : Infinity, terms, cold);
        seen.isKeptWarm = add(seen.isKeptWarm, count, reads, terms, warm);
        seen.lastMs = startMs;
        sent.set(key, seen);
      }
      const priceOf = pricing(model, startMs, total);
      return { limitPicoUsd: priceOf(cold), warmPicoUsd: priceOf(warm) };
    },
  };
}

/** When a prefix was last sent, and whether it is cached since then; undefined if it is sent for the first time. */
interface Sighting {
  lastMs: number;
  isKept: boolean | undefined;
  isKeptWarm: boolean | undefined;
}

interface Terms {
  readonly longestMs: number;
  readonly read: number;
  /** Extra cost of a write over plain input. */
  readonly premium: number;
}

function termsOf({ cache }: ModelFacts): Terms {
  const writes = cache.lifetimes.map(({ writeMultiplier }) => writeMultiplier ?? 1);
  return {
    longestMs: (cache.lifetimes.at(-1)?.seconds ?? 0) * 1000,
    read: cache.readMultiplier ?? 1,
    premium: Math.max(0, Math.min(...writes) - 1),
  };
}

/** Tokens by price: plain, read (once per repetition during a gap), and written earlier because they are read now. */
interface Sums {
  plain: number;
  read: number;
  written: number;
}

/**
 * Adds a block, and returns whether it was read. A write was worth its premium if the reads now plus the premium then
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
