// The bill of one request: tokens, where it hit, and why not further.
import type { BillableMarker, Lifetime } from "./billable-request.ts";

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
  | "brought back"
  | "below the minimum"
  | "nothing there to refresh"
  | "over the limit";

/** A closed list. */
export type Reason =
  | { readonly kind: "hit"; readonly writtenBy: string; readonly lifetime: Lifetime | null }
  | { readonly kind: "no marker" }
  | { readonly kind: "below the minimum"; readonly minimumTokens: number }
  /** No request has written a prefix of this one. */
  | { readonly kind: "never written" }
  | { readonly kind: "expired"; readonly block: number; readonly agoMs: number }
  | { readonly kind: "not readable yet"; readonly block: number; readonly writtenBy: string }
  /** A live entry exists, further back than any marker looks. */
  | { readonly kind: "beyond lookback"; readonly block: number };

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
