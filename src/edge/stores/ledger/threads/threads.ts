// Reads threads from the root to the head, page by page, without what a compaction hides.
import type { ThreadOf } from "../../../../core/ledger/ledger.ts";
import type { ThreadMessage, TurnRecord } from "../../../../core/ledger/turn-record.ts";
import type { ResultRow, Statement } from "../../sql/database.ts";
import { messageColumns, toThreadMessage } from "../message-rows.ts";
import { readMessages } from "../turns/read-turn.ts";
import type { Store } from "../store.ts";
import {
  endOf,
  keptPath,
  latestCompaction,
  pagesOf,
  wholePath,
  type Segment,
  type TurnCut,
} from "./thread-path.ts";
import { callSums } from "../turns/call-rows.ts";
import { toTurnRecord, turnColumns } from "../turns/turn-rows.ts";

/** How many turns are in memory at a time. */
const turnsPerPage = 64;

export async function* readThread(
  store: Store,
  of: ThreadOf,
  { whole = false }: { readonly whole?: boolean } = {},
): AsyncGenerator<ThreadMessage> {
  const end = await endOf(store, of);
  if (end === null) return;
  const segments = await wholePath(store, end);
  const compaction = whole ? null : await latestCompaction(store, end);
  if (compaction !== null) yield* await readMessages(store, compaction.turnId);
  const kept =
    compaction === null ? { segments, cut: null } : await keptPath(store, segments, compaction);
  const shown = isShown("turnId" in of ? of.turnId : null, kept.cut);
  for (const page of pagesOf(kept.segments, turnsPerPage)) {
    const { sql, values } = messagesOn(page, shown);
    for (const row of await store.database.query(sql, values)) yield toThreadMessage(row);
  }
}

/** Completed turns and the named one as far as it got, without the hidden part of the first kept turn. */
function isShown(namedTurnId: string | null, cut: TurnCut | null): Statement {
  const statuses =
    namedTurnId === null
      ? "t.status = 'completed'"
      : "(t.status = 'completed' OR (t.id = ? AND t.status IN ('pending', 'interrupted')))";
  const uncut = cut === null ? "" : " AND NOT (t.branch_id = ? AND t.seq = ? AND m.idx < ?)";
  return {
    sql: `${statuses} AND t.turn_type = 'normal' AND m.is_replayed = 1${uncut}`,
    values: [
      ...(namedTurnId === null ? [] : [namedTurnId]),
      ...(cut === null ? [] : [cut.branchId, cut.seq, cut.index]),
    ],
  };
}

/** One range scan for a page on one branch, the usual case; otherwise a join with the list of ranges. */
function messagesOn(page: readonly Segment[], shown: Statement): Statement {
  const from = `SELECT t.id AS turn_id, ${messageColumns} FROM`;
  const joined = "JOIN messages m ON m.branch_id = t.branch_id AND m.turn_seq = t.seq";
  const [only] = page;
  if (page.length === 1 && only !== undefined) {
    return {
      sql: `${from} turns t ${joined} WHERE t.branch_id = ? AND t.seq BETWEEN ? AND ? AND ${shown.sql} ORDER BY t.seq, m.idx`,
      values: [only.branchId, only.from, only.through, ...shown.values],
    };
  }
  return {
    sql: `${rangesSql(page)} ${from} ranges r JOIN turns t ON t.branch_id = r.branch_id AND t.seq BETWEEN r.low AND r.high ${joined} WHERE ${shown.sql} ORDER BY r.number, t.seq, m.idx`,
    values: [...rangeValues(page), ...shown.values],
  };
}

/** The CTE `ranges`: number, branch_id, low, high. */
export function rangesSql(page: readonly Segment[]): string {
  const row = "(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))";
  return `WITH ranges (number, branch_id, low, high) AS (VALUES ${page.map(() => row).join(", ")})`;
}

export function rangeValues(page: readonly Segment[]): readonly number[] {
  return page.flatMap(({ branchId, from, through }, index) => [index, branchId, from, through]);
}

export async function* readTurns(store: Store, of: ThreadOf): AsyncGenerator<TurnRecord> {
  const end = await endOf(store, of);
  if (end === null) return;
  const segments = await wholePath(store, end);
  for (const page of pagesOf(segments, turnsPerPage)) {
    const rows: readonly ResultRow[] = await store.database.query(
      `${rangesSql(page)} SELECT ${turnColumns} FROM ranges r
        JOIN turns t ON t.branch_id = r.branch_id AND t.seq BETWEEN r.low AND r.high AND t.status = 'completed'
        LEFT JOIN (${callSums("c.turn_id IN (SELECT i.id FROM ranges r JOIN turns i ON i.branch_id = r.branch_id AND i.seq BETWEEN r.low AND r.high)")}) s ON s.turn_id = t.id
        ORDER BY r.number, t.seq`,
      rangeValues(page),
    );
    for (const row of rows) yield toTurnRecord(row);
  }
}
