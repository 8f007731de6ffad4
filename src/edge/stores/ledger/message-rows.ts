// Message rows ⇄ messages in a thread.
import { fromMessageText, toMessageText } from "../../../core/ledger/message-text.ts";
import {
  messageSources,
  type NewMessage,
  type ThreadMessage,
} from "../../../core/ledger/turn-record.ts";
import type { ResultRow } from "../sql/database.ts";
import { integer, oneOf, text, textOrNull } from "../sql/read-row.ts";
import { storableJson } from "../sql/storable.ts";
import type { Row } from "../sql/tables.ts";
import type { TurnPlace } from "./turn-rows.ts";

export interface MessagePlace extends TurnPlace {
  readonly index: number;
  readonly callNumber: number;
}

export function messageRow(kept: NewMessage, place: MessagePlace): Row {
  const { role, content, wire, hash } = toMessageText(kept.message);
  return {
    branch_id: place.branchId,
    turn_seq: place.seq,
    idx: place.index,
    call_number: place.callNumber,
    role,
    content,
    wire,
    hash,
    tokens: kept.tokens,
    source: kept.source ?? null,
    context_json: storableJson(kept.contextJson),
    is_replayed: kept.isReplayed === false ? 0 : 1,
  };
}

export const messageColumns =
  "m.idx, m.call_number, m.role, m.content, m.wire, m.hash, m.tokens, m.source, m.context_json, m.is_replayed";

const messageRoles = ["user", "assistant", "system", "tool"] as const;

/** Of a row with `turn_id` and the message's columns. */
export function toThreadMessage(row: ResultRow): ThreadMessage {
  const wire = textOrNull(row, "wire");
  const role = oneOf(row, "role", messageRoles);
  return {
    turnId: text(row, "turn_id"),
    index: integer(row, "idx"),
    callNumber: integer(row, "call_number"),
    message: fromMessageText({ role, content: text(row, "content"), wire }),
    tokens: integer(row, "tokens"),
    source: row["source"] === null ? null : oneOf(row, "source", messageSources),
    contextJson: textOrNull(row, "context_json"),
    hash: text(row, "hash"),
    isReplayed: integer(row, "is_replayed") === 1,
  };
}
