// The parts of an analysis: a parsed question, answered from one snapshot of the ledger as ranked rows.
import type { Catalogue } from "../core/models/catalogue.ts";
import type { CellSource } from "../edge/stores/rollups/read-cells.ts";
import type { Database, Snapshot } from "../edge/stores/sql/database.ts";
import type { TimeWindow } from "./time-window.ts";

/** What analytics needs from a ledger's database. Both drivers have it. Nothing is written. */
export type AnalyticsSource = Pick<Database, "kind" | "snapshot" | "clockSql">;

/** What an answer depends on besides the ledger. */
export interface AnalyticsWorld {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Prices for computing savings. */
  readonly catalogue: Catalogue;
  /** Reads no stored sums: a recomputation, to compare with. */
  readonly fromRawRows?: true;
  /** Only rows of this key of the gateway. For analyses that are for keys. */
  readonly gatewayKey?: string;
}

/** Raw text of a command line or a query string. */
export interface AnalyticsQuery {
  readonly from?: string;
  readonly to?: string;
  readonly groupBy?: string;
  /** A name, optionally with `:asc` or `:desc`. */
  readonly order?: string;
  readonly limit?: string;
  /** With `groupBy` day or hour: at most so many buckets, from 1 to 2000; 2000 by default. */
  readonly points?: string;
  /** The model to compare prices with. */
  readonly baseline?: string;
  /** The id of one turn, to show it call by call. */
  readonly turn?: string;
}

export interface Analysis<Figures extends object = object> {
  readonly summary: string;
  /** What rows can be grouped by; the first is the default. */
  readonly groupBys: readonly string[];
  /** Figures rows can be ordered by; the first is the default, largest first. */
  readonly orders: readonly string[];
  /** Parameters besides window, group, order and limit. */
  readonly takes?: readonly ("baseline" | "turn")[];
  /** Can be answered from the rows of one key of the gateway. */
  readonly isForKeys?: true;
  ask(ledger: LedgerSnapshot, question: Question, world: AnalyticsWorld): Promise<Found<Figures>>;
}

export interface LedgerSnapshot extends Pick<Snapshot, "query"> {
  readonly clockSql: string;
  /** Sums that are stored, and those of raw rows. */
  readonly cells: CellSource;
  /** Null: the rows of all keys of the gateway, and of those without one. */
  readonly gatewayKey: string | null;
}

/** A parsed and valid query. */
export interface Question {
  readonly window: TimeWindow;
  readonly groupBy: string;
  readonly order: { readonly by: string; readonly isDescending: boolean };
  readonly limit: number;
  readonly baseline: string | null;
  readonly turn: string | null;
}

export interface Found<Figures extends object = object> {
  readonly rows: readonly FoundRow<Figures>[];
  /** Rows the analysis itself left out. */
  readonly leftOut?: number;
  /** Warnings about the figures. */
  readonly notes?: readonly string[];
  /** The window of the answer if it differs from that of the question. */
  readonly window?: TimeWindow;
}

export interface FoundRow<Figures extends object = object> {
  /** The row's group. Breaks ties, so that both databases give the same order. */
  readonly label: Label;
  readonly figures: Figures;
  /** The values to order by where the figure of that name is rounded or has another name. */
  readonly exact?: Readonly<Record<string, bigint>>;
}

/** A row whose figures are made when they are first asked for: of 100,000 sessions a hundred are shown. */
export function toLazyRow<Figures extends object>(
  label: Label,
  exact: Readonly<Record<string, bigint>>,
  make: () => Figures,
): FoundRow<Figures> {
  let made: Figures | null = null;
  return {
    label,
    exact,
    get figures() {
      made ??= make();
      return made;
    },
  };
}

export type Label = string | boolean | null;
