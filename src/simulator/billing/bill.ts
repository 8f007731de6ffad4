// Billing and its bills: tokens, where a request hit, and why not further.
import type {
  BillableBlock,
  BillableMarker,
  BillableRequest,
  KeyFrame,
  Lifetime,
} from "./billable-request.ts";

export interface Billing {
  /** Bills a request at its start. Its writes become readable when its response begins. */
  open(request: BillableRequest): OpenBill;
  /** Prefixes that clients store under a name. */
  readonly stored: StoredPrefixes;
  entries(nowMs: number): EntryView[];
  clear(): void;
}

/** The bill of a request that is not answered yet. Its response settles what it wrote. */
export interface OpenBill {
  readonly bill: Bill;
  /** Call at the first byte of the response: its writes become readable. */
  begin(): void;
  /** Call at the last byte of the response; lifetimes can count from it. */
  end(atMs: number): void;
  /** Call if there is no response: nothing is written, and no lifetime is extended. */
  abandon(): void;
}

export interface Bill {
  readonly requestId: string;
  readonly totalTokens: number;
  readonly readTokens: number;
  readonly writeTokens: Readonly<Partial<Record<Lifetime, number>>>;
  readonly uncachedTokens: number;
  /** Last block of the prefix found. A provider that reads in whole steps may read less than that. */
  readonly hitBlock: number | null;
  readonly markers: readonly BilledMarker[];
  readonly reason: Reason;
}

export interface BilledMarker extends BillableMarker {
  /** Tokens of the prefix that ends there. */
  readonly tokens: number;
  /** Lookback position, counted from the start. */
  readonly position: number;
  readonly outcome: MarkerOutcome;
}

export type MarkerOutcome =
  | "hit"
  | "written"
  | "refreshed"
  | "below the minimum"
  | "nothing there to refresh"
  | "over the limit";

export type Reason =
  | { readonly kind: "hit"; readonly writtenBy: string; readonly lifetime: Lifetime | null }
  | { readonly kind: "no marker" }
  | { readonly kind: "below the minimum"; readonly minimumTokens: number }
  /** No request has written a prefix of this one. */
  | { readonly kind: "never written" }
  | { readonly kind: "expired"; readonly block: number; readonly agoMs: number }
  | { readonly kind: "not readable yet"; readonly block: number; readonly writtenBy: string }
  /** A live entry exists, further back than any marker looks. */
  | { readonly kind: "beyond lookback"; readonly block: number }
  /** The request names a prefix that its client stored, or stores one. */
  | { readonly kind: "stored prefix"; readonly name: string; readonly isRead: boolean };

/** An entry as the control routes show it. */
export interface EntryView {
  readonly key: string;
  /** Null if the provider names no lifetimes. */
  readonly lifetime: Lifetime | null;
  readonly tokens: number;
  readonly writtenBy: string;
  readonly expiresMs: number;
  readonly state: "live" | "expired" | "not readable yet";
}

/** Prefixes that clients store under a name: found by that name until they expire or are removed. */
export interface StoredPrefixes {
  /** Bills the request that stores it: every token at the plain input price. */
  add(prefix: StoredPrefix): OpenBill;
  /** False if it is gone already: what is gone stays gone. */
  keepUntil(name: string, expiresMs: number, nowMs: number): boolean;
  /** False if it is gone already. */
  remove(name: string, nowMs: number): boolean;
  views(nowMs: number): StoredView[];
}

/** A prefix to store, as the request that stores it. */
export interface StoredPrefix extends KeyFrame {
  /** Unique for all workspaces. */
  readonly name: string;
  /** The id of the request. */
  readonly id: string;
  readonly blocks: readonly BillableBlock[];
  readonly startMs: number;
  readonly expiresMs: number;
}

/** A stored prefix as the control routes show it. It costs as long as it lives, read or not. */
export interface StoredView {
  readonly name: string;
  readonly workspace: string;
  readonly model: string;
  readonly tokens: number;
  readonly writtenBy: string;
  readonly storedMs: number;
  readonly expiresMs: number;
  readonly state: "live" | "expired" | "removed";
  /** The time it has lived so far. */
  readonly billedMs: number;
  /** Exact dollars for that time; null if the model's storage has no price. */
  readonly costUsd: string | null;
}
