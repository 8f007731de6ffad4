// Messages as text for searching and reading, with their place in the thread.
import type { HistoryPlace } from "../../../../core/ledger/history-record.ts";
import type { ThreadMessage } from "../../../../core/ledger/turn-record.ts";
import { toSearchableText } from "../../../../core/recall/searchable-text.ts";
import type { ResultRow } from "../../sql/database.ts";
import { integer, text } from "../../sql/read-row.ts";
import { messageColumns, toThreadMessage } from "../message-rows.ts";
import type { NumberedTurn } from "./history-path.ts";
import { storable } from "../../sql/storable.ts";
import type { Store } from "../store.ts";

/** The text of a row with `turn_id` and the message's columns. The full text if the message was shortened. */
export async function toHistoryText({ database }: Store, row: ResultRow): Promise<string> {
  const { message, wholeHash } = toThreadMessage(row);
  if (wholeHash === null) return toSearchableText(message, null);
  const [found] = await database.query("SELECT text FROM contents WHERE hash = ?", [wholeHash]);
  return toSearchableText(message, found === undefined ? null : text(found, "text"));
}

/** Columns of `messages m` and `turns t`, with the time of the call. */
export const historyColumns: string = `t.id AS turn_id, m.branch_id, m.turn_seq, ${messageColumns}, COALESCE((SELECT c.started_ms FROM calls c WHERE c.turn_id = t.id AND c.number = m.call_number), t.started_ms) AS time_ms`;

/** Adds the names of the tools that were called or answered. */
export async function toPlaces(
  { database }: Store,
  rows: readonly { readonly row: ResultRow; readonly turn: NumberedTurn }[],
): Promise<readonly HistoryPlace[]> {
  const messages = rows.map(({ row }) => toThreadMessage(row));
  const answered = messages.flatMap(answeredIn);
  const places = answered.map(() => "(?, ?)").join(", ");
  const found =
    answered.length === 0
      ? []
      : await database.query(
          `SELECT turn_id, tool_use_id, name FROM tool_calls WHERE (turn_id, tool_use_id) IN (VALUES ${places})`,
          answered.flatMap(({ turnId, toolUseId }) => [turnId, toolUseId]),
        );
  const names = new Map(
    found.map((row) => [`${text(row, "turn_id")} ${text(row, "tool_use_id")}`, text(row, "name")]),
  );
  return rows.map(({ row, turn }, index) => {
    const message = messages[index] ?? toThreadMessage(row);
    return {
      turnId: turn.id,
      turn: turn.number,
      index: message.index,
      role: message.message.role,
      toolName: toolNameOf(message, names),
      timeMs: integer(row, "time_ms"),
    };
  });
}

interface Answered {
  readonly turnId: string;
  readonly toolUseId: string;
}

function answeredIn({ turnId, message }: ThreadMessage): readonly Answered[] {
  return message.content.flatMap((block) =>
    block.type === "tool_result" ? [{ turnId, toolUseId: storable(block.toolUseId) }] : [],
  );
}

function toolNameOf(each: ThreadMessage, names: ReadonlyMap<string, string>): string | null {
  const asked = each.message.content.flatMap((block) =>
    block.type === "tool_use" ? [block.name] : [],
  );
  const answered = answeredIn(each).flatMap(
    ({ turnId, toolUseId }) => names.get(`${turnId} ${toolUseId}`) ?? [],
  );
  const found = [...new Set([...asked, ...answered])];
  return found.length === 0 ? null : found.join(", ");
}
