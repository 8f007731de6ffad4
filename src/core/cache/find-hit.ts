// Which known entry the provider should find for a set of markers, by its published way of looking.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { Lifetime } from "../message/usage.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { Lookback } from "../models/marker-rules.ts";
import type { KnownEntry } from "./cache-state.ts";

export interface Hit {
  readonly block: number;
  /** Every live entry under its key. */
  readonly entries: readonly KnownEntry[];
  /** How many positions before the marker that found it; 0 for the marker's own place. */
  readonly positionsBack: number;
}

/** A marker as the provider sees it. */
export interface WireMarker {
  readonly block: number;
  readonly lifetime: Lifetime;
}

export type LiveEntries = ReadonlyMap<string, readonly KnownEntry[]>;

/** The longest live entry that these markers, in block order and long enough to count, look at. */
export function findHit(
  blocks: BlockList,
  markers: readonly WireMarker[],
  live: LiveEntries,
  { rules, mode }: { readonly rules: CacheRules; readonly mode: "implicit" | "explicit" },
): Hit | null {
  if (live.size === 0) return null;
  const lookback = rules.markers?.lookback ?? null;
  if (lookback?.kind === "positions") return findByPositions(blocks, markers, live, lookback);
  if (lookback?.kind === "boundaries" || rules.automatic?.takesMarkerSlot === true) {
    return findByBoundaries(blocks, markers, live, lookback ?? ownBoundaries, mode);
  }
  return rules.automatic === null ? null : findLongest(blocks, live);
}

type PositionLookback = Extract<Lookback, { readonly kind: "positions" }>;
type BoundaryLookback = Extract<Lookback, { readonly kind: "boundaries" }>;

/** Where a provider ends prefixes by itself and takes no markers. */
const ownBoundaries: BoundaryLookback = {
  kind: "boundaries",
  explicitFirst: 0,
  explicitLatest: 0,
  implicitEarlier: 20,
};

function findByPositions(
  blocks: BlockList,
  markers: readonly WireMarker[],
  live: LiveEntries,
  lookback: PositionLookback,
): Hit | null {
  for (const marker of markers.toReversed()) {
    let positionsBack = 0;
    for (let block = marker.block; block >= 0; block -= 1) {
      if (block < marker.block && !sharesPosition(blocks, block, lookback)) positionsBack += 1;
      if (positionsBack >= lookback.positions) break;
      const entries = live.get(blocks.at(block)?.key ?? "");
      if (entries !== undefined) return { block, entries, positionsBack };
    }
  }
  return null;
}

/** Whether a block and the one after it count as one position. */
export function sharesPosition(
  blocks: BlockList,
  block: number,
  { counting }: PositionLookback,
): boolean {
  if (counting === "every block") return false;
  const kind = blocks.at(block)?.kind;
  return (kind === "tool_use" || kind === "tool_result") && kind === blocks.at(block + 1)?.kind;
}

function findByBoundaries(
  blocks: BlockList,
  markers: readonly WireMarker[],
  live: LiveEntries,
  lookback: BoundaryLookback,
  mode: "implicit" | "explicit",
): Hit | null {
  const { explicitFirst, explicitLatest, implicitEarlier } = lookback;
  const looked = [
    ...markers.slice(0, explicitFirst),
    ...(explicitLatest === 0 ? [] : markers.slice(-explicitLatest)),
  ].map(({ block }) => block);
  if (mode === "implicit") {
    looked.push(...lastEndings(blocks, implicitEarlier + 1));
    const initial = initialEnd(blocks);
    if (initial !== -1) looked.push(initial);
  }
  for (const block of looked.toSorted((left, right) => right - left)) {
    const entries = live.get(blocks.at(block)?.key ?? "");
    if (entries !== undefined) return { block, entries, positionsBack: 0 };
  }
  return null;
}

/** Ends of the latest messages at which a provider may end a prefix by itself, the latest first. */
export function lastEndings(blocks: BlockList, countMax: number): number[] {
  const endings: number[] = [];
  for (let block = blocks.length - 1; block >= 0 && endings.length < countMax; block -= 1) {
    const role = blocks.at(block)?.role;
    if (role === "tools") break;
    if (isEligible(blocks, block)) endings.push(block);
  }
  if (endings.length > 0) return endings;
  const initial = initialEnd(blocks);
  return initial === -1 ? [] : [initial];
}

/** A message of the user, or the last of the tool results that come together. */
function isEligible(blocks: BlockList, block: number): boolean {
  const at = blocks.at(block);
  if (at?.role !== "user" || !at.endsMessage) return false;
  return at.kind !== "tool_result" || blocks.at(block + 1)?.kind !== "tool_result";
}

/** The last system block before the first message; -1 for none. */
function initialEnd(blocks: BlockList): number {
  let last = -1;
  for (let block = 0; block < blocks.length; block += 1) {
    const role = blocks.at(block)?.role;
    if (role !== "tools" && role !== "system") break;
    if (role === "system") last = block;
  }
  return last;
}

/** Where any prefix that was sent may be found again. */
function findLongest(blocks: BlockList, live: LiveEntries): Hit | null {
  let longest: Hit | null = null;
  for (const entries of live.values()) {
    const block = entries[0]?.block ?? -1;
    if (block <= (longest?.block ?? -1) || blocks.at(block)?.key !== entries[0]?.key) continue;
    longest = { block, entries, positionsBack: 0 };
  }
  return longest;
}
