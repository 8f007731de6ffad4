// Whether stored sums are what their rows add up to: each hour against raw rows, each larger bucket against the smaller ones.
import type { Database } from "../sql/database.ts";
import { integerOrNull } from "../sql/read-row.ts";
import { buildHours, readStored, type Bucket } from "./build-buckets.ts";
import { createCellSum, type Cells } from "./cells.ts";
import { grains, hourMs } from "./grains.ts";
import { createNames } from "./rollup-names.ts";
import { readState } from "./rollup-state.ts";

const hoursPerStep = 24;

/** Each problem in words. Reads everything from one snapshot. Hours that changed since are not compared: no answer uses them. */
export async function* checkRollups({
  snapshot,
}: Pick<Database, "snapshot">): AsyncGenerator<string> {
  yield* await snapshot(({ query }) => findWrongSums(query));
}

async function findWrongSums(query: Database["query"]): Promise<readonly string[]> {
  const { positionHour, staleHours, isOurs } = await readState(query);
  if (!isOurs || positionHour === 0) return [];
  const [row] = await query("SELECT MIN(bucket) AS first_hour FROM rollups WHERE grain = 1");
  const firstHour = row === undefined ? null : integerOrNull(row, "first_hour");
  if (firstHour === null) return [];
  const names = createNames(query);
  const problems: string[] = [];
  for (let from = firstHour; from < positionHour; from += hoursPerStep) {
    const to = Math.min(from + hoursPerStep, positionHour);
    const built = await buildHours(query, { fromHour: from, toHour: to }, names);
    const stored = await readStored(query, 1, { from, to });
    const current = (each: Bucket): boolean => !staleHours.has(each.bucket);
    problems.push(...compare(built.filter(current), stored.filter(current)));
  }
  for (const [index, grain] of grains.entries()) {
    const below = grains[index - 1];
    if (below === undefined) continue;
    problems.push(...(await checkGrain(query, { grain, below, firstHour, positionHour })));
  }
  return problems;
}

interface GrainCheck {
  readonly grain: number;
  readonly below: number;
  readonly firstHour: number;
  readonly positionHour: number;
}

async function checkGrain(
  query: Database["query"],
  { grain, below, firstHour, positionHour }: GrainCheck,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const last = Math.floor(positionHour / grain);
  for (let bucket = Math.floor(firstHour / grain); bucket < last; bucket += 1) {
    const times = grain / below;
    const range = { from: bucket * times, to: (bucket + 1) * times };
    const parts = await readStored(query, below, range);
    const sums = [...Map.groupBy(parts, ({ cube }) => cube)].map(([cube, each]): Bucket => {
      const sum = createCellSum(cube);
      for (const { cells } of each) sum.add(cells);
      return { cube, grain, bucket, cells: sum.sum() };
    });
    const stored = await readStored(query, grain, { from: bucket, to: bucket + 1 });
    problems.push(...compare(sums, stored));
  }
  return problems;
}

function compare(expected: readonly Bucket[], stored: readonly Bucket[]): readonly string[] {
  const found = new Map(stored.map((each) => [placeOf(each), each]));
  const wrong = expected.filter((each) => {
    const place = placeOf(each);
    const other = found.get(place);
    found.delete(place);
    return other === undefined || textOf(each.cells) !== textOf(other.cells);
  });
  return [...wrong, ...found.values()].map(
    ({ cube, grain, bucket }) =>
      `stored sums of ${cube.name} differ from their rows for the ${grain === 1 ? "hour" : `${grain} hours`} from ${new Date(bucket * grain * hourMs).toISOString()}`,
  );
}

function placeOf({ cube, bucket }: Bucket): string {
  return `${cube.name} ${bucket}`;
}

/** The same for the same cells in any order. */
function textOf({ count, dims, columns }: Cells): string {
  const rows = Array.from({ length: count }, (_, row) =>
    [...dims, ...columns].map((values) => values[row] ?? 0).join(" "),
  );
  return rows.toSorted().join("\n");
}
