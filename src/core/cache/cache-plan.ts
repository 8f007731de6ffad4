// A cache plan: where the markers go and why, and what the provider should read, write and charge.
import type { ContentHash } from "../hash.ts";
import type { Lifetime } from "../message/usage.ts";
import type { LeadingAccount } from "./accounts.ts";
import type { KnownEntry } from "./cache-state.ts";
import type { Hit } from "./find-hit.ts";

export interface CachePlan {
  readonly markers: readonly PlannedMarker[];
  /** One marker for the whole request. Null for none. */
  readonly requestMarker: Lifetime | null;
  /** Whether the provider may also end a prefix without a marker. Null if we cannot choose. */
  readonly mode: "implicit" | "explicit" | null;
  /** Keeps calls with one prefix together on providers that route by it. Null for none. */
  readonly cacheKey: string | null;
  readonly expected: Expectation;
  readonly dropped: readonly DroppedMarker[];
  readonly keepWarm: KeepWarm;
  /** The stored prefix that the call begins with; absent for none. */
  readonly stored?: PlannedPrefix;
  /** Which account led before this call, and by how much. Absent before the first call, and for fixed rules, which do not look. */
  readonly account?: LeadingAccount;
}

/** A prefix that the provider keeps under a name, as a call uses it. */
export interface PlannedPrefix {
  /** Our id of the resource, as the ledger has it. */
  readonly id: string;
  /** The provider's name for it. */
  readonly name: string;
  /** How many blocks of the prompt it holds. */
  readonly blocks: number;
  /** The provider's count. */
  readonly tokens: number;
}

/** A plan that asks for nothing. */
export const noPlan: CachePlan = {
  markers: [],
  requestMarker: null,
  mode: null,
  cacheKey: null,
  expected: {
    hitBlock: null,
    hit: null,
    spanEnds: {},
    refreshed: [],
    written: [],
    readTokens: 0,
    writeTokens: {},
    uncachedTokens: 0,
    costPicoUsd: null,
  },
  dropped: [],
  keepWarm: { pays: false, afterMs: null, gainTokens: 0, reason: "nothing to keep" },
};

export interface PlannedMarker {
  /** Index in the block list. */
  readonly block: number;
  readonly key: ContentHash;
  readonly lifetime: Lifetime;
  readonly slot: MarkerSlot;
  /** A short sentence for people. */
  readonly reason: string;
}

export type MarkerSlot =
  | "head"
  | "step"
  | "previous tail"
  | "guard"
  | "tail"
  | "rule"
  /** Was already in the request and stays. */
  | "present";

export interface Expectation extends ExpectedBill {
  /** The last block that should be read. Null for none. */
  readonly hitBlock: number | null;
  /** The cost of the prompt alone. Null if the model has no price. */
  readonly costPicoUsd: bigint | null;
}

/** What the provider should read, write and keep alive for a request. */
export interface ExpectedBill {
  /** What should be found, and how far back. Null for nothing. */
  readonly hit: Hit | null;
  /** For each written lifetime, the block at the end of its span. */
  readonly spanEnds: Readonly<Partial<Record<Lifetime, number>>>;
  /** Entries whose lifetime this call restarts. */
  readonly refreshed: readonly KnownEntry[];
  /** New entries after the call. */
  readonly written: readonly KnownEntry[];
  readonly readTokens: number;
  readonly writeTokens: Readonly<Partial<Record<Lifetime, number>>>;
  readonly uncachedTokens: number;
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
  | "the provider takes no marker for a whole request"
  | "a one-shot without tools sends no second call";

/** Whether it pays to repeat the prefix before it expires. A recommendation; the planner sends nothing. */
export interface KeepWarm {
  readonly pays: boolean;
  /** When to repeat, counted from the start of this call. Null if the provider offers no way. */
  readonly afterMs: number | null;
  /** The average saving in input tokens. Negative if it costs more. */
  readonly gainTokens: number;
  readonly reason: string;
}
