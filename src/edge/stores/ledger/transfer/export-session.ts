// A session as lines: a header, its contents, its branches from the root on, and each turn with its rows.
import type { Database } from "../../sql/database.ts";
import { integer, integerOrNull, text } from "../../sql/read-row.ts";
import { line, rowsOf } from "./export-rows.ts";
import { needSession } from "../sessions/session-rows.ts";
import { seqStep, type Store } from "../store.ts";

export const exportFormat = "strata-session/1";

/** The exported part of a branch: all of it, or what is shared of an ancestor. */
interface ExportedBranch {
  readonly id: number;
  /** Its number in the file, from 0. */
  readonly number: number;
  readonly parent: number | null;
  readonly forkSeq: number | null;
  readonly through: number | null;
}

/** A consistent snapshot: concurrent writes are not in it, not even in part. */
export async function* exportSession(store: Store, id: string): AsyncGenerator<string> {
  const { query, end } = await holdSnapshot(store.database);
  try {
    let rows = -1;
    for await (const each of exportLines(
      { ...store, database: { ...store.database, query } },
      id,
    )) {
      rows += 1;
      yield each;
    }
    yield line("end", { rows });
  } finally {
    await end();
  }
}

async function* exportLines(store: Store, id: string): AsyncGenerator<string> {
  const { record } = await needSession(store, id);
  const branches = await branchesOf(store, id);
  const numbers = new Map(branches.map((branch) => [branch.id, branch.number]));
  yield line("strata", { format: exportFormat, session: id });
  const written = new Set<string>();
  if (record.foundationHash !== null) yield* contentsOf(store, [record.foundationHash], written);
  for (const branch of branches) {
    const { number, parent, forkSeq } = branch;
    yield line("branches", { id: number, parent_branch_id: parent, fork_seq: forkSeq });
    yield* turnsOf(store, branch, numbers, written);
  }
  yield* rowsOf(store, "sessions", "id = ?", [id], numbers);
  yield* rowsOf(store, "session_history", "session_id = ? ORDER BY move", [id], numbers);
  const lone = "turn_id IS NULL AND session_id = ? ORDER BY started_ms, id";
  yield* rowsOf(store, "calls", lone, [id], numbers);
  const blocks = "session_id = ? ORDER BY call_id, idx";
  yield* rowsOf(store, "conversation_blocks", blocks, [id], numbers);
  yield* eventsOf(store, id);
}

/** Each text once, one at a time, because a text may be large. */
async function* contentsOf(
  store: Store,
  hashes: readonly string[],
  written: Set<string>,
): AsyncGenerator<string> {
  for (const hash of hashes) {
    if (written.has(hash)) continue;
    written.add(hash);
    yield* rowsOf(store, "contents", "hash = ?", [hash], new Map());
  }
}

/** In the order of the session's moves, parents first, so that an import gives the same numbers. */
async function branchesOf({ database }: Store, id: string): Promise<readonly ExportedBranch[]> {
  const moves = await database.query(
    "SELECT branch_id FROM session_history WHERE session_id = ? ORDER BY move",
    [id],
  );
  const own = new Set(moves.map((row) => integer(row, "branch_id")));
  const found = new Map<number, { parent: number | null; forkSeq: number | null }>();
  const visit = async (branchId: number): Promise<void> => {
    if (found.has(branchId)) return;
    const [row] = await database.query(
      "SELECT parent_branch_id, fork_seq FROM branches WHERE id = ?",
      [branchId],
    );
    if (row === undefined) return;
    const parent = integerOrNull(row, "parent_branch_id");
    if (parent !== null) await visit(parent);
    found.set(branchId, { parent, forkSeq: integerOrNull(row, "fork_seq") });
  };
  for (const branchId of own) await visit(branchId);
  const ids = [...found.keys()];
  return [...found].map(([branchId, { parent, forkSeq }], number) => ({
    id: branchId,
    number,
    parent: parent === null ? null : ids.indexOf(parent),
    forkSeq,
    through: own.has(branchId) ? null : sharedThrough(branchId, found.values()),
  }));
}

function sharedThrough(
  branchId: number,
  branches: Iterable<{ readonly parent: number | null; readonly forkSeq: number | null }>,
): number {
  let through = 0;
  for (const { parent, forkSeq } of branches) {
    if (parent === branchId && forkSeq !== null) through = Math.max(through, forkSeq);
  }
  return through;
}

const turnsPerPage = 64;

async function* turnsOf(
  store: Store,
  { id, through }: ExportedBranch,
  numbers: ReadonlyMap<number, number>,
  written: Set<string>,
): AsyncGenerator<string> {
  const [end] = await store.database.query(
    "SELECT COALESCE(MAX(seq), -1) AS seq FROM turns WHERE branch_id = ?",
    [id],
  );
  const last = Math.min(end === undefined ? -1 : integer(end, "seq"), through ?? Infinity);
  const step = turnsPerPage * seqStep;
  for (let from = 0; from <= last; from += step) {
    const range = [id, from, Math.min(from + step - 1, last)];
    const here = "branch_id = ? AND seq BETWEEN ? AND ?";
    const turns = `turn_id IN (SELECT id FROM turns WHERE ${here})`;
    yield* rowsOf(store, "turns", `${here} ORDER BY seq`, range, numbers);
    yield* contentsOf(store, await sharedTexts(store, range), written);
    const messages = "branch_id = ? AND turn_seq BETWEEN ? AND ? ORDER BY turn_seq, idx";
    yield* rowsOf(store, "messages", messages, range, numbers);
    yield* rowsOf(store, "calls", `${turns} ORDER BY turn_id, number`, range, numbers);
    yield* rowsOf(
      store,
      "tool_calls",
      `${turns} ORDER BY turn_id, call_number, tool_use_id`,
      range,
      numbers,
    );
    const byTurn = `${turns} ORDER BY turn_id`;
    yield* rowsOf(store, "compactions_v1", byTurn, range, numbers, { leftOut: [id, last] });
  }
}

/** Texts that these turns, their messages and compactions refer to. */
async function sharedTexts(
  { database }: Store,
  [branchId = 0, from = 0, through = 0]: readonly number[],
): Promise<readonly string[]> {
  const rows = await database.query(
    `SELECT whole_hash AS hash FROM messages WHERE branch_id = ? AND turn_seq BETWEEN ? AND ? AND whole_hash IS NOT NULL
      UNION SELECT f.foundation_hash FROM compactions_v1 f JOIN turns t ON t.id = f.turn_id WHERE t.branch_id = ? AND t.seq BETWEEN ? AND ? AND f.foundation_hash IS NOT NULL
      UNION SELECT foundation_hash FROM turns WHERE branch_id = ? AND seq BETWEEN ? AND ? AND foundation_hash IS NOT NULL
      ORDER BY hash`,
    [1, 2, 3].flatMap(() => [branchId, from, through]),
  );
  return rows.map((row) => text(row, "hash"));
}

async function* eventsOf(store: Store, id: string): AsyncGenerator<string> {
  const none = new Map<number, number>();
  for (let after = ""; ;) {
    const condition = "session_id = ? AND id > ? ORDER BY id LIMIT 500";
    let last = "";
    for await (const each of rowsOf(store, "events", condition, [id, after], none, {
      onRow: (row) => {
        last = text(row, "id");
      },
    })) {
      yield each;
    }
    if (last === "") return;
    after = last;
  }
}

/** A snapshot that stays open until its reader ends it. */
interface HeldSnapshot {
  readonly query: Database["query"];
  readonly end: () => Promise<void>;
}

function holdSnapshot(database: Database): Promise<HeldSnapshot> {
  const { promise: ended, resolve: end } = Promise.withResolvers<null>();
  return new Promise((resolve, reject) => {
    const done = database.snapshot(({ query }) => {
      resolve({
        query,
        end: async () => {
          end(null);
          await done;
        },
      });
      return ended;
    });
    done.catch(reject);
  });
}
