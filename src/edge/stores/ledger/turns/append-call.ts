// Records a call: the call, its messages, its tool uses and the session's state in one commit.
import type { CallEntry } from "../../../../core/ledger/call-entry.ts";
import type { WithCall } from "../../../../core/ledger/ledger.ts";
import { toMessageText } from "../../../../core/ledger/message-text.ts";
import type { NewMessage } from "../../../../core/ledger/turn-record.ts";
import type { Message } from "../../../../core/message/message.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Statement } from "../../sql/database.ts";
import { storable, storableJson } from "../../sql/storable.ts";
import { addCost, picoUsdMax } from "../../sql/sums.ts";
import type { Row } from "../../sql/tables.ts";
import { callRow } from "./call-rows.ts";
import { endWrites, handBack, handBackUpdate } from "./close-turn.ts";
import { eventWrites } from "../event-rows.ts";
import { messageRow, messageWrites } from "../message-rows.ts";
import { landedRow, type Store } from "../store.ts";
import { type HeldTurn, type TurnWrite, leaseGuard, leaseUpdate } from "./held-turn.ts";
import { stillOpen, answersIn, settled } from "./record-answers.ts";

const learnedColumns = `${addCost}, state_json = COALESCE(?, state_json), updated_ms = ?, `;
const paying = leaseUpdate(learnedColumns);
const payingAtTheEnd = handBackUpdate(learnedColumns);

/** A call with those of its messages that are not recorded yet. */
export function appendStep(
  store: Store,
  held: HeldTurn,
  entry: CallEntry,
  more: WithCall,
): TurnWrite {
  checkCall(held, entry);
  const messages = messagesOfCall(entry, held.staged.length, more);
  const rows = messages.map((message, index) =>
    messageRow(store, message, {
      ...held.place,
      index: held.messageCount + index,
      callNumber: entry.number,
    }),
  );
  const call = toCall(held, entry, rows);
  const uses = entry.reply === null ? [] : toolUsesIn(entry.reply);
  const answers = answersIn(messages, held.messageCount);
  const isWhole = entry.status === "complete";
  // The reply is the last message of its call. A failed call adds none.
  const replyIndex = rows.length === 0 ? null : held.messageCount + rows.length - 1;
  const tools = uses.map((use) => toolRow(entry, use, replyIndex));
  const cost = entry.costPicoUsd ?? 0n;
  const learned = [cost, cost, storableJson(more.stateJson), store.now()];
  const next: HeldTurn = {
    ...held,
    callCount: entry.number,
    messageCount: held.messageCount + rows.length,
    // The next call sends again what a failed call sent.
    staged: isWhole ? [] : held.staged,
    unanswered: [...stillOpen(held, answers), ...(isWhole ? uses.map(({ id }) => id) : [])],
  };
  const { end } = more;
  return {
    commit: {
      guards: [
        end === undefined
          ? leaseGuard(store, held, paying, learned)
          : handBack(held, end, payingAtTheEnd, learned),
      ],
      writes: [
        { into: "calls", rows: [call] },
        ...messageWrites(rows, messages),
        ...(tools.length === 0
          ? []
          : [{ into: "tool_calls" as const, rows: tools, orIgnore: true }]),
        ...settled(store, held, answers),
        ...(end === undefined ? [] : endWrites(store, next, end)),
        ...eventWrites(more.events ?? []),
      ],
      landed: () => landedCall(call),
    },
    next,
    ...(end && { end }),
  };
}

function toolRow(
  { turnId, number, status }: CallEntry,
  { id, name, position }: AskedTool,
  replyIndex: number | null,
): Row {
  return {
    turn_id: turnId,
    tool_use_id: id,
    call_number: number,
    name,
    status: status === "complete" ? "pending" : "cancelled",
    position,
    message_idx: replyIndex,
    result_idx: null,
    started_ms: null,
    completed_ms: null,
  };
}

function toCall(held: HeldTurn, entry: CallEntry, rows: readonly Row[]): Row {
  const { sessionId, provider } = held;
  const replyHash = entry.reply === null ? "" : String(rows.at(-1)?.["hash"]);
  return callRow(entry, { sessionId, provider, replyHash });
}

/** Asks whether exactly this call is recorded. */
function landedCall(call: Row): Statement {
  const { turn_id = null, number = null, entry_hash = null } = call;
  return landedRow("calls", { turn_id, number, entry_hash });
}

/** Asks whether the call recorded under this number is the same. */
export function repeatedCall(held: HeldTurn, entry: CallEntry): Statement {
  const { reply } = entry;
  const rows = reply === null ? [] : [{ hash: toMessageText(reply).hash }];
  return landedCall(toCall(held, entry, rows));
}

/** `whose` is for the error, such as "call 1 of turn a". */
export function checkCost(whose: string, costPicoUsd: bigint | null): void {
  if (costPicoUsd === null || costPicoUsd <= picoUsdMax) return;
  throw new StrataError(
    "input-invalid",
    `${whose} cannot have cost ${costPicoUsd} pico-dollars`,
    "check the counts and prices that the cost is made of",
  );
}

function checkCall(held: HeldTurn, { turnId, number, sent, status, costPicoUsd }: CallEntry): void {
  checkCost(`call ${number} of turn ${turnId}`, costPicoUsd);
  if (turnId !== held.id || number > held.callCount + 1 || number < 1) {
    throw new StrataError(
      "input-invalid",
      `call ${number} of turn ${turnId} cannot follow call ${held.callCount} of turn ${held.id}`,
      "record calls in order, each in its own turn",
    );
  }
  if (status !== "failed" && sent.length < held.staged.length) {
    throw new StrataError(
      "input-invalid",
      `call ${number} of turn ${turnId} sent ${sent.length} messages, but ${held.staged.length} are already recorded for it`,
      "pass everything new in the call, including what was recorded before it",
    );
  }
}

/** What a call adds to its turn: the sent messages not recorded yet, and its reply. */
function messagesOfCall(
  entry: CallEntry,
  staged: number,
  { tokens = [], isReplayed = entry.status === "complete" }: WithCall,
): readonly NewMessage[] {
  const all: readonly Message[] = entry.reply === null ? entry.sent : [...entry.sent, entry.reply];
  // A failed call adds nothing; only what was recorded before it stays.
  const from = entry.status === "failed" ? all.length : staged;
  return all
    .slice(from)
    .map((message, index) => ({ message, tokens: tokens[from + index] ?? 0, isReplayed }));
}

interface AskedTool {
  readonly id: string;
  readonly name: string;
  /** Its place among the blocks of the reply. */
  readonly position: number;
}

function toolUsesIn({ content }: Message): readonly AskedTool[] {
  return content.flatMap((block, position) =>
    block.type === "tool_use"
      ? [{ id: storable(block.id), name: storable(block.name), position }]
      : [],
  );
}
