// Reads turns by number, as much as fits.
import type {
  HistoryPage,
  HistoryRange,
  HistoryText,
  ToolResultPlace,
} from "../../../../core/ledger/history-record.ts";
import type { ResultRow } from "../../sql/database.ts";
import { integer, text } from "../../sql/read-row.ts";
import { storable } from "../../sql/storable.ts";
import { readHistoryPath, type NumberedTurn } from "./history-path.ts";
import { historyColumns, toHistoryText, toPlaces } from "./history-text.ts";
import { readMessages } from "../turns/read-turn.ts";
import type { Store } from "../store.ts";

const charactersUsual = 20_000;

export async function readHistory(store: Store, range: HistoryRange): Promise<HistoryPage> {
  const { turns } = await readHistoryPath(store, range.sessionId);
  const asked = turns.filter(({ number }) => number >= range.from && number <= range.through);
  let room = Math.max(1, Math.trunc(range.charactersMax ?? charactersUsual));
  const messages: HistoryText[] = [];
  for (const turn of asked) {
    const isFirst = turn === asked[0] && turn.number === range.from;
    const start = isFirst ? (range.index ?? 0) : 0;
    for await (const row of messagesOf(store, turn, start)) {
      const index = integer(row, "idx");
      const whole = await toHistoryText(store, row);
      const offset = isFirst && index === start ? Math.max(0, Math.trunc(range.offset ?? 0)) : 0;
      if (whole.length <= offset) continue;
      if (room === 0)
        return { messages, next: { turn: turn.number, index, offset }, turns: turns.length };
      const [place] = await toPlaces(store, [{ row, turn }]);
      if (place === undefined) continue;
      const end = endOfPart(whole, offset, room);
      messages.push({ ...place, text: whole.slice(offset, end), offset, characters: whole.length });
      room -= end - offset;
      if (end < whole.length) {
        return { messages, next: { turn: turn.number, index, offset: end }, turns: turns.length };
      }
    }
  }
  return { messages, next: null, turns: turns.length };
}

/** Never splits a surrogate pair. */
function endOfPart(whole: string, from: number, room: number): number {
  const end = Math.min(whole.length, from + room);
  const isHalf = end < whole.length && /[\udc00-\udfff]/.test(whole.charAt(end));
  return isHalf && end - 1 > from ? end - 1 : end;
}

const messagesPerQuery = 20;

async function* messagesOf(
  { database }: Store,
  { branchId, seq }: NumberedTurn,
  start: number,
): AsyncGenerator<ResultRow> {
  for (let from = start; ;) {
    const rows = await database.query(
      `SELECT ${historyColumns} FROM messages m JOIN turns t ON t.branch_id = m.branch_id AND t.seq = m.turn_seq
        WHERE m.branch_id = ? AND m.turn_seq = ? AND m.idx >= ? AND m.is_replayed = 1 ORDER BY m.idx LIMIT ${messagesPerQuery}`,
      [branchId, seq, from],
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < messagesPerQuery) return;
    from = integer(last, "idx") + 1;
  }
}

/** Where a session's thread answers a tool use. Null if nothing on the thread answers it. */
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
