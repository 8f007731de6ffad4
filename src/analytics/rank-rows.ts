// Sorts rows as the question asks and cuts them to its limit.
import type { Question, Rank, RankedRow } from "./analysis.ts";

export function rankRows<Row extends RankedRow>(
  rows: readonly Row[],
  question: Question,
): { readonly shown: readonly Row[]; readonly leftOut: number } {
  const shown = rows.toSorted(comparing(question)).slice(0, question.limit);
  return { shown, leftOut: rows.length - shown.length };
}

function comparing({ order }: Question): (left: RankedRow, right: RankedRow) => number {
  const { by, isDescending } = order;
  const rankOf = ({ ranks, label }: RankedRow): Rank =>
    by === "group" ? String(label ?? "") : (ranks[by] ?? null);
  return (left, right) => {
    const byRank = compare(rankOf(left), rankOf(right), isDescending);
    return byRank === 0
      ? compare(String(left.label ?? ""), String(right.label ?? ""), false)
      : byRank;
  };
}

/** Unknown values come last in both directions. Texts compare by code unit, like ids. */
function compare(left: Rank, right: Rank, isDescending: boolean): number {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return left < right !== isDescending ? -1 : 1;
}
