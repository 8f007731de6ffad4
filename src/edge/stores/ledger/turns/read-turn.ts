// Reads everything in one turn.
import type { CallRecord } from "../../../../core/ledger/call-entry.ts";
import type { UnpricedCalls } from "../../../../core/ledger/ledger.ts";
import type { ThreadMessage, ToolCallRecord } from "../../../../core/ledger/turn-record.ts";
import { fromMessageText } from "../../../../core/ledger/message-text.ts";
import type { ResultRow } from "../../sql/database.ts";
import { integer, integerOrNull, readAs, text, textOrNull } from "../../sql/read-row.ts";
import { selected } from "../../sql/tables.ts";
import { toCallRecord } from "./call-rows.ts";
import { messageColumns, toThreadMessage } from "../message-rows.ts";
import type { Store } from "../store.ts";
import { toToolCall } from "./turn-rows.ts";

export async function readCalls(
  { database }: Store,
  turnId: string,
): Promise<readonly CallRecord[]> {
  const rows = await database.query(
    `SELECT ${selected("calls")} FROM calls WHERE turn_id = ? ORDER BY number`,
    [turnId],
  );
  return rows.map(toCallRecord);
}

/** Billed, and at an unknown price. */
export const isUnpricedSql = "cost_pico_usd IS NULL AND uncached_tokens IS NOT NULL";

export async function readUnpriced(
  { database }: Store,
  sessionIds: readonly string[],
): Promise<readonly UnpricedCalls[]> {
  if (sessionIds.length === 0) return [];
  const rows = await database.query(
    `SELECT session_id, turn_id, COUNT(*) AS calls FROM calls WHERE ${isUnpricedSql} AND session_id IN (${sessionIds.map(() => "?").join(", ")}) GROUP BY session_id, turn_id ORDER BY session_id, turn_id`,
    sessionIds,
  );
  return rows.map((row) => ({
    sessionId: text(row, "session_id"),
    turnId: textOrNull(row, "turn_id"),
    calls: integer(row, "calls"),
  }));
}

export async function readMessages(
  { database }: Store,
  turnId: string,
): Promise<readonly ThreadMessage[]> {
  const rows = await database.query(
    `SELECT t.id AS turn_id, ${messageColumns} FROM turns t JOIN messages m ON m.branch_id = t.branch_id AND m.turn_seq = t.seq WHERE t.id = ? ORDER BY m.idx`,
    [turnId],
  );
  return rows.map(toThreadMessage);
}

/** In the order in which they were asked for, with what their links lead to. */
export async function readToolCalls(
  { database }: Store,
  turnId: string,
): Promise<readonly ToolCallRecord[]> {
  const rows = await database.query(
    `SELECT ${selected("tool_calls", "u")}, q.role, q.content, q.wire, q.message_id, r.message_id AS result_id,
      (SELECT MIN(s.id) FROM sessions s WHERE s.parent_turn_id = u.turn_id AND s.spawn_tool_use_id = u.tool_use_id) AS spawned_id
    FROM tool_calls u JOIN turns t ON t.id = u.turn_id
    LEFT JOIN messages q ON q.branch_id = t.branch_id AND q.turn_seq = t.seq AND q.idx = u.message_idx
    LEFT JOIN messages r ON r.branch_id = t.branch_id AND r.turn_seq = t.seq AND r.idx = u.result_idx
    WHERE u.turn_id = ? ORDER BY u.call_number, u.position, u.tool_use_id`,
    [turnId],
  );
  return rows.map((row) => ({
    ...toToolCall(row),
    inputJson: row["content"] === null ? null : readAs(row, "content", () => inputIn(row)),
    messageId: textOrNull(row, "message_id"),
    resultMessageId: textOrNull(row, "result_id"),
    spawnedSessionId: textOrNull(row, "spawned_id"),
  }));
}

/** The parameters in the message that asked. */
function inputIn(row: ResultRow): string | null {
  const [content, wire] = [text(row, "content"), textOrNull(row, "wire")];
  const { content: blocks } = fromMessageText({ role: "assistant", content, wire });
  const block = blocks[integerOrNull(row, "position") ?? -1];
  return block?.type === "tool_use" ? block.inputJson : null;
}
