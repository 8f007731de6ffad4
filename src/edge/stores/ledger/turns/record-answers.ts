// Records tool results before they are sent.
import { toMessageText } from "../../../../core/ledger/message-text.ts";
import type { NewMessage } from "../../../../core/ledger/turn-record.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import { buildOnce } from "../../sql/build-once.ts";
import type { Statement, Write } from "../../sql/database.ts";
import { storable } from "../../sql/storable.ts";
import type { Value } from "../../sql/tables.ts";
import { messageRow, messageWrites } from "../message-rows.ts";
import { takeWrites } from "../queue-items.ts";
import { landedRow, type Store } from "../store.ts";
import { type HeldTurn, type TurnWrite, leaseGuard } from "./held-turn.ts";

/** The tool results for the last call. */
export function answerStep(
  store: Store,
  held: HeldTurn,
  messages: readonly NewMessage[],
  takes: readonly string[] = [],
): TurnWrite {
  const rows = messages.map((message, index) =>
    messageRow(store, message, {
      ...held.place,
      index: held.messageCount + index,
      callNumber: held.callCount + 1,
    }),
  );
  const answers = answersIn(messages, held.messageCount);
  const unexpected = findUnasked(held, answers);
  if (unexpected !== undefined) throw unasked(held, unexpected);
  const last = rows.at(-1);
  return {
    commit: {
      guards: [leaseGuard(store, held)],
      writes: [
        ...messageWrites(rows, messages),
        ...settled(store, held, answers),
        ...takeWrites(takes, held.id),
      ],
      ...(last === undefined
        ? {}
        : {
            landed: () =>
              landedRow("messages", {
                branch_id: held.place.branchId,
                turn_seq: held.place.seq,
                idx: last["idx"] ?? null,
                hash: last["hash"] ?? null,
              }),
          }),
    },
    next: {
      ...held,
      messageCount: held.messageCount + rows.length,
      staged: [...held.staged, ...rows.map((_row, index) => held.messageCount + index)],
      unanswered: stillOpen(held, answers),
    },
  };
}

function unasked({ id, callCount }: HeldTurn, { toolUseId }: Answer): StrataError {
  return new StrataError(
    "input-invalid",
    `tool use ${toolUseId} does not wait for an answer after call ${callCount} of turn ${id}`,
    "answer each tool use of the last reply once",
  );
}

/** Asks whether all these answers are already recorded. Null if they cannot be. */
export function repeatedAnswers(held: HeldTurn, messages: readonly NewMessage[]): Statement | null {
  if (findUnasked(held, answersIn(messages, 0)) === undefined) return null;
  const { place, callCount } = held;
  const hashes = messages.map(({ message }) => toMessageText(message).hash);
  return {
    sql: `SELECT 1 AS landed FROM messages WHERE branch_id = ? AND turn_seq = ? AND call_number = ? AND hash IN (${hashes.map(() => "?").join(", ")}) GROUP BY turn_seq HAVING COUNT(*) = ?`,
    values: [place.branchId, place.seq, callCount + 1, ...hashes, hashes.length],
  };
}

function findUnasked({ unanswered }: HeldTurn, answers: readonly Answer[]): Answer | undefined {
  if (answers.length === 0) return undefined;
  const waiting = new Set(unanswered);
  return answers.find(({ toolUseId }) => !waiting.has(toolUseId));
}

export function stillOpen({ unanswered }: HeldTurn, answers: readonly Answer[]): readonly string[] {
  if (unanswered.length === 0) return unanswered;
  const answered = new Set(answers.map(({ toolUseId }) => toolUseId));
  return unanswered.filter((id) => !answered.has(id));
}

interface Answer {
  readonly toolUseId: string;
  readonly isError: boolean;
  /** The place of its message in the turn. */
  readonly index: number;
  readonly ran: NewMessage["ran"];
}

/** `from`: the place of the first message. */
export function answersIn(messages: readonly NewMessage[], from: number): readonly Answer[] {
  const answers: Answer[] = [];
  let index = from;
  for (const { message, ran } of messages) {
    for (const block of message.content) {
      if (block.type !== "tool_result") continue;
      answers.push({ toolUseId: storable(block.toolUseId), isError: block.isError, index, ran });
    }
    index += 1;
  }
  return answers;
}

/** A statement takes a limited number of values. */
const answersPerWrite = 500;

/** Sets how each tool ended, when, and where its result is. */
export function settled(
  store: Store,
  held: HeldTurn,
  answers: readonly Answer[],
): readonly Write[] {
  if (answers.length === 0) return [];
  const once = [...new Map(answers.map((answer) => [answer.toolUseId, answer])).values()];
  const nowMs = store.now();
  const writes: Write[] = [];
  for (let from = 0; from < once.length; from += answersPerWrite) {
    writes.push(settlement(held, once.slice(from, from + answersPerWrite), nowMs));
  }
  return writes;
}

function settlement({ id }: HeldTurn, answers: readonly Answer[], nowMs: number): Write {
  const sets = settledColumns.flatMap(({ valueOf }) =>
    answers.flatMap((answer) => [answer.toolUseId, valueOf(answer, nowMs)]),
  );
  return {
    sql: settle(answers.length),
    values: [...sets, id, ...answers.map(({ toolUseId }) => toolUseId)],
  };
}

interface SettledColumn {
  readonly name: string;
  readonly type: "TEXT" | "BIGINT";
  readonly valueOf: (answer: Answer, nowMs: number) => Value;
}

const settledColumns: readonly SettledColumn[] = [
  { name: "status", type: "TEXT", valueOf: ({ isError }) => (isError ? "failed" : "succeeded") },
  { name: "result_idx", type: "BIGINT", valueOf: ({ index }) => index },
  { name: "started_ms", type: "BIGINT", valueOf: ({ ran }) => ran?.startMs ?? null },
  { name: "completed_ms", type: "BIGINT", valueOf: ({ ran }, nowMs) => ran?.endMs ?? nowMs },
];

/** By the number of answers. */
const settle = buildOnce((count: number) => {
  const sets = settledColumns.map(
    ({ name, type }) =>
      `${name} = CASE tool_use_id${` WHEN ? THEN CAST(? AS ${type})`.repeat(count)} END`,
  );
  const ids = Array.from({ length: count }, () => "?");
  return `UPDATE tool_calls SET ${sets.join(", ")} WHERE turn_id = ? AND status = 'pending' AND tool_use_id IN (${ids.join(", ")})`;
});
