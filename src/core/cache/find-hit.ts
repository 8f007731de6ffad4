// The known entry that the provider should find for a set of markers, by its published lookup rules.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { Lifetime } from "../message/usage.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { Lookback } from "../models/marker-rules.ts";
import { isLive, type KnownEntry } from "./cache-state.ts";

export interface Hit {
  readonly block: number;
  /** Every live entry under its key. */
  readonly entries: readonly KnownEntry[];
  /** How many positions before the marker that found it. 0 is the marker's own place. */
  readonly positionsBack: number;
}

export interface WireMarker {
  readonly block: number;
  readonly lifetime: Lifetime;
}

/** Known entries by the block they end with. */
export interface EntriesByBlock {
  readonly size: number;
  get(block: number): readonly KnownEntry[] | undefined;
  /** The blocks where any end; one may come several times. */
  keys(): Iterable<number>;
}

export interface Lookup {
  readonly blocks: BlockList;
  readonly entries: EntriesByBlock;
  readonly nowMs: number;
}

/** The live entries of this prefix that end with a block. Null for none. */
export function liveAt(
  { blocks, entries, nowMs }: Lookup,
  block: number,
): readonly KnownEntry[] | null {
  const there = entries.get(block);
  if (there === undefined) return null;
  const key = blocks.at(block)?.key;
  const live = there.filter((entry) => entry.key === key && isLive(entry, nowMs));
  return live.length === 0 ? null : live;
}

/** The longest live entry that these markers can find. They must be in block order and long enough to count. */
export function findHit(
  lookup: Lookup,
  markers: readonly WireMarker[],
  { rules, mode }: { readonly rules: CacheRules; readonly mode: "implicit" | "explicit" },
): Hit | null {
  if (lookup.entries.size === 0) return null;
  const lookback = rules.markers?.lookback ?? null;
  if (lookback?.kind === "positions") return findByPositions(lookup, markers, lookback);
  if (lookback?.kind === "boundaries" || rules.automatic?.takesMarkerSlot === true) {
    return findByBoundaries(lookup, markers, lookback ?? ownBoundaries, mode);
  }
  return rules.automatic === null ? null : findLongest(lookup);
}

type PositionLookback = Extract<Lookback, { readonly kind: "positions" }>;
type BoundaryLookback = Extract<Lookback, { readonly kind: "boundaries" }>;

/** For a provider that ends prefixes by itself and takes no markers. */
const ownBoundaries: BoundaryLookback = {
  kind: "boundaries",
  explicitFirst: 0,
  explicitLatest: 0,
  implicitEarlier: 20,
};

function findByPositions(
  lookup: Lookup,
  markers: readonly WireMarker[],
  lookback: PositionLookback,
): Hit | null {
  for (const marker of markers.toReversed()) {
    let positionsBack = 0;
    for (let block = marker.block; block >= 0; block -= 1) {
      if (block < marker.block && !sharesPosition(lookup.blocks, block, lookback)) {
        positionsBack += 1;
      }
      if (positionsBack >= lookback.positions) break;
      const entries = liveAt(lookup, block);
      if (entries !== null) return { block, entries, positionsBack };
    }
  }
  return null;
}

/** Whether a block and the next one count as one position. */
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
  lookup: Lookup,
  markers: readonly WireMarker[],
  lookback: BoundaryLookback,
  mode: "implicit" | "explicit",
): Hit | null {
  const { blocks } = lookup;
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
    const entries = liveAt(lookup, block);
    if (entries !== null) return { block, entries, positionsBack: 0 };
  }
  return null;
}

/** The ends of the latest messages where a provider may end a prefix by itself, latest first. */
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

/** A user message, or the last of adjacent tool results. */
function isEligible(blocks: BlockList, block: number): boolean {
  const at = blocks.at(block);
  if (at?.role !== "user" || !at.endsMessage) return false;
  return at.kind !== "tool_result" || blocks.at(block + 1)?.kind !== "tool_result";
}

/** The last system block before the first message, or -1. */
function initialEnd(blocks: BlockList): number {
  let last = -1;
  for (let block = 0; block < blocks.length; block += 1) {
    const role = blocks.at(block)?.role;
    if (role !== "tools" && role !== "system") break;
    if (role === "system") last = block;
  }
  return last;
}

/** For a provider that may find any prefix it was sent. */
function findLongest(lookup: Lookup): Hit | null {
  let longest: Hit | null = null;
  for (const block of lookup.entries.keys()) {
    if (block <= (longest?.block ?? -1)) continue;
    const entries = liveAt(lookup, block);
    if (entries !== null) longest = { block, entries, positionsBack: 0 };
  }
  return longest;
}
