// Sorts rows as the question asks and cuts them to its limit.
import { fieldsOf } from "../core/message/fields.ts";
import type { FoundRow, Question } from "./analysis.ts";

/** Figures of rows that are not shown are read only where they say the order. */
export function rankRows<Row extends FoundRow>(
  rows: readonly Row[],
  { order: { by, isDescending }, limit }: Question,
): { readonly shown: readonly Row[]; readonly leftOut: number } {
  const ranked = rows.map((row) => ({
    row,
    rank: rankOf(row, by),
    group: String(row.label ?? ""),
  }));
  const shown = ranked
    .toSorted(
      (left, right) =>
        compare(left.rank, right.rank, isDescending) || compare(left.group, right.group, false),
    )
    .slice(0, limit)
    .map(({ row }) => row);
  return { shown, leftOut: rows.length - shown.length };
}

type Rank = bigint | number | string | null;

function rankOf(row: FoundRow, by: string): Rank {
  if (by === "group") return String(row.label ?? "");
  const exact = row.exact?.[by];
  if (exact !== undefined) return exact;
  const value = fieldsOf(row.figures)[by];
  const isRank =
    typeof value === "bigint" || typeof value === "number" || typeof value === "string";
  return isRank ? value : null;
}

/** Unknown values come last in both directions. Texts compare by code unit, like ids. */
function compare(left: Rank, right: Rank, isDescending: boolean): number {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return left < right !== isDescending ? -1 : 1;
}
