// Typed columns of a result row. A column that differs from the schema was damaged: other programs write files, too.
import { StrataError, messageOf } from "../../../core/strata-error.ts";
import type { ResultRow } from "./database.ts";

export function text(row: ResultRow, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw damaged(row, `column ${column} holds no text`);
  return value;
}

export function textOrNull(row: ResultRow, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function integer(row: ResultRow, column: string): number {
  const value = row[column];
  if (typeof value !== "number" || !Number.isSafeInteger(value))
    throw damaged(row, `column ${column} holds no integer`);
  return value;
}

export function integerOrNull(row: ResultRow, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

/** Money. Select it with `CAST(… AS TEXT)`, because sums can exceed a number. */
export function money(row: ResultRow, column: string): bigint {
  const value = text(row, column);
  if (!/^-?\d+$/.test(value)) throw damaged(row, `column ${column} holds ${value}`);
  return BigInt(value);
}

export function moneyOrNull(row: ResultRow, column: string): bigint | null {
  return (row[column] ?? null) === null ? null : money(row, column);
}

/** One of a closed list, as the schema's checks guarantee. */
export function oneOf<T extends string>(row: ResultRow, column: string, values: readonly T[]): T {
  const value = text(row, column);
  const found = values.find((each) => each === value);
  if (found === undefined) throw damaged(row, `column ${column} holds ${value}`);
  return found;
}

/** What our own code made of a column: JSON, a message, a plan. */
export function readAs<T>(row: ResultRow, column: string, read: (text: string) => T): T {
  const value = text(row, column);
  try {
    return read(value);
  } catch (error) {
    const reason = messageOf(error);
    throw damaged(row, `column ${column} cannot be understood: ${reason}`);
  }
}

/** JSON that is kept as text: it can be parsed. */
export function jsonOrNull(row: ResultRow, column: string): string | null {
  if (row[column] === null) return null;
  readAs(row, column, JSON.parse);
  return text(row, column);
}

export const repairHint =
  "run `strata ledger check --repair`: it says what is damaged and repairs what it can; the rest is in the last good backup";

function damaged(row: ResultRow, problem: string): StrataError {
  return new StrataError(
    "store-unavailable",
    `${nameOf(row)} is damaged in the ledger: ${problem}`,
    repairHint,
  );
}

/** Each table has a column that no other one has. */
const names: readonly (readonly [column: string, name: (row: ResultRow) => string])[] = [
  ["lease_token", ({ id }) => `session ${String(id)}`],
  ["state_json", ({ id }) => `session ${String(id)}`],
  ["turn_type", ({ id }) => `turn ${String(id)}`],
  ["payload_json", ({ id }) => `event ${String(id)}`],
  ["compacted_at", ({ turn_id: id }) => `compaction ${String(id)}`],
  ["plan_json", nameOfCall],
  ["outcome_json", nameOfCall],
  [
    "tool_use_id",
    ({ turn_id: id, tool_use_id: use }) => `tool use ${String(use)} of turn ${String(id)}`,
  ],
  ["remote_name", ({ id }) => `provider resource ${String(id)}`],
  ["queued_ms", ({ id }) => `queue item ${String(id)}`],
  ["idx", ({ turn_id: id, idx }) => `message ${String(idx)} of turn ${String(id)}`],
];

export function nameOfCall(row: ResultRow): string {
  const [turn, session, number, id] = ["turn_id", "session_id", "number", "id"].map((column) =>
    String(row[column]),
  );
  return row["turn_id"] === null
    ? `call ${id} of session ${session}`
    : `call ${number} of turn ${turn}`;
}

function nameOf(row: ResultRow): string {
  return names.find(([column]) => column in row)?.[1](row) ?? "a row";
}
