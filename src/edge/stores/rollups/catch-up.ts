// Stores the sums of hours that are over or changed, a batch per commit. Killed anywhere, a batch is either stored or not begun.
import type { CatchUpOptions, CaughtUp } from "../../../core/ledger/ledger.ts";
import { summedTables } from "../sql/change-marks.ts";
import type { Database, Write } from "../sql/database.ts";
import { integer, integerOrNull, textOrNull } from "../sql/read-row.ts";
import { isHolderGone } from "../ledger/lease-holder.ts";
import { buildAbove, buildHours, type Bucket } from "./build-buckets.ts";
import { isAscending, type Cells } from "./cells.ts";
import { cubes, layoutHash } from "./cubes.ts";
import { grains, hourMs } from "./grains.ts";
import { packCells } from "./pack-cells.ts";
import { createNames } from "./rollup-names.ts";
import { readState, type RollupState } from "./rollup-state.ts";

export interface CatchingUp extends CatchUpOptions {
  readonly nowMs: number;
  /** Who works: one process, for as long as it goes on or until it is silent for a minute. Any unique text. */
  readonly holder: string;
}

type CatchUpDatabase = Pick<
  Database,
  "snapshot" | "commit" | "clockSql" | "query" | "areWritersGone"
>;

const leaseMs = 60_000;

export async function catchUp(database: CatchUpDatabase, options: CatchingUp): Promise<CaughtUp> {
  const { budgetMs = Infinity, holder } = options;
  if (await isCaughtUp(database.query, options)) {
    return { hours: 0, isComplete: true, isBusy: false };
  }
  if (!(await takeLease(database, holder))) return { hours: 0, isComplete: false, isBusy: true };
  const endMs = performance.now() + budgetMs;
  let hours = 0;
  try {
    if (!(await raiseTarget(database, options))) {
      return { hours, isComplete: false, isBusy: true };
    }
    for (;;) {
      const batch = await database.snapshot((snapshot) => planBatch(snapshot.query, options));
      if (batch === null) return { hours, isComplete: true, isBusy: false };
      const { kind } = await database.commit(batch.commit(database.clockSql, holder));
      if (kind === "done") hours += batch.hours;
      options.onBatch?.({ hours, isComplete: false, isBusy: false });
      if (performance.now() >= endMs) return { hours, isComplete: false, isBusy: false };
    }
  } finally {
    await dropLease(database, holder);
  }
}

/**
 * From now on rows leave marks that come to an hour before the present one. Those that were written without are all to be seen once
 * their writers are gone, and only then are they summed. False if one of them goes on and on.
 */
async function raiseTarget(
  { query, commit, areWritersGone }: CatchUpDatabase,
  { nowMs, holder }: CatchingUp,
): Promise<boolean> {
  const { positionHour, targetHour } = await readState(query);
  const hour = Math.floor(nowMs / hourMs);
  if (targetHour < hour) {
    await commit({
      guards: [],
      writes: [
        {
          sql: "UPDATE rollup_state SET target_hour = ? WHERE id = 1 AND holder = ? AND target_hour < ?",
          values: [hour, holder, hour],
        },
      ],
      landed: () => ({ sql: "SELECT 1 AS landed WHERE 1 = 0", values: [] }),
    });
  }
  return positionHour >= Math.max(targetHour, hour) || areWritersGone(summedTables);
}

/** Mostly there is nothing to do, and then nothing is written. */
async function isCaughtUp(
  query: Database["query"],
  { nowMs, callsPerBatch = callsUsual }: CatchingUp,
): Promise<boolean> {
  const state = await readState(query);
  if (!state.isOurs || state.staleHours.size > 0) return false;
  return (await nextHours(query, state, Math.floor(nowMs / hourMs), callsPerBatch)) === null;
}

/** Takes over from a process that is silent, or gone as far as this machine can tell. */
async function takeLease(
  { query, commit, clockSql }: CatchUpDatabase,
  holder: string,
): Promise<boolean> {
  const [row] = await query("SELECT holder FROM rollup_state WHERE id = 1");
  const other = row === undefined ? null : textOrNull(row, "holder");
  const gone = other !== null && isHolderGone(other) ? other : holder;
  const { kind } = await commit({
    guards: [
      {
        name: "lease",
        sql: `UPDATE rollup_state SET holder = ?, expires_ms = ${clockSql} + ${leaseMs} WHERE id = 1 AND (holder IS NULL OR holder = ? OR expires_ms < ${clockSql})`,
        values: [holder, gone],
      },
    ],
    writes: [],
    landed: () => ({
      sql: "SELECT 1 AS landed FROM rollup_state WHERE holder = ?",
      values: [holder],
    }),
  });
  return kind === "done";
}

async function dropLease({ commit }: CatchUpDatabase, holder: string): Promise<void> {
  await commit({
    guards: [],
    writes: [
      {
        sql: "UPDATE rollup_state SET holder = NULL WHERE id = 1 AND holder = ?",
        values: [holder],
      },
    ],
    landed: () => ({ sql: "SELECT 1 AS landed WHERE 1 = 0", values: [] }),
  });
}

interface Batch {
  readonly hours: number;
  commit(clockSql: string, holder: string): Parameters<Database["commit"]>[0];
}

const callsUsual = 20_000;
const hoursMax = 144;
const staleMax = 24;

/** What to store next, all from one snapshot. Null if nothing is left to do. */
async function planBatch(
  query: Database["query"],
  { nowMs, callsPerBatch = callsUsual }: CatchingUp,
): Promise<Batch | null> {
  const state = await readState(query);
  if (!state.isOurs) return startOver(state);
  const names = createNames(query);
  const stale = [...state.staleHours].slice(0, staleMax);
  const untilHour = Math.min(Math.floor(nowMs / hourMs), state.targetHour);
  const next = await nextHours(query, state, untilHour, callsPerBatch);
  if (stale.length === 0 && next === null) return null;
  const ranges = stale.map((hour) => ({ fromHour: hour, toHour: hour + 1 }));
  if (stale.length === 0 && next !== null) ranges.push(next);
  const touched = ranges.flatMap(({ fromHour, toHour }) =>
    Array.from({ length: toHour - fromHour }, (_, index) => fromHour + index),
  );
  const positionHour = Math.max(state.positionHour, ranges.at(-1)?.toHour ?? 0);
  const marks = await readMarks(query, ranges);
  const hours: Bucket[] = [];
  for (const range of ranges) hours.push(...(await buildHours(query, range, names)));
  const above = await buildAbove(query, hours, touched, positionHour);
  const writes = [
    ...names.writes(),
    ...(stale.length > 0 ? forgetBuckets(stale, positionHour) : []),
    ...storeBuckets([...hours, ...above]),
    ...forgetMarks(marks),
  ];
  return {
    hours: touched.length,
    commit: (clockSql, holder) => ({
      inOrder: true,
      guards: [advance(state, positionHour, clockSql, holder)],
      writes,
      landed: () => laterThan(state),
    }),
  };
}

function advance(
  { version }: RollupState,
  positionHour: number,
  clockSql: string,
  holder: string,
): Parameters<Database["commit"]>[0]["guards"][number] {
  return {
    name: "rollups",
    sql: `UPDATE rollup_state SET version = version + 1, position_hour = ?, bands = ?, expires_ms = ${clockSql} + ${leaseMs} WHERE id = 1 AND version = ? AND holder = ?`,
    values: [positionHour, layoutHash, version, holder],
  };
}

function laterThan({ version }: RollupState): { sql: string; values: readonly number[] } {
  return { sql: "SELECT 1 AS landed FROM rollup_state WHERE version > ?", values: [version] };
}

/** Sums by other price bands, or none yet: all are made again. */
function startOver(state: RollupState): Batch {
  return {
    hours: 0,
    commit: (clockSql, holder) => ({
      inOrder: true,
      guards: [advance(state, 0, clockSql, holder)],
      writes: [{ sql: "DELETE FROM rollups WHERE grain >= ?", values: [1] }],
      landed: () => laterThan(state),
    }),
  };
}

/** The hours after the position, as many as hold about so many calls. Null if there are none before the present one. */
async function nextHours(
  query: Database["query"],
  { positionHour }: RollupState,
  presentHour: number,
  callsPerBatch: number,
): Promise<{ readonly fromHour: number; readonly toHour: number } | null> {
  const fromHour = positionHour > 0 ? positionHour : await firstHour(query, presentHour);
  if (fromHour >= presentHour) return null;
  const [row] = await query(
    "SELECT started_ms FROM calls WHERE started_ms >= ? ORDER BY started_ms LIMIT 1 OFFSET ?",
    [fromHour * hourMs, callsPerBatch],
  );
  const fullHour =
    row === undefined ? presentHour : Math.floor(integer(row, "started_ms") / hourMs);
  const toHour = Math.min(presentHour, Math.max(fullHour, fromHour + 1), fromHour + hoursMax);
  return { fromHour, toHour };
}

async function firstHour(query: Database["query"], presentHour: number): Promise<number> {
  const times = [
    "started_ms FROM calls",
    "started_ms FROM turns",
    "compacted_at FROM compactions_v1",
  ];
  let first = presentHour * hourMs;
  for (const time of times) {
    const [row] = await query(`SELECT MIN(${time.replace(" FROM", ") AS first_ms FROM")}`);
    const ms = row === undefined ? null : integerOrNull(row, "first_ms");
    if (ms !== null) first = Math.min(first, ms);
  }
  return Math.floor(first / hourMs);
}

type Mark = readonly [hour: number, change: number];

async function readMarks(
  query: Database["query"],
  ranges: readonly { readonly fromHour: number; readonly toHour: number }[],
): Promise<readonly Mark[]> {
  const marks: Mark[] = [];
  for (const { fromHour, toHour } of ranges) {
    const rows = await query(
      "SELECT hour, change FROM changed_hours WHERE hour >= ? AND hour < ?",
      [fromHour, toHour],
    );
    marks.push(...rows.map((row): Mark => [integer(row, "hour"), integer(row, "change")]));
  }
  return marks;
}

const perStatement = 200;

/** Only marks that the snapshot had: what was written since marks the hour again. */
function forgetMarks(marks: readonly Mark[]): readonly Write[] {
  return inParts(marks).map((part) => ({
    sql: `DELETE FROM changed_hours WHERE (hour, change) IN (VALUES ${part.map(() => "(CAST(? AS BIGINT), CAST(? AS BIGINT))").join(", ")})`,
    values: part.flat(),
  }));
}

/** What these hours had before, at every grain that is made again: a group may be gone. */
function forgetBuckets(hours: readonly number[], positionHour: number): readonly Write[] {
  const names = cubes.map(({ name }) => name);
  return grains.flatMap((grain) => {
    const buckets = [...new Set(hours.map((hour) => Math.floor(hour / grain)))];
    const full = buckets.filter((bucket) => (bucket + 1) * grain <= positionHour);
    if (full.length === 0) return [];
    return [
      {
        sql: `DELETE FROM rollups WHERE cube IN (${names.map(() => "?").join(", ")}) AND grain = ? AND bucket IN (${full.map(() => "?").join(", ")})`,
        values: [...names, grain, ...full],
      },
    ];
  });
}

function storeBuckets(buckets: readonly Bucket[]): readonly Write[] {
  return inParts(buckets).map((part) => ({
    sql: `INSERT INTO rollups (cube, grain, bucket, cells) VALUES ${part.map(() => "(?, CAST(? AS BIGINT), CAST(? AS BIGINT), ?)").join(", ")} ON CONFLICT (cube, grain, bucket) DO UPDATE SET cells = excluded.cells`,
    values: part.flatMap(({ cube, grain, bucket, cells }) => [
      cube.name,
      grain,
      bucket,
      packCells(orderCells(cube, cells)),
    ]),
  }));
}

function orderCells({ fact: { order }, dims }: Bucket["cube"], cells: Cells): Cells {
  const by = order === undefined ? undefined : cells.dims[dims.indexOf(order)];
  if (by === undefined || isAscending(by)) return cells;
  const rows = Int32Array.from(by, (_value, row) => row).toSorted(
    (left, right) => (by[left] ?? 0) - (by[right] ?? 0),
  );
  const ordered = (values: ArrayLike<number>): ArrayLike<number> =>
    Float64Array.from(rows, (row) => values[row] ?? 0);
  return { ...cells, dims: cells.dims.map(ordered), columns: cells.columns.map(ordered) };
}

function inParts<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / perStatement) }, (_, index) =>
    all.slice(index * perStatement, (index + 1) * perStatement),
  );
}
