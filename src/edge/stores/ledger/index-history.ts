// The words of hidden messages, indexed when somebody looks for them: folding stays small, and appending costs nothing.
import { codesOf } from "../../../core/recall/term-codes.ts";
import type { ResultRow, Statement } from "../sql/database.ts";
import { integer } from "../sql/read-row.ts";
import type { Row } from "../sql/tables.ts";
import { isHidden, type Hidden, type HistoryPath } from "./history-path.ts";
import { messageColumns } from "./message-rows.ts";
import { mayRepeat, type Store } from "./store.ts";
import { toHistoryText } from "./history-text.ts";
import { pagesOf, type Segment } from "./thread-path.ts";
import { rangesSql, rangeValues } from "./threads.ts";

/** Whatever is hidden and not indexed yet. Others may do the same at the same time. */
export async function indexHidden(
  store: Store,
  { openTurnId }: HistoryPath,
  hidden: Hidden,
): Promise<void> {
  if ((await readMissing(store, hidden, hidden.segments, openTurnId, 1)).length === 0) return;
  for (const page of pagesOf(hidden.segments, turnsPerPage)) {
    for (let isDone = false; !isDone;) {
      const rows = await readMissing(store, hidden, page, openTurnId, messagesPerCommit);
      isDone = rows.length < messagesPerCommit;
      if (rows.length > 0 && !(await indexRows(store, rows))) isDone = true;
    }
  }
}

const turnsPerPage = 64;
const messagesPerCommit = 200;

async function readMissing(
  { database }: Store,
  hidden: Hidden,
  segments: readonly Segment[],
  openTurnId: string | null,
  limit: number,
): Promise<readonly ResultRow[]> {
  const { sql, values } = missingOn(segments, hidden, openTurnId);
  return database.query(`${sql} LIMIT ?`, [...values, limit]);
}

function missingOn(
  segments: readonly Segment[],
  hidden: Hidden,
  openTurnId: string | null,
): Statement {
  const shown = isHidden("m", hidden);
  return {
    sql: `${rangesSql(segments)} SELECT t.id AS turn_id, m.branch_id, m.turn_seq, ${messageColumns} FROM ranges r
      JOIN turns t ON t.branch_id = r.branch_id AND t.seq BETWEEN r.low AND r.high
      JOIN messages m ON m.branch_id = t.branch_id AND m.turn_seq = t.seq
      WHERE t.turn_type = 'normal' AND (t.status = 'completed' OR t.id = ?) AND m.is_replayed = 1 AND ${shown.sql}
        AND NOT EXISTS (SELECT 1 FROM message_terms x WHERE x.branch_id = m.branch_id AND x.turn_seq = m.turn_seq AND x.idx = m.idx AND x.part = 0)
      ORDER BY r.number, t.seq, m.idx`,
    values: [...rangeValues(segments), openTurnId, ...shown.values],
  };
}

/** PostgreSQL takes a mebibyte of codes in one row. */
const codesPerRow = 20_000;

/** False where a turn was deleted meanwhile. */
async function indexRows(store: Store, rows: readonly ResultRow[]): Promise<boolean> {
  const terms: Row[] = [];
  for (const row of rows) {
    const parts = codesOf(await toHistoryText(store, row), codesPerRow);
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
