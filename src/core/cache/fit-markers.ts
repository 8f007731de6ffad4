// The one pass all policies share: ranked candidates → markers the provider accepts, and the dropped ones with reasons.
import type { BlockList } from "../assembly/prompt-block.ts";
import { lifetimes, type Lifetime } from "../message/usage.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { MarkerRules } from "../models/marker-rules.ts";
import type { DropReason, DroppedMarker, PlannedMarker } from "./cache-plan.ts";
import type { Ruler } from "./cache-state.ts";
import type { WireMarker } from "./find-hit.ts";

export type Candidate = Omit<PlannedMarker, "key">;

export interface Fitted {
  /** In block order. Lifetimes never increase if the provider forbids it. */
  readonly markers: readonly PlannedMarker[];
  readonly dropped: readonly DroppedMarker[];
}

export interface Fitting {
  readonly blocks: BlockList;
  readonly rules: CacheRules;
  readonly ruler: Ruler;
  /** Markers already in the request. They are not moved, changed or dropped. */
  readonly present: readonly WireMarker[];
  /** Slots already in use: a request marker, or the provider's own. */
  readonly slotsTaken: number;
}

/** Earlier candidates win. */
export function fitMarkers(candidates: readonly Candidate[], fitting: Fitting): Fitted {
  const { blocks, rules, ruler, present, slotsTaken } = fitting;
  const dropped: DroppedMarker[] = [];
  const drop = ({ block, lifetime, slot }: Candidate, reason: DropReason): void => {
    dropped.push({ block, lifetime, slot, reason });
  };
  const { markers: markerRules } = rules;
  const places = new Set(present.map(({ block }) => block));
  const taken = slotsTaken + places.size;
  const kept = new Map<number, Candidate>();
  for (const candidate of candidates) {
    if (markerRules === null) {
      drop(candidate, "the provider takes no markers");
      continue;
    }
    const block = carrierAt(blocks, candidate.block, markerRules);
    if (block === -1) drop(candidate, "no carrier at or before it");
    else if (ruler(block) < (rules.minimumTokens ?? 0)) {
      drop(candidate, "below the provider's minimum");
    } else if (kept.has(block) || places.has(block)) {
      drop(candidate, "the same place as another marker");
    } else if (kept.size + taken >= markerRules.markersMax) {
      drop(candidate, "over the provider's limit");
    } else
      kept.set(block, {
        ...candidate,
        block,
        lifetime: offeredLifetime(candidate.lifetime, rules),
      });
  }
  const inOrder = [...kept.values(), ...present.map(toPresent)].toSorted(
    (left, right) => left.block - right.block,
  );
  const ordered = markerRules?.lifetimeOrder === "any" ? inOrder : putInOrder(inOrder);
  return {
    markers: ordered.map((marker) => ({ ...marker, key: blocks.at(marker.block)?.key ?? "" })),
    dropped,
  };
}

/** The nearest block at or before a place that can carry a marker, or -1. */
export function carrierAt(blocks: BlockList, from: number, rules: MarkerRules): number {
  for (let block = from; block >= 0; block -= 1) {
    const at = blocks.at(block);
    if (at !== undefined && canCarry(at, rules)) return block;
  }
  return -1;
}

export function canCarry(
  { kind, mayCarryMarker }: { readonly kind: string; readonly mayCarryMarker: boolean },
  { carriers }: MarkerRules,
): boolean {
  return mayCarryMarker && carriers.some((carrier) => carrier === kind);
}

/** The longest offered lifetime that is not longer than this one; otherwise the shortest offered. */
export function offeredLifetime(lifetime: Lifetime, rules: CacheRules): Lifetime {
  const wanted = lifetimes.indexOf(lifetime);
  const fitting = rules.lifetimes.findLast((each) => lifetimes.indexOf(each.lifetime) <= wanted);
  return fitting?.lifetime ?? rules.lifetimes[0]?.lifetime ?? lifetime;
}

function toPresent({ block, lifetime }: WireMarker): Candidate {
  return { block, lifetime, slot: "present", reason: "was in the request" };
}

/**
 * Providers refuse a longer lifetime after a shorter one. Everything before the longer one is billed at its
 * price anyway, so raising the earlier markers costs nothing. A marker already in the request stays, and later
 * ones are lowered.
 */
function putInOrder(markers: readonly Candidate[]): readonly Candidate[] {
  let most: Lifetime = longestLifetime;
  const lowered = markers.map((marker) => {
    if (marker.slot === "present") most = shorter(most, marker.lifetime);
    return withLifetime(marker, shorter(most, marker.lifetime), "lowered", "one before it is");
  });
  let least: Lifetime = lifetimes[0];
  return lowered
    .toReversed()
    .map((marker) => {
      least = shorter(least, marker.lifetime) === least ? marker.lifetime : least;
      return withLifetime(marker, least, "raised", "one after it is");
    })
    .toReversed();
}

const longestLifetime: Lifetime = "24h";

function shorter(left: Lifetime, right: Lifetime): Lifetime {
  return lifetimes.indexOf(left) <= lifetimes.indexOf(right) ? left : right;
}

function withLifetime(
  marker: Candidate,
  lifetime: Lifetime,
  change: "raised" | "lowered",
  because: string,
): Candidate {
  if (marker.slot === "present" || marker.lifetime === lifetime) return marker;
  const reason = `${marker.reason}; ${change} to ${lifetime} because ${because}`;
  return { ...marker, lifetime, reason };
}
