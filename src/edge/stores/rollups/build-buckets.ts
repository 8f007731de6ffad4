// Makes the stored sums of some hours from raw rows, and those of the larger buckets from smaller ones. Writes nothing.
import type { Database } from "../sql/database.ts";
import { integer, text } from "../sql/read-row.ts";
import { createCellSum, projectCells, type Cells, type Shape } from "./cells.ts";
import { cubes, storedFacts, type Cube } from "./cubes.ts";
import type { Fact } from "./fact.ts";
import { grains, hourMs, type HourRange } from "./grains.ts";
import { unpackCells } from "./pack-cells.ts";
import { scanRows, type FinestFact } from "./scan-rows.ts";
import type { Names } from "./rollup-names.ts";

/** One row of stored sums. `bucket` counts buckets of its grain since 1970. */
export interface Bucket {
  readonly cube: Cube;
  readonly grain: number;
  readonly bucket: number;
  readonly cells: Cells;
}

/** A bucket without rows is left out. */
export async function buildHours(
  query: Database["query"],
  { fromHour, toHour }: HourRange,
  names: Names,
): Promise<readonly Bucket[]> {
  const window = { startMs: fromHour * hourMs, endMs: toHour * hourMs };
  const built: Bucket[] = [];
  for (const facts of finestByRows) {
    for (const { hour, fact, cells } of await scanRows(query, facts, window, names)) {
      const { shape = noShape } = facts.find((each) => each.fact === fact) ?? {};
      for (const cube of cubes.filter((each) => each.fact === fact)) {
        built.push({ cube, grain: 1, bucket: hour, cells: projectCells(shape, cells, cube) });
      }
    }
  }
  return built;
}

const noShape: Shape = { dims: [], columns: {} };

/** Every dim and column that a cube of the fact has: what a batch reads from raw rows, once. */
function finestOf(fact: Fact): FinestFact {
  const own = cubes.filter((cube) => cube.fact === fact);
  const dims = [...new Set(own.flatMap((cube) => cube.dims))];
  return { fact, shape: { dims, columns: Object.assign({}, ...own.map((cube) => cube.columns)) } };
}

const finestByRows: readonly (readonly FinestFact[])[] = [
  ...Map.groupBy(storedFacts.map(finestOf), ({ fact }) => fact.rows).values(),
];

/**
 * The larger buckets that hold one of these hours and are full, from those of the grain below: the built ones, else the stored
 * ones.
 */
export async function buildAbove(
  query: Database["query"],
  hours: readonly Bucket[],
  touched: readonly number[],
  positionHour: number,
): Promise<readonly Bucket[]> {
  const all: Bucket[] = [];
  let below = hours;
  for (const [index, grain] of grains.entries()) {
    const child = grains[index - 1];
    if (child === undefined) continue;
    const places = [...new Set(touched.map((hour) => Math.floor(hour / grain)))];
    const full = places.filter((bucket) => (bucket + 1) * grain <= positionHour);
    const level: Bucket[] = [];
    for (const bucket of full) {
      const range = { from: (bucket * grain) / child, to: ((bucket + 1) * grain) / child };
      const isTouched = new Set(touched.map((hour) => Math.floor(hour / child)));
      const stored = await readStored(query, child, range);
      const inside = ({ bucket: at }: Bucket): boolean => at >= range.from && at < range.to;
      const parts = [
        ...below.filter(inside),
        ...stored.filter(({ bucket: at }) => !isTouched.has(at)),
      ];
      for (const [cube, each] of Map.groupBy(parts, (part) => part.cube)) {
        const sum = createCellSum(cube);
        for (const { cells } of each) sum.add(cells);
        level.push({ cube, grain, bucket, cells: sum.sum() });
      }
    }
    all.push(...level);
    below = level;
  }
  return all;
}

const cubesByName: ReadonlyMap<string, Cube> = new Map(cubes.map((cube) => [cube.name, cube]));

export async function readStored(
  query: Database["query"],
  grain: number,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly Bucket[]> {
  const names = [...cubesByName.keys()];
  const rows = await query(
    `SELECT cube, bucket, cells FROM rollups WHERE cube IN (${names.map(() => "?").join(", ")}) AND grain = ? AND bucket >= ? AND bucket < ?`,
    [...names, grain, from, to],
  );
  return rows.flatMap((row) => {
    const cube = cubesByName.get(text(row, "cube"));
    if (cube === undefined) return [];
    const cells = unpackCells(text(row, "cells"), cube);
    return [{ cube, grain, bucket: integer(row, "bucket"), cells }];
  });
}
