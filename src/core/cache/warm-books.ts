// What keeping a session warm has cost and saved so far, beside what its calls cost. It bounds what may still be lost.
import { isObject } from "../message/fields.ts";
import { noUsage, type Usage } from "../message/usage.ts";
import { findCost, type PricedModel } from "../models/cost.ts";
import type { KeptPrefix } from "./kept-prefix.ts";

export interface WarmBooks {
  /** What the calls of turns cost. */
  readonly paidPicoUsd: bigint;
  /** What refreshes cost. */
  readonly spentPicoUsd: bigint;
  /** What calls read that would have expired without a refresh, against writing it again. */
  readonly savedPicoUsd: bigint;
  /** Null if no request without a turn was sent since the last call. */
  readonly since: SinceCall | null;
}

/** The state before the first refresh after a call. */
export interface SinceCall {
  /** The start of the last call of a turn; null if there was none. */
  readonly callMs: number | null;
  /** What the provider kept then; null after a prewarming. */
  readonly kept: KeptPrefix | null;
}

export const noWarmBooks: WarmBooks = {
  paidPicoUsd: 0n,
  spentPicoUsd: 0n,
  savedPicoUsd: 0n,
  since: null,
};

/** The start of the last call of a turn; null before the first. `lastStartMs`: of the last request of any kind. */
export function lastCallMs({ since }: WarmBooks, lastStartMs: number | null): number | null {
  return since === null ? lastStartMs : since.callMs;
}

export interface BookedCall {
  readonly usage: Usage;
  readonly costPicoUsd: bigint | null;
  readonly startMs: number;
}

/** After a call of a turn. A refresh saved something if the call read what had otherwise expired. */
export function bookCall(
  books: WarmBooks,
  { usage, costPicoUsd, startMs }: BookedCall,
  model: PricedModel,
): WarmBooks {
  const kept = books.since?.kept ?? null;
  const saved = kept === null ? 0n : savedBy(kept, usage, startMs, model);
  return {
    ...books,
    paidPicoUsd: books.paidPicoUsd + (costPicoUsd ?? 0n),
    savedPicoUsd: books.savedPicoUsd + saved,
    since: null,
  };
}

function savedBy(kept: KeptPrefix, usage: Usage, startMs: number, model: PricedModel): bigint {
  if (startMs <= kept.expiresMs) return 0n;
  const left = startMs <= kept.longUntilMs ? kept.longTokens : 0;
  const tokens = Math.min(usage.cacheReadTokens, kept.tokens) - left;
  if (tokens <= 0) return 0n;
  const price = (bill: Partial<Usage>): bigint =>
    findCost({ ...noUsage, ...bill }, model, { at: startMs }).cost?.totalPicoUsd ?? 0n;
  const written = price({ cacheWriteTokens: { [kept.lifetime]: tokens } });
  return written - price({ cacheReadTokens: tokens });
}

/** After a refresh. */
export function bookRefresh(
  books: WarmBooks,
  costPicoUsd: bigint | null,
  first: SinceCall,
): WarmBooks {
  return {
    ...books,
    spentPicoUsd: books.spentPicoUsd + (costPicoUsd ?? 0n),
    since: books.since ?? first,
  };
}

/** Money as text: JSON numbers are not exact at that size. What was paid is the session's cost in the ledger. */
export interface KeptBooks extends Pick<WarmBooks, "since"> {
  readonly spent: string;
  readonly saved: string;
}

/** Null for a session that was never kept warm. */
export function keepBooks({ spentPicoUsd, savedPicoUsd, since }: WarmBooks): KeptBooks | null {
  if (spentPicoUsd === 0n && savedPicoUsd === 0n && since === null) return null;
  return { spent: `${spentPicoUsd}`, saved: `${savedPicoUsd}`, since };
}

/** Reads stored JSON. Missing or invalid values count as nothing. */
export function readBooks(kept: unknown): WarmBooks {
  if (!isObject(kept)) return noWarmBooks;
  return {
    ...noWarmBooks,
    spentPicoUsd: readMoney(kept["spent"]),
    savedPicoUsd: readMoney(kept["saved"]),
    since: isSince(kept["since"]) ? kept["since"] : null,
  };
}

function readMoney(text: unknown): bigint {
  return typeof text === "string" && /^-?\d{1,30}$/.test(text) ? BigInt(text) : 0n;
}

function isSince(value: unknown): value is SinceCall {
  if (!isObject(value)) return false;
  const { callMs, kept } = value;
  return (callMs === null || typeof callMs === "number") && (kept === null || isObject(kept));
}
