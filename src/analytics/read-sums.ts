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
  // A hash says nothing to anybody: its number tells rows apart as well.
  const isName = dims.map((dim) => {
    const { isNumber, toName } = fact.dims[dim] ?? {};
    return isNumber !== true && toName === undefined;
  });
  const { shape, cells } = await withNames(found, isName, source.names);
  const toRow = createRows(
    dims.map((dim, at) => [
      dim,
      isName[at] === true
        ? Array.from(cells.dims[at] ?? [], (id) => source.names.nameOf(id))
        : (cells.dims[at] ?? []),
    ]),
    Object.keys(shape.columns).map((name, at) => [name, cells.columns[at] ?? []]),
  );
  return Array.from({ length: cells.count }, (_, at): SumRow => {
    const row = toRow(at);
    return [labelOfGroup(groupBy, row[groupBy]), row];
  });
}

type Column = readonly [name: string, values: ArrayLike<unknown>];
type CountColumn = readonly [name: string, values: ArrayLike<number>];

/** Rows that look their values up when asked: a hundred thousand rows of twenty values each are seldom read whole. */
function createRows(
  dims: readonly Column[],
  columns: readonly CountColumn[],
): (at: number) => ResultRow {
  const shared: { readonly at: number } = { at: 0 };
  const getter = (read: (at: number) => unknown): PropertyDescriptor => ({
    get(this: typeof shared) {
      return read(this.at);
    },
  });
  for (const [name, values] of dims) {
    Object.defineProperty(
      shared,
      name,
      getter((at) => values[at]),
    );
  }
  for (const [name, values] of columns) {
    const countAt = (at: number): number => Math.min(values[at] ?? 0, Number.MAX_SAFE_INTEGER);
    Object.defineProperty(shared, name, getter(countAt));
  }
  return (at) => ({ __proto__: shared, at });
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
