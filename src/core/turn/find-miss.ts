// Whether a call read less from the cache than its session had sent before, and why.
import { isLive, type CacheState } from "../cache/cache-state.ts";
import type { PayloadOf } from "../events/event.ts";
import { toUsd } from "../events/payload-spelling.ts";
import type { CallEntry } from "../ledger/call-entry.ts";
import { findCost } from "../models/cost.ts";
import { noUsage } from "../message/usage.ts";
import type { Session } from "../session/session.ts";

/** Smaller shortfalls are rounding: by our counts, or by the provider's cache granularity. */
const lostTokensMin = 1024;

/** Null if nothing was lost, or the provider does not report cache reads. */
export function findMiss(before: Session, entry: CallEntry): PayloadOf<"cache.miss"> | null {
  const { verdict, usage, startMs } = entry;
  const { cache, model } = before;
  if (verdict === null || verdict.kind === "not told" || usage === null) return null;
  if (asksForNothing(entry, model)) return null;
  const sentBefore = cache.measured?.tokens ?? 0;
  const expected = Math.max(verdict.expectedTokens, sentBefore);
  const lost = expected - usage.cacheReadTokens;
  if (lost < lostTokensMin) return null;
  const isPlanned = verdict.kind !== "read less";
  if (isPlanned && hasLiveTail(cache, startMs)) return null;
  return {
    cause: isPlanned ? "lifetime expired" : "provider lost it",
    detail: isPlanned ? `after ${Math.round(gapMs(cache, startMs) / 60_000)} min` : null,
    expected_read_tokens: expected,
    reported_read_tokens: usage.cacheReadTokens,
    lost_tokens: lost,
    lost_cost_usd: toUsd(lossOf(lost, model, startMs)),
    block_tier: null,
    block_label: null,
    block_index: null,
    block_byte_offset: null,
    block_before_hash: null,
    block_after_hash: null,
  };
}

/** With a provider that caches only marked prefixes, a request without markers expects no cache read. */
function asksForNothing({ plan }: CallEntry, { cache }: Session["model"]): boolean {
  const isMarked = plan.markers.length > 0 || plan.requestMarker !== null;
  return !isMarked && (cache.marking === "explicit" || plan.mode === "explicit");
}

/** Whether the last sent prefix is still cached: then an unread part was not expected to be read. */
function hasLiveTail({ entries, lastTail }: CacheState, nowMs: number): boolean {
  return entries.some((entry) => entry.key === lastTail?.key && isLive(entry, nowMs));
}

function gapMs({ lastStartMs }: CacheState, startMs: number): number {
  return lastStartMs === null ? 0 : startMs - lastStartMs;
}

/** How much more these tokens cost as plain input than as a cache read. */
function lossOf(tokens: number, model: Session["model"], at: number): bigint | null {
  const fresh = findCost({ ...noUsage, uncachedTokens: tokens }, model, { at }).cost;
  const read = findCost({ ...noUsage, cacheReadTokens: tokens }, model, { at }).cost;
  return fresh === null || read === null ? null : fresh.totalPicoUsd - read.totalPicoUsd;
}
