// A fact: what rows of one kind add up to. One SQL text makes the sums that are stored, those of raw rows, and those they are checked by.
import { assert } from "../../../core/assert.ts";
import type { ResultRow } from "../sql/database.ts";
import { countSum } from "../sql/sums.ts";
import type { Merge } from "./cells.ts";

export interface Fact {
  readonly name: string;
  /** Facts of the same rows have the same: these are read once for all of them. */
  readonly rows: string;
  /** A condition, if only some of these rows count. */
  readonly only?: string;
  readonly dims: Readonly<Record<string, Dim>>;
  readonly columns: Readonly<Record<string, FactColumn>>;
  /** `FROM … WHERE …` with places for the start and the end of a window, and what each `usesSession` needs. Without `only`. */
  readonly from: (usesSession: boolean) => string;
  /** Stored sums lie in the order of this dim, for those that need them so. */
  readonly order?: string;
  /** For rows that SQL cannot add up: what they say is inside a JSON text. `sql` of its dims and columns is empty then. */
  readonly own?: OwnRows;
  /** The key of the gateway that a row belongs to, where no dim says so. */
  readonly keySql?: string;
  /** When a row counts, in milliseconds. */
  readonly time: string;
}

export interface OwnRows {
  readonly select: string;
  /** Dims and columns in the order of the fact. */
  readonly toRows: (row: ResultRow) => readonly FactRow[];
}

export interface Dim {
  /** Usually one expression. Several make one name together. */
  readonly sql: readonly string[];
  /** A whole number from 0 that stands for itself. Otherwise a name, or null. */
  readonly isNumber?: true;
  /** Whether it is about the session `s`. */
  readonly usesSession?: true;
  /** Tells rows apart and says nothing to anybody. */
  readonly isOpaque?: true;
  /** The name of a group, where it is not just the text. */
  readonly toName?: (values: readonly unknown[]) => string | null;
}

export interface FactColumn {
  readonly merge: Merge;
  /** An aggregate of all rows of a group. */
  readonly sql: string;
  /** The same of one row. */
  readonly value: string;
}

/** A sum of counts, exact to 2^53, and never more. */
export function sumOf(expression: string): FactColumn {
  return {
    merge: "sum",
    sql: `COALESCE(${countSum(expression)}, 0)`,
    value: `COALESCE(${expression}, 0)`,
  };
}

export const countOfRows: FactColumn = { merge: "sum", sql: "COUNT(*)", value: "1" };

/** Money in two parts, as `moneyOf` reads it. */
export function moneyColumns(
  expression: string,
  name: string,
): Readonly<Record<string, FactColumn>> {
  const part = (operator: string): FactColumn => ({
    merge: "sum",
    sql: `CAST(COALESCE(SUM((${expression}) ${operator} 1000000), 0) AS TEXT)`,
    value: `COALESCE((${expression}) ${operator} 1000000, 0)`,
  });
  return { [`${name}_0`]: part("/"), [`${name}_1`]: part("%") };
}

/** Only the rows of one key of the gateway: its name is one more value, the last. */
export function ofGatewayKey(fact: Fact): Fact {
  const key = fact.keySql ?? fact.dims["gateway_key"]?.sql[0];
  assert(key !== undefined, `rows of ${fact.name} say which key they belong to`);
  return { ...fact, from: (usesSession) => `${fact.from(usesSession)} AND ${key} = ?` };
}

/** The names of the expressions of a fact's query. */
export function selectFact(
  fact: Fact,
  dims: readonly string[],
  columns: readonly string[],
): string {
  const keys = dims.flatMap((dim) => fact.dims[dim]?.sql ?? []);
  const usesSession = dims.some((dim) => fact.dims[dim]?.usesSession === true);
  const selected = [
    ...keys.map((sql, index) => `${sql} AS d${index}`),
    ...columns.map((name, index) => `${fact.columns[name]?.sql ?? "0"} AS c${index}`),
  ];
  const groups = keys.map((_sql, index) => String(index + 1));
  const grouped = groups.length === 0 ? "HAVING COUNT(*) > 0" : `GROUP BY ${groups.join(", ")}`;
  return `SELECT ${selected.join(", ")} ${fact.from(usesSession)}${onlyOf(fact)} ${grouped}`;
}

export function onlyOf({ only }: Fact): string {
  return only === undefined ? "" : ` AND ${only}`;
}

/** A group's dims as names or numbers, and its sums. */
export interface FactRow {
  readonly dims: readonly (string | number | null)[];
  readonly columns: readonly number[];
}

export function toFactRow(
  fact: Fact,
  dims: readonly string[],
  columns: readonly string[],
): (row: ResultRow) => FactRow {
  let next = 0;
  const readers = dims.map((name) => {
    const dim = fact.dims[name];
    const places = (dim?.sql ?? []).map(() => `d${next++}`);
    return (row: ResultRow): string | number | null => {
      const values = places.map((place) => row[place]);
      if (dim?.isNumber === true) return Number(values[0] ?? 0);
      return dim?.toName === undefined ? nameOf(values[0]) : dim.toName(values);
    };
  });
  const sums = columns.map((_name, index) => `c${index}`);
  return (row) => ({
    dims: readers.map((read) => read(row)),
    columns: sums.map((place) => Number(row[place] ?? 0)),
  });
}

/** An empty name is that of a deleted session. */
export function nameOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
