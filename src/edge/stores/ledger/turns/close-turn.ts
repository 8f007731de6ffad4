// Closes a turn: status, pointer and pointer history in one commit.
import type { StrataEvent } from "../../../../core/events/event.ts";
import type { TurnEnd } from "../../../../core/ledger/turn-record.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Guard, Write } from "../../sql/database.ts";
import { storableJson, storableOrNull } from "../../sql/storable.ts";
import { eventWrites } from "../event-rows.ts";
import { landedRow, type Store } from "../store.ts";
import { type HeldTurn, type TurnWrite, leaseValues } from "./held-turn.ts";

export function closeStep(
  store: Store,
  held: HeldTurn,
  end: TurnEnd,
  events: readonly StrataEvent[],
): TurnWrite {
  checkAnswered(held, end);
  const isDone = end.status === "completed";
  const move = {
    session_id: held.sessionId,
    move: held.moveCount + 1,
    turn_id: held.id,
    branch_id: held.place.branchId,
    moved_ms: store.now(),
    reason: "turn",
  };
  return {
    commit: {
      guards: [handBack(store, held, end)],
      writes: [
        {
          sql: "UPDATE turns SET status = ?, end_reason = ?, completed_ms = ?, permissions_used = ? WHERE id = ?",
          values: [
            end.status,
            storableOrNull(end.reason),
            end.endMs,
            end.permissionsUsed === undefined ? null : JSON.stringify(end.permissionsUsed),
            held.id,
          ],
        },
        ...(isDone ? [{ into: "session_history" as const, rows: [move] }] : [cancelTools(held.id)]),
        ...eventWrites(events),
      ],
      landed: () =>
        landedRow("turns", { id: held.id, status: end.status, completed_ms: end.endMs }),
    },
    next: held,
  };
}

/** Later calls repeat a completed turn, and providers refuse a tool use without an answer. */
function checkAnswered({ id, unanswered }: HeldTurn, { status }: TurnEnd): void {
  const [first] = unanswered;
  if (status !== "completed" || first === undefined) return;
  throw new StrataError(
    "input-invalid",
    `turn ${id} cannot be completed: tool use ${first} has no answer`,
    "record the tool's answer, or close the turn as failed",
  );
}

/** Releases the lease, and moves the pointer if the turn completed. */
function handBack(store: Store, held: HeldTurn, { status, stateJson }: TurnEnd): Guard {
  const isDone = status === "completed";
  return {
    name: "lease",
    sql: isDone ? handBackMoved : handBackOnly,
    values: [
      ...(isDone ? [held.id] : []),
      storableJson(stateJson),
      store.now(),
      ...leaseValues(held),
    ],
  };
}

const handBackOnly = handBackSql("");
const handBackMoved = handBackSql(
  "head_turn_id = ?, move_count = move_count + 1, turn_count = turn_count + 1, ",
);

function handBackSql(pointer: string): string {
  return `UPDATE sessions SET ${pointer}open_turn_id = NULL, lease_holder = NULL, lease_expires_ms = 0, state_json = COALESCE(?, state_json), updated_ms = ? WHERE id = ? AND lease_holder = ? AND lease_token = ? AND open_turn_id = ?`;
}

export function cancelTools(turnId: string): Write {
  return {
    sql: "UPDATE tool_calls SET status = 'cancelled' WHERE turn_id = ? AND status = 'pending'",
    values: [turnId],
  };
}

export function interrupt(turnId: string): Write {
  return {
    sql: "UPDATE turns SET status = 'interrupted' WHERE id = ? AND status = 'pending'",
    values: [turnId],
  };
}
