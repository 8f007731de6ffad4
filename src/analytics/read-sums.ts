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

/** Sums in columns: `groupOf` says to which of the labels each row belongs. */
export interface SumColumns {
  readonly count: number;
  readonly labels: readonly Label[];
  readonly groupOf: Int32Array;
  readonly column: (name: string) => ArrayLike<number>;
  /** Numbers that stand for names, or for themselves. */
  readonly dim: (name: string) => ArrayLike<number>;
  readonly nameOf: (id: number) => string | null;
}

/** Each row with its label, its dims and its sums, as `countOf` and `moneyOf` read them. */
export async function readSums(
  ledger: LedgerSnapshot,
  question: Pick<Question, "groupBy" | "window">,
  wanted: SumsWanted,
): Promise<readonly SumRow[]> {
  const found = await readColumns(ledger, question, wanted);
  const toRow = createRows(
    [...new Set(wanted.dims)].map((dim) => {
      const ids = found.dim(dim);
      return [dim, isNamed(wanted.fact, dim) ? Array.from(ids, found.nameOf) : ids];
    }),
    wanted.columns.map((name) => [name, found.column(name)]),
  );
  return Array.from({ length: found.count }, (_, at): SumRow => {
    return [found.labels[found.groupOf[at] ?? 0] ?? null, toRow(at)];
  });
}

export async function readColumns(
  { cells: source }: LedgerSnapshot,
  { groupBy, window }: Pick<Question, "groupBy" | "window">,
  { fact, dims: more = [], columns }: SumsWanted,
): Promise<SumColumns> {
  const { names } = source;
  const group = groupBy === "none" ? [] : [groupBy];
  const dims = [...new Set([...group, ...more])];
  const read = await readCells(source, { fact, dims, columns, window });
  const named = dims.map((dim) => isNamed(fact, dim));
  const { shape, cells } = await withNames(read, named, names);
  const inOrder = Object.keys(shape.columns);
  const nameOf = (id: number): string | null => names.nameOf(id);
  const ids = groupBy === "none" ? null : (cells.dims[0] ?? null);
  const { groupOf, values } = numberGroups(ids, cells.count);
  return {
    count: cells.count,
    groupOf,
    labels: values.map((id) => labelOfGroup(groupBy, named[0] === true ? nameOf(id) : id)),
    column: (name) => cells.columns[inOrder.indexOf(name)] ?? [],
    dim: (name) => cells.dims[dims.indexOf(name)] ?? [],
    nameOf,
  };
}

function isNamed(fact: Fact, name: string): boolean {
  // Every fact has them, also without saying so.
  if (name === "day" || name === "hour") return false;
  const { isNumber, isOpaque } = fact.dims[name] ?? {};
  return isNumber !== true && isOpaque !== true;
}

function numberGroups(
  ids: ArrayLike<number> | null,
  count: number,
): { readonly groupOf: Int32Array; readonly values: readonly number[] } {
  const groupOf = new Int32Array(count);
  if (ids === null) return { groupOf, values: count === 0 ? [] : [0] };
  const known = new Map<number, number>();
  const values: number[] = [];
  for (let row = 0; row < count; row += 1) {
    const id = ids[row] ?? 0;
    let place = known.get(id);
    if (place === undefined) {
      place = values.length;
      known.set(id, place);
      values.push(id);
    }
    groupOf[row] = place;
  }
  return { groupOf, values };
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
  named: readonly boolean[],
  names: Names,
): Promise<FoundCells> {
  const deleted: (ReadonlySet<number> | null)[] = [];
  for (const [at, ids] of cells.dims.entries()) {
    deleted.push(named[at] === true ? await readDeleted(ids, names) : null);
  }
  if (deleted.every((each) => each === null)) return { shape, cells };
  const sum = createCellSum(shape);
  sum.add({
    ...cells,
    dims: cells.dims.map((ids, at) => {
      const gone = deleted[at];
      return gone == null ? ids : Float64Array.from(ids, (id) => (gone.has(id) ? noName : id));
    }),
  });
  return { shape, cells: sum.sum() };
}

/** Reads the names of all ids. Returns those without one; null if there are none. */
async function readDeleted(
  ids: ArrayLike<number>,
  names: Names,
): Promise<ReadonlySet<number> | null> {
  const distinct = new Set<number>();
  for (let row = 0; row < ids.length; row += 1) distinct.add(ids[row] ?? 0);
  await names.read(distinct);
  const gone = [...distinct].filter((id) => id !== noName && names.nameOf(id) === null);
  return gone.length === 0 ? null : new Set(gone);
}
