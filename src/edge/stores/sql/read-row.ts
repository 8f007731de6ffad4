// Typed columns of a result row. A column that differs from the schema is a bug of ours.
import { assert } from "../../../core/assert.ts";
import type { ResultRow } from "./database.ts";

export function text(row: ResultRow, column: string): string {
  const value = row[column];
  assert(typeof value === "string", `column ${column} holds no text`);
  return value;
}

export function textOrNull(row: ResultRow, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function integer(row: ResultRow, column: string): number {
  const value = row[column];
  assert(typeof value === "number", `column ${column} holds no integer`);
  return value;
}

export function integerOrNull(row: ResultRow, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

/** Money. Select it with `CAST(… AS TEXT)`, because sums can exceed a number. */
export function money(row: ResultRow, column: string): bigint {
  return BigInt(text(row, column));
}

/** One of a closed list, as the schema's checks guarantee. */
export function oneOf<T extends string>(row: ResultRow, column: string, values: readonly T[]): T {
  const value = text(row, column);
  const found = values.find((each) => each === value);
  assert(found !== undefined, `column ${column} holds ${value}`);
  return found;
}
