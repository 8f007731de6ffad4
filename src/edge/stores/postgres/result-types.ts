// Converts the server's types to the values both databases give: numbers and text.
import { StrataError } from "../../../core/strata-error.ts";

/** By type number in pg_type. Everything else stays text. */
export const resultTypes: readonly (readonly [number, (text: string) => number])[] = [
  // Booleans: SQLite has none and uses 1 and 0.
  [16, (text) => (text === "t" ? 1 : 0)],
  [20, toSafeInteger],
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
  // Sums of integers.
  [1700, (text) => (/^-?\d+$/.test(text) ? toSafeInteger(text) : Number(text))],
];

function toSafeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new StrataError(
    "store-unavailable",
    `the ledger returned ${text}, which does not fit a number exactly`,
    "read it as text: CAST(… AS TEXT)",
  );
}
