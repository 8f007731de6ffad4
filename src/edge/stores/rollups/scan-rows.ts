// Rows of a window as numbers in columns, each row once for all sums that it counts in.
import type { Database, ResultRow } from "../sql/database.ts";
import { pickCells, type Cells, type Shape } from "./cells.ts";
import { nameOf, type Dim, type Fact } from "./fact.ts";
import { hourMs, type MsRange } from "./grains.ts";
import { readOwnRows } from "./own-rows.ts";
import { noName, type Names } from "./rollup-names.ts";

/** A fact with all dims and columns that some sum of it has. */
export interface FinestFact {
  readonly fact: Fact;
  readonly shape: Shape;
}

/** The rows of one hour, as cells of one row each. */
export interface HourOfRows {
  readonly hour: number;
  readonly fact: Fact;
  readonly cells: Cells;
}

/** All facts have the same rows. Nothing is grouped yet. In order of time. */
export async function scanRows(
  query: Database["query"],
  facts: readonly FinestFact[],
  { startMs, endMs }: MsRange,
  names: Names,
): Promise<readonly HourOfRows[]> {
  const [first] = facts;
  if (first === undefined) return [];
  if (first.fact.own !== undefined) {
    const { fact, shape } = first;
    const own = await readOwnRows(query, { fact, own: first.fact.own }, { startMs, endMs }, names);
    return byHour(fact, pickCells(own.shape, own.cells, shape), own.hours);
  }
  const dims = new Map(facts.flatMap(({ fact, shape }) => pickFrom(fact.dims, shape.dims)));
  // Facts may give the same name to different values.
  const columns = [...new Set(facts.flatMap(valuesOf))];
  const usesSession = [...dims.values()].some((dim) => dim.usesSession === true);
  const selected = [
    `${first.fact.time} / ${hourMs} AS hour`,
    ...[...dims.values()].flatMap((dim, at) =>
      dim.sql.map((sql, part) => `${sql} AS d${at}_${part}`),
    ),
    ...columns.map((value, at) => `${value} AS c${at}`),
    ...facts.flatMap(({ fact: { only } }, at) =>
      only === undefined ? [] : [`CASE WHEN ${only} THEN 1 ELSE 0 END AS o${at}`],
    ),
  ];
  const rows = await query(
    `SELECT ${selected.join(", ")} ${first.fact.from(usesSession)} ORDER BY ${first.fact.time}`,
    [startMs, endMs],
  );
  if (rows.length === 0) return [];
  const values = {
    dims: await readDims(rows, dims, names),
    columns: new Map(columns.map((value, at) => [value, toNumbers(rows, `c${at}`)])),
  };
  const hours = toNumbers(rows, "hour");
  return facts.flatMap((each, at) => {
    const { fact } = each;
    const chosen = fact.only === undefined ? null : rowsWith(rows, `o${at}`);
    const all = toCells(values, each, rows.length, chosen);
    return byHour(fact, all, chosen === null ? hours : pick(hours, chosen));
  });
}

function pickFrom<T>(
  all: Readonly<Record<string, T>>,
  names: readonly string[],
): readonly (readonly [string, T])[] {
  return names.flatMap((name) => {
    const each = all[name];
    return each === undefined ? [] : [[name, each] as const];
  });
}

function valuesOf({ fact, shape }: FinestFact): readonly string[] {
  return Object.keys(shape.columns).map((name) => fact.columns[name]?.value ?? "0");
}

type Values = ReadonlyMap<string, Float64Array>;

async function readDims(
  rows: readonly ResultRow[],
  dims: ReadonlyMap<string, Dim>,
  names: Names,
): Promise<Values> {
  const found: [string, Float64Array | readonly (string | null)[]][] = [];
  for (const [at, [name, dim]] of [...dims].entries()) {
    const places = dim.sql.map((_sql, part) => `d${at}_${part}`);
    found.push([
      name,
      dim.isNumber === true ? toNumbers(rows, places[0] ?? "") : toNames(rows, dim, places),
    ]);
  }
  const used = new Set<string>();
  for (const [, values] of found) {
    if (values instanceof Float64Array) continue;
    for (const name of values) if (name !== null) used.add(name);
  }
  await names.learn(used);
  return new Map(
    found.map(([name, values]) => [
      name,
      values instanceof Float64Array
        ? values
        : Float64Array.from(values, (each) => (each === null ? noName : names.idOf(each))),
    ]),
  );
}

/** The same values again and again have one name, which is made once. */
function toNames(
  rows: readonly ResultRow[],
  { toName }: Dim,
  places: readonly string[],
): readonly (string | null)[] {
  const [first = ""] = places;
  if (toName === undefined) return rows.map((row) => nameOf(row[first]));
  const known = new Map<string, string | null>();
  return rows.map((row) => {
    const values = places.map((place) => row[place]);
    const key = values.join("\n");
    const found = known.get(key);
    if (found !== undefined) return found;
    const name = toName(values);
    known.set(key, name);
    return name;
  });
}

function toNumbers(rows: readonly ResultRow[], name: string): Float64Array {
  return Float64Array.from(rows, (row) => Number(row[name] ?? 0));
}

function rowsWith(rows: readonly ResultRow[], flag: string): Int32Array {
  return Int32Array.from(rows.flatMap((row, at) => (Number(row[flag]) === 1 ? [at] : [])));
}

function pick(values: Float64Array | undefined, rows: Int32Array): Float64Array {
  return Float64Array.from(rows, (row) => values?.[row] ?? 0);
}

function toCells(
  { dims, columns }: { readonly dims: Values; readonly columns: Values },
  finest: FinestFact,
  count: number,
  chosen: Int32Array | null,
): Cells {
  const of = (values: Float64Array | undefined): Float64Array =>
    chosen === null ? (values ?? new Float64Array(count)) : pick(values, chosen);
  return {
    count: chosen?.length ?? count,
    dims: finest.shape.dims.map((dim) => of(dims.get(dim))),
    columns: valuesOf(finest).map((value) => of(columns.get(value))),
  };
}

function byHour(fact: Fact, all: Cells, hours: Float64Array): readonly HourOfRows[] {
  const found: HourOfRows[] = [];
  for (let from = 0; from < all.count;) {
    const hour = hours[from] ?? 0;
    let to = from + 1;
    while (to < all.count && hours[to] === hour) to += 1;
    const part = (values: ArrayLike<number>): ArrayLike<number> =>
      values instanceof Float64Array ? values.subarray(from, to) : values;
    found.push({
      hour,
      fact,
      cells: { count: to - from, dims: all.dims.map(part), columns: all.columns.map(part) },
    });
    from = to;
  }
  return found;
}
