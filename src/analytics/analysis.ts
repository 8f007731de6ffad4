// What an analysis is: a question that is checked at the door, asked of one moment of a ledger, ranked and cut.
import type { Catalogue } from "../core/models/catalogue.ts";
import type { Database, Snapshot } from "../edge/stores/sql/database.ts";
import type { TimeWindow } from "./time-window.ts";

/** All that is asked of a ledger's database: both drivers have it. Nothing is written. */
export type AnalyticsSource = Pick<Database, "kind" | "snapshot" | "clockSql">;

/** Everything else an answer depends on. */
export interface AnalyticsWorld {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Whose prices savings are reckoned with. */
  readonly catalogue: Catalogue;
}

/** As a command line or a query string spells it; all of it may be missing. */
export interface AnalyticsQuery {
  readonly from?: string;
  readonly to?: string;
  readonly groupBy?: string;
  /** A name, or a name with `:asc` or `:desc`. */
  readonly order?: string;
  readonly limit?: string;
  /** A model to reprice with. */
  readonly baseline?: string;
  /** One turn in full. */
  readonly turn?: string;
}

export interface Analysis<Figures extends object = object> {
  readonly summary: string;
  /** What rows can stand for; the first is the default. */
  readonly groupBys: readonly string[];
  /** Figures rows can be ordered by; the first is the default, largest first. */
  readonly orders: readonly string[];
  /** What it takes besides a window, a group, an order and a limit. */
  readonly takes?: readonly ("baseline" | "turn")[];
  ask(ledger: LedgerMoment, question: Question, world: AnalyticsWorld): Promise<Found<Figures>>;
}

export interface LedgerMoment extends Pick<Snapshot, "query"> {
  readonly clockSql: string;
}

/** A query that was read and found good. */
export interface Question {
  readonly window: TimeWindow;
  readonly groupBy: string;
  readonly order: { readonly by: string; readonly isDescending: boolean };
  readonly limit: number;
  readonly baseline: string | null;
  readonly turn: string | null;
}

export interface Found<Figures extends object = object> {
  readonly rows: readonly RankedRow<Figures>[];
  /** Rows that were left out already. */
  readonly leftOut?: number;
  /** What a reader should know who takes the figures at their word. */
  readonly notes?: readonly string[];
  /** Where the answer is about another time than was asked for. */
  readonly window?: TimeWindow;
}

/** A row with what it can be ordered by: exact, before money is rounded. */
export interface RankedRow<Figures extends object = object> {
  readonly figures: Figures;
  /** Decides between equals, so that every database gives one order. */
  readonly label: Label;
  readonly ranks: Readonly<Record<string, Rank>>;
}

export type Label = string | boolean | null;

export type Rank = bigint | number | string | null;

/** `groupBy: "model"` gives rows with a field `model`; none where everything is one row. */
export function withLabel<Figures extends object>(
  { groupBy }: Pick<Question, "groupBy">,
  label: Label,
  figures: Figures,
): Figures {
  return groupBy === "none" ? figures : { [groupBy]: label, ...figures };
}
