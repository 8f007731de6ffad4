// Finds where a session's thread answers a tool use.
import type { ToolResultPlace } from "../../../core/ledger/history-record.ts";
import { storable } from "../sql/storable.ts";
import { text } from "../sql/read-row.ts";
import { readHistoryPath } from "./history-path.ts";
import { readMessages } from "./read-turn.ts";
import type { Store } from "./store.ts";

/** Null if nothing on the thread answers it. */
export async function findToolResult(
  store: Store,
  sessionId: string,
  toolUseId: string,
): Promise<ToolResultPlace | null> {
  const rows = await store.database.query("SELECT turn_id FROM tool_calls WHERE tool_use_id = ?", [
    storable(toolUseId),
  ]);
  const asked = new Set(rows.map((row) => text(row, "turn_id")));
  const { turns } = await readHistoryPath(store, sessionId);
  // Some providers restart their ids in every turn. The latest use is meant.
  const turn = turns.findLast(({ id }) => asked.has(id));
  if (turn === undefined) return null;
  const messages = await readMessages(store, turn.id);
  const found = messages.findLast(({ message }) =>
    message.content.some((block) => block.type === "tool_result" && block.toolUseId === toolUseId),
  );
  return found === undefined ? null : { turn: turn.number, index: found.index };
}
