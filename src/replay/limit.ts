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
      const sums: Sums = {
        plain: remainderTokens,
        read: 0,
        written: 0,
        warmPlain: remainderTokens,
        warmRead: 0,
        warmWritten: 0,
      };
      let total = remainderTokens;
      for (const [block, key] of keys.entries()) {
        const count = tokens(block);
        total += count;
        const before = sent.get(key);
        if (before === undefined) {
          sent.set(key, { lastMs: startMs, isKept: false, isKeptWarm: false });
          sums.plain += count;
          sums.warmPlain += count;
          continue;
        }
        addAgain(before, count, startMs, terms, sums);
        before.lastMs = startMs;
      }
      return price(sums, model, startMs, total);
    },
  };
}

/** When a prefix was last sent, and whether it is cached since then. */
interface Sighting {
  lastMs: number;
  isKept: boolean;
  isKeptWarm: boolean;
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

/** Tokens by price: plain, read, and written earlier because they are read now. */
interface Sums {
  plain: number;
  read: number;
  written: number;
  warmPlain: number;
  /** Includes one read per repetition during the gap. */
  warmRead: number;
  warmWritten: number;
}

/** A write was worth its premium if the read now plus the premium then cost less than plain input. */
function addAgain(before: Sighting, count: number, nowMs: number, terms: Terms, sums: Sums): void {
  const reads = Math.max(1, Math.ceil((nowMs - before.lastMs) / terms.longestMs));
  const premium = before.isKept ? 0 : terms.premium;
  const isRead = reads === 1 && terms.read + premium < 1;
  if (isRead) {
    sums.read += count;
    if (!before.isKept) sums.written += count;
  } else sums.plain += count;
  before.isKept = isRead;
  const warmPremium = before.isKeptWarm ? 0 : terms.premium;
  const isReadWarm = reads * terms.read + warmPremium < 1;
  if (isReadWarm) {
    sums.warmRead += reads * count;
    if (!before.isKeptWarm) sums.warmWritten += count;
  } else sums.warmPlain += count;
  before.isKeptWarm = isReadWarm;
}

function price(sums: Sums, model: ModelFacts, startMs: number, total: number): Limits {
  if (model.prices.kind === "unpriced") return { limitPicoUsd: 0n, warmPicoUsd: 0n };
  const rates = ratesAt(model.prices.rows, startMs, total)?.rates;
  if (rates === undefined) return { limitPicoUsd: 0n, warmPicoUsd: 0n };
  const read = rates.readPicoUsd ?? rates.inputPicoUsd;
  const writes = Object.values(rates.writePicoUsd).filter((each) => each !== null);
  const write = writes.reduce(
    (least, each) => (each < least ? each : least),
    writes[0] ?? rates.inputPicoUsd,
  );
  const premium = write > rates.inputPicoUsd ? write - rates.inputPicoUsd : 0n;
  const sum = (plain: number, reads: number, written: number): bigint =>
    BigInt(plain) * rates.inputPicoUsd + BigInt(reads) * read + BigInt(written) * premium;
  return {
    limitPicoUsd: sum(sums.plain, sums.read, sums.written),
    warmPicoUsd: sum(sums.warmPlain, sums.warmRead, sums.warmWritten),
  };
}
