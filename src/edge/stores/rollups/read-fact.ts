// Sums of raw rows in a window, as cells.
import type { Database } from "../sql/database.ts";
import { createCellSum, projectCells, type Cells, type Shape } from "./cells.ts";
import { selectFact, toFactRow, type Fact, type FactRow } from "./fact.ts";
import type { MsRange } from "./grains.ts";
import { readOwnRows } from "./own-rows.ts";
import type { Names } from "./rollup-names.ts";

export async function readFact(
  query: Database["query"],
  fact: Fact,
  { dims, columns }: Shape,
  { startMs, endMs }: MsRange,
  names: Names,
  more: readonly string[] = [],
): Promise<Cells> {
  if (fact.own !== undefined) {
    const own = await readOwnRows(query, { fact, own: fact.own }, { startMs, endMs }, names, more);
    return projectCells(own.shape, own.cells, { dims, columns });
  }
  const columnNames = Object.keys(columns);
  const found = await query(selectFact(fact, dims, columnNames), [startMs, endMs, ...more]);
  const rows = found.map(toFactRow(fact, dims, columnNames));
  await names.learn(rows.flatMap((row) => row.dims.filter(isName)));
  const sum = createCellSum({ dims, columns });
  sum.add(toCells(rows, { dims, columns }, names));
  return sum.sum();
}

function toCells(rows: readonly FactRow[], shape: Shape, names: Names): Cells {
  const idOf = (value: string | number | null | undefined): number =>
    typeof value === "number" ? value : names.idOf(value ?? null);
  return {
    count: rows.length,
    dims: shape.dims.map((_dim, at) => rows.map((row) => idOf(row.dims[at]))),
    columns: Object.keys(shape.columns).map((_name, at) => rows.map((row) => row.columns[at] ?? 0)),
  };
}

function isName(value: string | number | null): value is string {
  return typeof value === "string";
}
