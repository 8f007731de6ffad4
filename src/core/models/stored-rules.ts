// Prefixes that a client has a provider keep under a name: for how long, from which size, and what keeping them costs.
import { StrataError } from "../strata-error.ts";
import { toDay, toMs, type Moment } from "./moment.ts";
import { parseUsdPerMTok } from "./pico-usd.ts";
import * as read from "./read-fields.ts";

export interface StoredRules {
  /** How long it is kept if the client does not say. Null if unpublished. */
  readonly defaultSeconds: number | null;
  /** A smaller one is refused. Null if unpublished. */
  readonly minimumTokens: number | null;
  /** The earliest first. Empty if the vendor publishes no price. */
  readonly storage: readonly StoragePrice[];
}

export interface StoragePrice {
  /** The first day, UTC. Null for the price that is valid from the start. */
  readonly from: string | null;
  /** Whole pico-dollars for a token that is kept for an hour. */
  readonly picoUsdPerTokenHour: bigint;
}

export function parseStored(value: unknown, place: string): StoredRules {
  const { minimum, ...rules } = read.shape(value, place, {
    defaultSeconds: read.nullable(read.count),
    minimum: read.nullable(read.count),
    storage: read.orElse([], read.listOf(parseStoragePrice)),
  });
  rules.storage.forEach(({ from }, index) => {
    const before = rules.storage[index - 1]?.from ?? "";
    if (index === 0 ? from === null : from !== null && from > before) return;
    throw new StrataError(
      "config-invalid",
      `${place}.storage[${index}].from is misplaced`,
      "put the earliest price first, and date every one but the first",
    );
  });
  return { ...rules, minimumTokens: minimum };
}

function parseStoragePrice(value: unknown, place: string): StoragePrice {
  const { from, usdPerMTokHour } = read.shape(value, place, {
    from: read.nullable(read.day),
    usdPerMTokHour: parseUsdPerMTok,
  });
  return { from, picoUsdPerTokenHour: usdPerMTokHour };
}

/** The price in force at a time; null if none is published. */
export function storagePriceAt({ storage }: StoredRules, at: Moment): StoragePrice | null {
  const day = toDay(at);
  return storage.findLast(({ from }) => from === null || from <= day) ?? storage[0] ?? null;
}

/** A stored prefix over a time. */
export interface StoredSpan {
  readonly tokens: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** What keeping it costs, at the price of each day, rounded down once; null if no price is published. */
export function storageCost(span: StoredSpan, { storage }: StoredRules): bigint | null {
  if (storage.length === 0) return null;
  const { tokens, fromMs } = span;
  const starts = storage.map(({ from }) => (from === null ? -Infinity : (toMs(from) ?? 0)));
  let picoMs = 0n;
  for (const [index, { picoUsdPerTokenHour }] of storage.entries()) {
    const start = Math.max(fromMs, starts[index] ?? 0);
    const end = Math.min(span.toMs, starts[index + 1] ?? Infinity);
    if (end > start) picoMs += BigInt(tokens) * BigInt(end - start) * picoUsdPerTokenHour;
  }
  return picoMs / msPerHour;
}

const msPerHour = 3_600_000n;
