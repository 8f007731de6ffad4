// Why a request read what it read: one reason from a closed list.
import type { BilledMarker, Reason } from "./bill.ts";
import { isLive, touchedMs, type Entry, type EntryStore } from "./entry-store.ts";
import type { Examined, Hit } from "./find-hit.ts";
import type { BillingOptions } from "./options.ts";

export interface Circumstances {
  readonly store: EntryStore;
  /** Writes of requests whose responses have not begun. */
  readonly pending: ReadonlyMap<string, Entry>;
  readonly options: BillingOptions;
}

export function explainMiss(
  examined: Examined,
  hit: Hit | null,
  markers: readonly BilledMarker[],
  circumstances: Circumstances,
): Reason {
  const entry = hit?.entries.at(-1);
  if (entry !== undefined) {
    return { kind: "hit", writtenBy: entry.writtenBy, lifetime: entry.lifetime };
  }
  if (markers.length === 0) return { kind: "no marker" };
  if (examined.usable.length === 0) {
    const minimumTokens = examined.request.model.cache.minimumTokens ?? 0;
    return { kind: "below the minimum", minimumTokens };
  }
  return explainUnread(examined, circumstances);
}

/** Finds the longest prefix ever written and says why it could not be read. */
function explainUnread(
  { request, keys }: Examined,
  { store, pending, options }: Circumstances,
): Reason {
  for (let block = keys.length - 1; block >= 0; block -= 1) {
    const key = keys[block] ?? "";
    const entry = store.at(key).at(-1);
    const waiting = pending.get(key);
    if (entry !== undefined && isLive(entry, request.startMs, options)) {
      return { kind: "beyond lookback", block };
    }
    if (waiting !== undefined) {
      return { kind: "not readable yet", block, writtenBy: waiting.writtenBy };
    }
    if (entry !== undefined) {
      const agoMs = request.startMs - touchedMs(entry) - entry.lifetimeMs;
      return { kind: "expired", block, agoMs };
    }
  }
  return { kind: "never written" };
}
