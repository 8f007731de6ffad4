// Sums of a window by some dims: from stored sums where they are current, and from raw rows for the rest. Exact at any moment.
import type { Database } from "../sql/database.ts";
import { createCellSum, joinCells, pickCells, type Cells, type Shape } from "./cells.ts";
import { findCube, type Cube } from "./cubes.ts";
import { ofGatewayKey, type Fact } from "./fact.ts";
import { coverWindow, type BucketRun, type MsRange } from "./grains.ts";
import { unpackCells } from "./pack-cells.ts";
import { readFact } from "./read-fact.ts";
import type { Names } from "./rollup-names.ts";
import type { RollupState } from "./rollup-state.ts";
import { text, integer } from "../sql/read-row.ts";

export interface CellsWanted {
  readonly fact: Fact;
  /** `day` and `hour` are dims of every fact. */
  readonly dims: readonly string[];
  readonly columns: readonly string[];
  readonly window: MsRange;
}

export interface CellSource {
  readonly query: Database["query"];
  readonly names: Names;
  /** Null: only raw rows are read, as for a comparison. */
  readonly state: RollupState | null;
  /** Only rows of this key of the gateway, and so raw ones: stored sums hold those of all keys. */
  readonly gatewayKey: string | null;
}

export interface FoundCells {
  readonly shape: Shape;
  readonly cells: Cells;
}

export async function readCells(source: CellSource, wanted: CellsWanted): Promise<FoundCells> {
  const { fact, dims, window } = wanted;
  const { query, names, state, gatewayKey } = source;
  const columns = Object.fromEntries(
    // In the order of the fact: some follow others.
    Object.entries(fact.columns).flatMap(([name, { merge }]) =>
      wanted.columns.includes(name) ? [[name, merge]] : [],
    ),
  );
  const shape: Shape = { dims, columns };
  const time = dims.find((dim) => dim === "hour" || dim === "day");
  const others = dims.filter((dim) => dim !== time);
  if (gatewayKey !== null) {
    const own = ofGatewayKey(fact);
    return { shape, cells: await readFact(query, own, shape, window, names, [gatewayKey]) };
  }
  const cube = findCube({ fact, dims: others, columns: wanted.columns });
  if (state === null || cube === undefined) {
    return { shape, cells: await readFact(query, fact, shape, window, names) };
  }
  const { runs, raw } = coverWindow(window, state, grainsOf[time ?? "none"] ?? 1);
  const parts: Cells[] = [];
  for (const stored of await readBuckets(
    query,
    { cube, wanted: [...others, ...wanted.columns] },
    runs,
  )) {
    const inTime = time === undefined ? cube : { ...cube, dims: [...cube.dims, time] };
    const bucket = Math.floor(stored.fromHour / (time === "day" ? 24 : 1));
    const cells = time === undefined ? stored.cells : withDim(stored.cells, bucket);
    parts.push(pickCells(inTime, cells, shape));
  }
  for (const part of raw) parts.push(await readFact(query, fact, shape, part, names));
  // Each hour is in one part.
  if (time === "hour" && others.length === cube.dims.length) {
    return { shape, cells: joinCells(shape, parts) };
  }
  const sum = createCellSum(shape);
  for (const part of parts) sum.add(part);
  return { shape, cells: sum.sum() };
}

/** The largest buckets that lie within one row of the answer. */
const grainsOf: Readonly<Record<string, number>> = { hour: 1, day: 24, none: Infinity };

interface StoredCells {
  readonly fromHour: number;
  readonly cells: Cells;
}

export async function readBuckets(
  query: Database["query"],
  { cube, wanted }: { readonly cube: Cube; readonly wanted: readonly string[] },
  runs: readonly BucketRun[],
): Promise<readonly StoredCells[]> {
  if (runs.length === 0) return [];
  const ranges = runs.map(() => "grain = ? AND bucket >= ? AND bucket < ?");
  const rows = await query(
    ranges
      .map((range) => `SELECT grain, bucket, cells FROM rollups WHERE cube = ? AND ${range}`)
      .join(" UNION ALL "),
    runs.flatMap(({ grain, fromHour, toHour }) => [
      cube.name,
      grain,
      fromHour / grain,
      toHour / grain,
    ]),
  );
  const read = new Set(wanted);
  return rows.map((row) => ({
    fromHour: integer(row, "bucket") * integer(row, "grain"),
    cells: unpackCells(text(row, "cells"), cube, read),
  }));
}

function withDim(cells: Cells, value: number): Cells {
  return { ...cells, dims: [...cells.dims, new Float64Array(cells.count).fill(value)] };
}
