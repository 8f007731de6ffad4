// Sorts rows as the question asks and cuts them to its limit.
import { fieldsOf } from "../core/message/fields.ts";
import type { FoundRow, Question } from "./analysis.ts";

export function rankRows<Row extends FoundRow>(
  rows: readonly Row[],
  { order: { by, isDescending }, limit }: Question,
): { readonly shown: readonly Row[]; readonly leftOut: number } {
  const shown = rows
    .toSorted(
      (left, right) =>
        compare(rankOf(left, by), rankOf(right, by), isDescending) ||
        compare(rankOf(left, "group"), rankOf(right, "group"), false),
    )
    .slice(0, limit);
  return { shown, leftOut: rows.length - shown.length };
}

type Rank = bigint | number | string | null;

function rankOf({ label, figures, exact }: FoundRow, by: string): Rank {
  if (by === "group") return String(label ?? "");
  const value = exact?.[by] ?? fieldsOf(figures)[by];
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
