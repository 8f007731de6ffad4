// Sums of a window by the group that a question asks for: stored ones where there are some, raw rows elsewhere.
import type { Fact } from "../edge/stores/rollups/fact.ts";
import { createCellSum } from "../edge/stores/rollups/cells.ts";
import { readCells, type FoundCells } from "../edge/stores/rollups/read-cells.ts";
import { noName, type Names } from "../edge/stores/rollups/rollup-names.ts";
import type { ResultRow } from "../edge/stores/sql/database.ts";
import type { Label, LedgerSnapshot, Question } from "./analysis.ts";
import { labelOfGroup } from "./group-keys.ts";

export interface SumsWanted {
  readonly fact: Fact;
  /** What rows are told apart by besides the group. */
  readonly dims?: readonly string[];
  readonly columns: readonly string[];
}

export type SumRow = readonly [Label, ResultRow];

/** Each row with its label, its dims and its sums, as `countOf` and `moneyOf` read them. */
export async function readSums(
  { cells: source }: LedgerSnapshot,
  { groupBy, window }: Pick<Question, "groupBy" | "window">,
  { fact, dims: more = [], columns }: SumsWanted,
): Promise<readonly SumRow[]> {
  const group = groupBy === "none" ? [] : [groupBy];
  const dims = [...new Set([...group, ...more])];
  const found = await readCells(source, { fact, dims, columns, window });
  const isName = dims.map((dim) => fact.dims[dim]?.isNumber !== true);
  const { shape, cells } = await withNames(found, isName, source.names);
  const names = Object.keys(shape.columns);
  return Array.from({ length: cells.count }, (_, row): SumRow => {
    const values: Record<string, unknown> = {};
    for (const [at, dim] of dims.entries()) {
      const value = cells.dims[at]?.[row] ?? 0;
      values[dim] = isName[at] === true ? source.names.nameOf(value) : value;
    }
    for (const [at, name] of names.entries()) {
      const value = cells.columns[at]?.[row] ?? 0;
      values[name] = isMoneyPart(name) ? String(value) : Math.min(value, Number.MAX_SAFE_INTEGER);
    }
    return [labelOfGroup(groupBy, values[groupBy]), values];
  });
}

/** See `moneySums`. */
function isMoneyPart(name: string): boolean {
  return name.endsWith("_0") || name.endsWith("_1");
}

/** All deleted names are one group. */
async function withNames(
  { shape, cells }: FoundCells,
  isName: readonly boolean[],
  names: Names,
): Promise<FoundCells> {
  let hasDeleted = false;
  const dims: ArrayLike<number>[] = [];
  for (const [at, ids] of cells.dims.entries()) {
    if (isName[at] !== true) {
      dims.push(ids);
      continue;
    }
    await names.read(Array.from(ids));
    const known = Array.from(ids, (id) => (names.nameOf(id) === null ? noName : id));
    hasDeleted ||= known.some((id, row) => id !== ids[row]);
    dims.push(known);
  }
  if (!hasDeleted) return { shape, cells };
  const sum = createCellSum(shape);
  sum.add({ ...cells, dims });
  return { shape, cells: sum.sum() };
}
