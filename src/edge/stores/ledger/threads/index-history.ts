// Indexes the words of hidden messages on the first search, so that compacting and appending stay cheap.
import { codesOf } from "../../../../core/recall/term-codes.ts";
import type { ResultRow, Statement } from "../../sql/database.ts";
import { integer } from "../../sql/read-row.ts";
import type { Row } from "../../sql/tables.ts";
import { isHidden, type Hidden, type HistoryPath } from "./history-path.ts";
import { messageColumns } from "../message-rows.ts";
import { mayRepeat, type Store } from "../store.ts";
import { toHistoryText } from "./history-text.ts";
import type { Segment } from "./thread-path.ts";

/** Indexes everything hidden that is not indexed yet. Others may do the same concurrently. */
export async function indexHidden(
  store: Store,
  { openTurnId }: HistoryPath,
  hidden: Hidden,
): Promise<void> {
  for (const segment of hidden.segments) {
    let after: MessagePlace | null = { seq: -1, index: -1 };
    while (after !== null) {
      const { sql, values } = missingOn(segment, hidden, openTurnId, after);
      const rows: readonly ResultRow[] = await store.database.query(sql, values);
      after = (await indexRows(store, rows)) ? lastOf(rows) : null;
    }
  }
}

interface MessagePlace {
  readonly seq: number;
  readonly index: number;
}

const messagesPerCommit = 200;

function missingOn(
  { branchId, from, through }: Segment,
  hidden: Hidden,
  openTurnId: string | null,
  after: MessagePlace,
): Statement {
  const shown = isHidden("m", hidden);
  return {
    sql: `SELECT t.id AS turn_id, m.branch_id, m.turn_seq, ${messageColumns} FROM messages m
      JOIN turns t ON t.branch_id = m.branch_id AND t.seq = m.turn_seq
      WHERE m.branch_id = ? AND m.turn_seq BETWEEN ? AND ? AND (m.turn_seq, m.idx) > (?, ?)
        AND t.turn_type = 'normal' AND (t.status = 'completed' OR t.id = ?) AND m.is_replayed = 1 AND ${shown.sql}
        AND NOT EXISTS (SELECT 1 FROM message_terms x WHERE x.branch_id = m.branch_id AND x.turn_seq = m.turn_seq AND x.idx = m.idx AND x.part = 0)
      ORDER BY m.turn_seq, m.idx LIMIT ${messagesPerCommit}`,
    values: [branchId, from, through, after.seq, after.index, openTurnId, ...shown.values],
  };
}

/** Null if these were the last ones. */
function lastOf(rows: readonly ResultRow[]): MessagePlace | null {
  const last = rows.length < messagesPerCommit ? undefined : rows.at(-1);
  return last === undefined
    ? null
    : { seq: integer(last, "turn_seq"), index: integer(last, "idx") };
}

/** PostgreSQL accepts one mebibyte of codes per row. */
const codesPerRow = 20_000;

/** False if a turn was deleted meanwhile. */
async function indexRows(store: Store, rows: readonly ResultRow[]): Promise<boolean> {
  if (rows.length === 0) return true;
  const terms: Row[] = [];
  for (const row of rows) {
    const parts = codesOf(await toHistoryText(store, row), integer(row, "branch_id"), codesPerRow);
    for (const [part, codes] of parts.entries()) {
      terms.push({
        branch_id: integer(row, "branch_id"),
        turn_seq: integer(row, "turn_seq"),
        idx: integer(row, "idx"),
        part,
        terms: codes.join(" "),
      });
    }
  }
  const result = await store.database.commit({
    guards: [],
    writes: [{ into: "message_terms", rows: terms, orIgnore: true }],
    landed: mayRepeat,
  });
  return result.kind === "done";
}
