// Sums by group, merged without looking at a row twice: names are numbers, and columns lie one after the other.
import { assert } from "../../../core/assert.ts";
import { createPlaces } from "./places.ts";

/** How two cells of the same group become one. `with` follows the column named: it stays with the cell whose value there wins. */
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

export function createCellSum({ dims, columns }: Shape): CellSum {
  const places = createPlaces(dims);
  const rules = toRules(columns);
  let sums = rules.map(({ start }) => new Float64Array(startSize).fill(start));
  let size = startSize;
  let count = 0;
  return {
    add: (cells) => {
      const at = places.of(cells);
      ({ count } = places);
      if (count > size) {
        while (size < count) size *= 2;
        sums = sums.map((values, column) => grown(values, size, rules[column]?.start ?? 0));
      }
      for (const [column, rule] of rules.entries()) mergeColumn(rule, column, { at, sums, cells });
    },
    sum: () => ({
      count,
      dims: places.dims(),
      columns: sums.map((values) => values.subarray(0, count)),
    }),
  };
}

const startSize = 16;

interface Rule {
  readonly merge: "sum" | "min" | "max" | "follow";
  readonly start: number;
  /** The columns that follow this one. They are merged with it. */
  readonly followers: readonly number[];
}

function toRules(columns: Shape["columns"]): readonly Rule[] {
  const names = Object.keys(columns);
  return Object.entries(columns).map(([name, merge]) => ({
    merge: typeof merge === "string" ? merge : "follow",
    start: merge === "min" ? Infinity : merge === "max" ? -Infinity : 0,
    followers: names.flatMap((other, at) => {
      const each = columns[other];
      return typeof each === "object" && each.with === name ? [at] : [];
    }),
  }));
}

function grown(values: Float64Array, size: number, start: number): Float64Array<ArrayBuffer> {
  const more = new Float64Array(size);
  more.set(values);
  if (start !== 0) more.fill(start, values.length);
  return more;
}

interface Merging {
  /** The place of each row of the cells. */
  readonly at: Int32Array;
  readonly sums: readonly Float64Array[];
  readonly cells: Cells;
}

function mergeColumn({ merge, followers }: Rule, column: number, merging: Merging): void {
  const { at, sums, cells } = merging;
  const [kept, given] = [sums[column], cells.columns[column]];
  assert(kept !== undefined && given !== undefined, "cells have the columns of their shape");
  const { count } = cells;
  if (merge === "sum") {
    for (let row = 0; row < count; row += 1) {
      const place = at[row] ?? 0;
      kept[place] = (kept[place] ?? 0) + (given[row] ?? 0);
    }
    return;
  }
  if (merge === "follow") return;
  const sign = merge === "min" ? 1 : -1;
  for (let row = 0; row < count; row += 1) {
    const place = at[row] ?? 0;
    const order = sign * ((given[row] ?? 0) - (kept[place] ?? 0));
    for (const follower of followers) follow(merging, { follower, place, row, order });
    if (order < 0) kept[place] = given[row] ?? 0;
  }
}

/** Of two rows that are equal where they are compared, the smaller value stays. */
function follow(
  { sums, cells }: Merging,
  step: {
    readonly follower: number;
    readonly place: number;
    readonly row: number;
    readonly order: number;
  },
): void {
  const { follower, place, row, order } = step;
  const values = sums[follower];
  if (values === undefined || order > 0) return;
  const given = cells.columns[follower]?.[row] ?? 0;
  values[place] = order < 0 ? given : Math.min(values[place] ?? 0, given);
}

export function isAscending(values: ArrayLike<number>): boolean {
  for (let at = 1; at < values.length; at += 1) {
    if ((values[at] ?? 0) < (values[at - 1] ?? 0)) return false;
  }
  return true;
}

/** One after the other, where no two have the same group. */
export function joinCells({ dims, columns }: Shape, parts: readonly Cells[]): Cells {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const join = (of: (part: Cells) => ArrayLike<number> | undefined): Float64Array => {
    const all = new Float64Array(count);
    let from = 0;
    for (const part of parts) {
      const values = of(part);
      if (values !== undefined) all.set(values, from);
      from += part.count;
    }
    return all;
  };
  return {
    count,
    dims: dims.map((_dim, at) => join((part) => part.dims[at])),
    columns: Object.keys(columns).map((_name, at) => join((part) => part.columns[at])),
  };
}

/** The same cells told apart by fewer dims, and with fewer columns. */
export function projectCells(from: Shape, cells: Cells, to: Shape): Cells {
  const sum = createCellSum(to);
  sum.add(pickCells(from, cells, to));
  return sum.sum();
}

/** The dims and columns of another shape. Cells may have the same group then: a sum merges them. */
export function pickCells(from: Shape, cells: Cells, to: Shape): Cells {
  const names = Object.keys(from.columns);
  return {
    count: cells.count,
    dims: to.dims.map((dim) => pick(cells.dims, from.dims.indexOf(dim), dim)),
    columns: Object.keys(to.columns).map((name) => pick(cells.columns, names.indexOf(name), name)),
  };
}

function pick(all: readonly ArrayLike<number>[], at: number, name: string): ArrayLike<number> {
  const found = all[at];
  assert(found !== undefined, `there is no ${name} to sum`);
  return found;
}
