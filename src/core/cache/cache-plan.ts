// What a plan says: where the markers go and why, and what the provider should read, write and charge.
import type { ContentHash } from "../hash.ts";
import type { Lifetime } from "../message/usage.ts";
import type { KnownEntry } from "./cache-state.ts";
import type { Hit } from "./find-hit.ts";

export interface CachePlan {
  /** In block order. */
  readonly markers: readonly PlannedMarker[];
  /** One marker for the whole request; null for none. */
  readonly requestMarker: Lifetime | null;
  /** Whether the provider may also end a prefix where no marker stands; null where it is not ours to say. */
  readonly mode: "implicit" | "explicit" | null;
  /** Keeps calls of one prefix together where a provider routes by it; null for none. */
  readonly cacheKey: string | null;
  readonly expected: Expectation;
  readonly dropped: readonly DroppedMarker[];
  readonly keepWarm: KeepWarm;
}

export interface PlannedMarker {
  /** Index in the block list. */
  readonly block: number;
  readonly key: ContentHash;
  readonly lifetime: Lifetime;
  readonly slot: MarkerSlot;
  /** A short sentence for people. */
  readonly reason: string;
}

/** What a marker is for. */
export type MarkerSlot =
  | "head"
  | "step"
  | "previous tail"
  | "guard"
  | "tail"
  | "rule"
  /** Was in the request already and is kept. */
  | "present";

export interface Expectation {
  /** The last block of what should be read; null for nothing. */
  readonly hitBlock: number | null;
  /** What should be found there, and how far back. */
  readonly hit: Hit | null;
  /** For each lifetime that is written, the block its span ends with. */
  readonly spanEnds: Readonly<Partial<Record<Lifetime, number>>>;
  /** Entries that live longer because of this call. */
  readonly refreshed: readonly KnownEntry[];
  /** Entries there are afterwards that were not, or not any more. */
  readonly written: readonly KnownEntry[];
  readonly readTokens: number;
  readonly writeTokens: Readonly<Partial<Record<Lifetime, number>>>;
  readonly uncachedTokens: number;
  /** Of the prompt alone; null where the model has no price. */
  readonly costPicoUsd: bigint | null;
}

export interface DroppedMarker {
  readonly block: number;
  readonly lifetime: Lifetime;
  readonly slot: MarkerSlot;
  readonly reason: DropReason;
}

export type DropReason =
  | "over the provider's limit"
  | "below the provider's minimum"
  | "no carrier at or before it"
  | "the same place as another marker"
  | "the provider takes no markers"
  | "the provider takes no marker for a whole request";

/** Whether it pays to repeat the prefix before it expires. A value; nobody acts on it here. */
export interface KeepWarm {
  readonly pays: boolean;
  /** When to repeat, after the start of this call; null where the provider has no way to. */
  readonly afterMs: number | null;
  /** What is saved on average, in input tokens; below zero where it costs. */
  readonly gainTokens: number;
  readonly reason: string;
}
