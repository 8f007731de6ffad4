// Finds the entry a request reads, the longest live one within reach of its markers or boundaries, or why there is none.
import type { Lookback } from "../../core/models/marker-rules.ts";
import type { BillableMarker, BillableRequest, KeyedPrompt, Lifetime } from "./billable-request.ts";
import { isLive, touchedMs, type Entry, type EntryStore } from "./entry-store.ts";
import type { BillingOptions } from "./options.ts";
import type { BilledMarker, Reason } from "./bill.ts";

export interface Books {
  readonly store: EntryStore;
  /** Writes of requests whose responses have not begun, by key. */
  readonly pending: Map<string, Entry>;
  readonly options: BillingOptions;
}

export interface Hit {
  readonly block: number;
  readonly entries: readonly Entry[];
}

export interface Examined extends KeyedPrompt {
  readonly request: BillableRequest;
  /** Markers that count and whose prefix reaches the minimum. */
  readonly usable: readonly BillableMarker[];
}

type PositionLookback = Extract<Lookback, { readonly kind: "positions" }>;
type BoundaryLookback = Extract<Lookback, { readonly kind: "boundaries" }>;

/** Looks back from each marker, the last one first, so the first hit is the longest. */
export function findByPositions(
  examined: Examined,
  lookback: PositionLookback,
  books: Books,
): Hit | null {
  const { request, keys, positions, usable } = examined;
  const { crossLifetime, entryInsideRun } = books.options;
  const isSkippingRuns = entryInsideRun === "only at the run's end";
  // What one marker did not find, an earlier one does not find there either, unless each looks for something else.
  const isSameSearch = crossLifetime === "found" && !isSkippingRuns;
  let firstSeen = Infinity;
  for (const marker of usable.toReversed()) {
    const oldest = (positions[marker.block] ?? 0) - lookback.positions + 1;
    const from = isSameSearch ? Math.min(marker.block, firstSeen - 1) : marker.block;
    for (let block = from; block >= 0 && (positions[block] ?? 0) >= oldest; block -= 1) {
      const insideRun = block < marker.block && positions[block] === positions[block + 1];
      if (insideRun && isSkippingRuns) continue;
      const wanted = crossLifetime === "found" ? null : marker.lifetime;
      const entries = liveAt(keys[block] ?? "", request.startMs, wanted, books);
      if (entries.length > 0) return { block, entries };
      firstSeen = block;
    }
  }
  return null;
}

/** A block to look up, and the lifetime to find if only the marker's own lifetime matches. */
interface Candidate {
  readonly block: number;
  readonly lifetime: Lifetime | undefined;
}

/** Looks only at marked blocks and implicit boundaries, the longest first. */
export function findByBoundaries(
  examined: Examined,
  lookback: BoundaryLookback,
  books: Books,
): Hit | null {
  const { request, keys } = examined;
  const { markers } = request;
  const candidates: readonly Candidate[] = [
    ...markers.slice(0, lookback.explicitFirst),
    ...(lookback.explicitLatest === 0 ? [] : markers.slice(-lookback.explicitLatest)),
    ...(request.mode === "implicit" ? implicitCandidates(request, lookback) : []),
  ];
  // Sorting is stable: on one block a marker comes before the provider's own boundary.
  for (const { block, lifetime } of candidates.toSorted(
    (left, right) => right.block - left.block,
  )) {
    const wanted = books.options.crossLifetime === "found" ? null : (lifetime ?? null);
    const entries = liveAt(keys[block] ?? "", request.startMs, wanted, books);
    if (entries.length > 0) return { block, entries };
  }
  return null;
}

/** The ends of the latest eligible message, of some earlier ones, and of the initial group. */
function implicitCandidates(
  { blocks, implicitLifetime, model }: BillableRequest,
  lookback: BoundaryLookback,
): Candidate[] {
  const lifetime = implicitLifetime ?? model.cache.lifetimes[0]?.lifetime;
  const endings: number[] = [];
  for (let block = blocks.length - 1; block >= 0; block -= 1) {
    if (endings.length > lookback.implicitEarlier) break;
    if (blocks[block]?.boundary === "eligible message") endings.push(block);
  }
  const initial = blocks.findIndex(({ boundary }) => boundary === "initial group");
  return [...endings, ...(initial === -1 ? [] : [initial])].map((block) => ({ block, lifetime }));
}

function liveAt(
  key: string,
  nowMs: number,
  lifetime: Lifetime | null,
  { store, options }: Books,
): readonly Entry[] {
  const entries = store.at(key);
  // Most prefixes have none, and a long prompt has many prefixes.
  if (entries.length === 0) return entries;
  return entries.filter(
    (entry) => (lifetime === null || entry.lifetime === lifetime) && isLive(entry, nowMs, options),
  );
}

export function explainMiss(
  examined: Examined,
  hit: Hit | null,
  markers: readonly BilledMarker[],
  books: Books,
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
  return explainUnread(examined, books);
}

/** Finds the longest prefix ever written and says why it could not be read. */
function explainUnread({ request, keys }: Examined, { store, pending, options }: Books): Reason {
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
