// Rows whose groups and sums are inside a JSON text, as cells of one row each.
import type { Database } from "../sql/database.ts";
import { integer } from "../sql/read-row.ts";
import type { Cells, Shape } from "./cells.ts";
import { onlyOf, type Fact, type OwnRows } from "./fact.ts";
import { hourMs, type MsRange } from "./grains.ts";
import type { Names } from "./rollup-names.ts";

export interface OwnCells {
  /** With the dims `hour` and `day`. */
  readonly shape: Shape;
  readonly cells: Cells;
  readonly hours: Float64Array;
}

/** In order of time. */
export async function readOwnRows(
  query: Database["query"],
  { fact, own }: { readonly fact: Fact; readonly own: OwnRows },
  { startMs, endMs }: MsRange,
  names: Names,
  more: readonly string[] = [],
): Promise<OwnCells> {
  const found = await query(
    `SELECT ${fact.time} AS time_ms, ${own.select} ${fact.from(false)}${onlyOf(fact)} ORDER BY ${fact.time}`,
    [startMs, endMs, ...more],
  );
  const rows = found.flatMap((row) => {
    const hour = Math.floor(integer(row, "time_ms") / hourMs);
    return own.toRows(row).map((each) => ({ hour, ...each }));
  });
  const used = new Set<string>();
  for (const { dims } of rows)
    for (const name of dims) if (typeof name === "string") used.add(name);
  await names.learn(used);
  const idOf = (value: string | number | null | undefined): number =>
    typeof value === "number" ? value : names.idOf(value ?? null);
  const hours = Float64Array.from(rows, ({ hour }) => hour);
  const [dims, columns] = [Object.keys(fact.dims), Object.entries(fact.columns)];
  return {
    hours,
    shape: {
      dims: [...dims, "hour", "day"],
      columns: Object.fromEntries(columns.map(([name, { merge }]) => [name, merge])),
    },
    cells: {
      count: rows.length,
      dims: [
        ...dims.map((_dim, at) => Float64Array.from(rows, (row) => idOf(row.dims[at]))),
        hours,
        hours.map((hour) => Math.floor(hour / 24)),
      ],
      columns: columns.map((_column, at) => Float64Array.from(rows, (row) => row.columns[at] ?? 0)),
    },
  };
}
