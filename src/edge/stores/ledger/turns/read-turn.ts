// Reads everything in one turn.
import type { CallRecord } from "../../../../core/ledger/call-entry.ts";
import type { ThreadMessage, ToolCallRecord } from "../../../../core/ledger/turn-record.ts";
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

export async function readToolCalls(
  { database }: Store,
  turnId: string,
): Promise<readonly ToolCallRecord[]> {
  const rows = await database.query(
    "SELECT turn_id, tool_use_id, name, call_number, status FROM tool_calls WHERE turn_id = ? ORDER BY call_number, tool_use_id",
    [turnId],
  );
  return rows.map(toToolCall);
}
