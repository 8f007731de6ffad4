// Sums by group, merged without looking at a row twice: names are numbers, and columns lie one after the other.
import { assert } from "../../../core/assert.ts";

/** How two cells of the same group become one. `with` follows the column named: it stays with the smaller one. */
export type Merge = "sum" | "min" | "max" | { readonly with: string };

export interface Shape {
  /** What cells are told apart by. Each is a number: a name's, or a value of its own. */
  readonly dims: readonly string[];
  readonly columns: Readonly<Record<string, Merge>>;
}

/** `dims[d][row]` and `columns[c][row]`, in the order of the shape. */
export interface Cells {
  readonly count: number;
  readonly dims: readonly ArrayLike<number>[];
  readonly columns: readonly ArrayLike<number>[];
}

export interface CellSum {
  /** Cells of the same shape. */
  add(cells: Cells): void;
  sum(): Cells;
}

/** Two numbers below this make one that is exact. */
const dimMax = 2 ** 26;

export function createCellSum({ dims, columns }: Shape): CellSum {
  const merges = Object.values(columns).map((merge) => toMerge(merge, Object.keys(columns)));
  const pairs = dims.map(() => new Map<number, number>());
  const kept = dims.map((): number[] => []);
  const sums = merges.map((): number[] => []);
  let count = 0;

  /** The place of a row's group. A new one comes last. */
  const placeOf = (cells: Cells, row: number): number => {
    let key = 0;
    for (let dim = 0; dim < dims.length; dim += 1) {
      const value = cells.dims[dim]?.[row] ?? 0;
      assert(value >= 0 && value < dimMax, `${dims[dim] ?? ""} is ${value}`);
      const known = pairs[dim];
      const pair = key * dimMax + value;
      const isLast = dim === dims.length - 1;
      let next = known?.get(pair);
      if (next === undefined) {
        next = isLast ? count : (known?.size ?? 0);
        known?.set(pair, next);
      }
      key = next;
    }
    return key;
  };

  return {
    add: (cells) => {
      for (let row = 0; row < cells.count; row += 1) {
        const place = placeOf(cells, row);
        if (place === count) {
          count += 1;
          for (const [dim, values] of kept.entries()) values.push(cells.dims[dim]?.[row] ?? 0);
          for (const [at, values] of sums.entries()) values.push(cells.columns[at]?.[row] ?? 0);
          continue;
        }
        mergeRow({ merges, sums, cells }, place, row);
      }
    },
    sum: () => ({ count, dims: kept, columns: sums }),
  };
}

type Rule = "sum" | "min" | "max" | number;

/** A column that follows another one has that one's place. */
function toMerge(merge: Merge, names: readonly string[]): Rule {
  return typeof merge === "string" ? merge : names.indexOf(merge.with);
}

interface Merging {
  readonly merges: readonly Rule[];
  readonly sums: readonly number[][];
  readonly cells: Cells;
}

/** A follower comes before the column that it follows, so that it still sees the old value of that one. */
function mergeRow({ merges, sums, cells }: Merging, place: number, row: number): void {
  for (let at = 0; at < merges.length; at += 1) {
    const values = sums[at];
    if (values === undefined) continue;
    const [old = 0, given = 0] = [values[place], cells.columns[at]?.[row]];
    const merge = merges[at];
    if (merge === "sum") values[place] = old + given;
    else if (merge === "min") values[place] = Math.min(old, given);
    else if (merge === "max") values[place] = Math.max(old, given);
    else if (merge !== undefined) {
      const [oldLead = 0, lead = 0] = [sums[merge]?.[place], cells.columns[merge]?.[row]];
      if (lead < oldLead) values[place] = given;
      else if (lead === oldLead) values[place] = Math.min(old, given);
    }
  }
}

/** The same cells told apart by fewer dims, and with fewer columns. */
export function projectCells(from: Shape, cells: Cells, to: Shape): Cells {
  const dims = to.dims.map((dim) => pick(cells.dims, from.dims.indexOf(dim), dim));
  const names = Object.keys(from.columns);
  const columns = Object.keys(to.columns).map((name) =>
    pick(cells.columns, names.indexOf(name), name),
  );
  const sum = createCellSum(to);
  sum.add({ count: cells.count, dims, columns });
  return sum.sum();
}

function pick(all: readonly ArrayLike<number>[], at: number, name: string): ArrayLike<number> {
  const found = all[at];
  assert(found !== undefined, `there is no ${name} to sum`);
  return found;
}
