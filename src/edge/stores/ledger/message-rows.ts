// Converts message rows to messages and back.
import { timeOfUlid } from "../../../core/events/event-ids.ts";
import { hashContent } from "../../../core/hash.ts";
import { fromMessageText, toMessageText } from "../../../core/ledger/message-text.ts";
import {
  messageSources,
  type NewMessage,
  type ThreadMessage,
} from "../../../core/ledger/turn-record.ts";
import type { ResultRow, Write } from "../sql/database.ts";
import { integer, jsonOrNull, oneOf, readAs, text, textOrNull } from "../sql/read-row.ts";
import { storable, storableJson } from "../sql/storable.ts";
import type { Row } from "../sql/tables.ts";
import type { Store } from "./store.ts";
import { toSwitches, type TurnPlace } from "./turns/turn-rows.ts";

export interface MessagePlace extends TurnPlace {
  readonly index: number;
  readonly callNumber: number;
}

export function messageRow(
  { newMessageId }: Pick<Store, "newMessageId">,
  kept: NewMessage,
  place: MessagePlace,
): Row {
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
    whole_hash: kept.whole === undefined ? null : hashContent(storable(kept.whole)),
    message_id: newMessageId(),
  };
}

/** The rows of these messages, after the texts they refer to. */
export function messageWrites(
  rows: readonly Row[],
  messages: readonly NewMessage[],
): readonly Write[] {
  const texts = messages.flatMap(({ whole }) => (whole === undefined ? [] : [storable(whole)]));
  return [
    ...contentWrites(texts),
    ...(rows.length === 0 ? [] : [{ into: "messages" as const, rows }]),
  ];
}

/** Stored once by hash. */
export function contentWrites(texts: readonly string[]): readonly Write[] {
  if (texts.length === 0) return [];
  const rows = [...new Set(texts)].map((each) => ({ hash: hashContent(each), text: each }));
  return [{ into: "contents", rows, orIgnore: true }];
}

export const messageColumns =
  "t.model, t.provider, t.switches_json, m.idx, m.call_number, m.role, m.content, m.wire, m.hash, m.tokens, m.source, m.context_json, m.is_replayed, m.whole_hash, m.message_id";

const messageRoles = ["user", "assistant", "system", "tool"] as const;

/** Expects a row with `turn_id` and the columns of the message and of `turns t`. */
export function toThreadMessage(row: ResultRow): ThreadMessage {
  const wire = textOrNull(row, "wire");
  const messageId = textOrNull(row, "message_id");
  const role = oneOf(row, "role", messageRoles);
  const callNumber = integer(row, "call_number");
  const left = toSwitches(row).find(({ through }) => callNumber <= through);
  return {
    turnId: text(row, "turn_id"),
    model: left?.model ?? text(row, "model"),
    provider: left?.provider ?? text(row, "provider"),
    index: integer(row, "idx"),
    callNumber,
    message: readAs(row, "content", (content) => fromMessageText({ role, content, wire })),
    tokens: integer(row, "tokens"),
    source: row["source"] === null ? null : oneOf(row, "source", messageSources),
    contextJson: jsonOrNull(row, "context_json"),
    hash: text(row, "hash"),
    isReplayed: integer(row, "is_replayed") === 1,
    wholeHash: textOrNull(row, "whole_hash"),
    messageId,
    createdMs: messageId === null ? null : readAs(row, "message_id", timeOfUlid),
  };
}
