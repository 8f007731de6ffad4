// Records tool results before they are sent.
import { toMessageText } from "../../../../core/ledger/message-text.ts";
import type { NewMessage } from "../../../../core/ledger/turn-record.ts";
import type { Block } from "../../../../core/message/message.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Statement, Write } from "../../sql/database.ts";
import { storable } from "../../sql/storable.ts";
import { messageRow, messageWrites } from "../message-rows.ts";
import { landedRow, type Store } from "../store.ts";
import { type HeldTurn, type Step, leaseGuard } from "./held-turn.ts";

/** The tool results for the last call. */
export function answerStep(store: Store, held: HeldTurn, messages: readonly NewMessage[]): Step {
  const rows = messages.map((message, index) =>
    messageRow(message, {
      ...held.place,
      index: held.messageCount + index,
      callNumber: held.callCount + 1,
    }),
  );
  const answers = answersIn(messages);
  const unexpected = findUnasked(held, answers);
  if (unexpected !== undefined) throw unasked(held, unexpected);
  const last = rows.at(-1);
  return {
    commit: {
      guards: [leaseGuard(store, held)],
      writes: [
        ...messageWrites(rows, messages),
        ...settled(held, answers, false),
        ...settled(held, answers, true),
      ],
      ...(last === undefined
        ? {}
        : {
            landed: landedRow("messages", {
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
  if (findUnasked(held, answersIn(messages)) === undefined) return null;
  const { place, callCount } = held;
  const hashes = messages.map(({ message }) => toMessageText(message).hash);
  return {
    sql: `SELECT 1 AS landed FROM messages WHERE branch_id = ? AND turn_seq = ? AND call_number = ? AND hash IN (${hashes.map(() => "?").join(", ")}) GROUP BY turn_seq HAVING COUNT(*) = ?`,
    values: [place.branchId, place.seq, callCount + 1, ...hashes, hashes.length],
  };
}

function findUnasked({ unanswered }: HeldTurn, answers: readonly Answer[]): Answer | undefined {
  const waiting = new Set(unanswered);
  return answers.find(({ toolUseId }) => !waiting.has(toolUseId));
}

export function stillOpen({ unanswered }: HeldTurn, answers: readonly Answer[]): readonly string[] {
  const answered = new Set(answers.map(({ toolUseId }) => toolUseId));
  return unanswered.filter((id) => !answered.has(id));
}

interface Answer {
  readonly toolUseId: string;
  readonly isError: boolean;
}

export function answersIn(messages: readonly NewMessage[]): readonly Answer[] {
  return messages.flatMap(({ message }) => message.content.flatMap(toAnswer));
}

function toAnswer(block: Block): readonly Answer[] {
  if (block.type !== "tool_result") return [];
  return [{ toolUseId: storable(block.toolUseId), isError: block.isError }];
}

export function settled(
  held: HeldTurn,
  answers: readonly Answer[],
  isError: boolean,
): readonly Write[] {
  const ids = answers.filter((each) => each.isError === isError).map(({ toolUseId }) => toolUseId);
  if (ids.length === 0) return [];
  const places = ids.map(() => "?").join(", ");
  return [
    {
      sql: `UPDATE tool_calls SET status = ? WHERE turn_id = ? AND status = 'pending' AND tool_use_id IN (${places})`,
      values: [isError ? "failed" : "succeeded", held.id, ...ids],
    },
  ];
}
