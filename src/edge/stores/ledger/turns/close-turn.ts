// Closes a turn: status, pointer and pointer history in one commit.
import type { StrataEvent } from "../../../../core/events/event.ts";
import type { TurnEnd } from "../../../../core/ledger/turn-record.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Guard, Write } from "../../sql/database.ts";
import { storableJson, storableOrNull } from "../../sql/storable.ts";
import type { Value } from "../../sql/tables.ts";
import { eventWrites } from "../event-rows.ts";
import { landedRow, type Store } from "../store.ts";
import { type HeldTurn, type TurnWrite, leaseValues } from "./held-turn.ts";

const closing = handBackUpdate("state_json = COALESCE(?, state_json), updated_ms = ?, ");

export function closeStep(
  store: Store,
  held: HeldTurn,
  end: TurnEnd,
  events: readonly StrataEvent[],
): TurnWrite {
  const learned = [storableJson(end.stateJson), store.now()];
  return {
    commit: {
      guards: [handBack(held, end, closing, learned)],
      writes: [...endWrites(store, held, end), ...eventWrites(events)],
      landed: () =>
        landedRow("turns", { id: held.id, status: end.status, completed_ms: end.endMs }),
    },
    next: held,
    end,
  };
}

/** How the turn ended, and the pointer's move if it completed. */
export function endWrites(store: Store, held: HeldTurn, end: TurnEnd): readonly Write[] {
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
  return [
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
    isDone ? { into: "session_history", rows: [move] } : cancelTools(held.id),
  ];
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
export function handBack(
  held: HeldTurn,
  { status }: TurnEnd,
  update: HandBackUpdate,
  values: readonly Value[],
): Guard {
  const isDone = status === "completed";
  return {
    name: "lease",
    sql: isDone ? update.moving : update.staying,
    values: [...values, ...(isDone ? [held.id] : []), ...leaseValues(held)],
  };
}

/** Two statements: `moving` also moves the pointer. */
interface HandBackUpdate {
  readonly moving: string;
  readonly staying: string;
}

/** `set`: more columns, each followed by a comma. */
export function handBackUpdate(set: string): HandBackUpdate {
  const update = (pointer: string): string =>
    `UPDATE sessions SET ${set}${pointer}open_turn_id = NULL, lease_holder = NULL, lease_expires_ms = 0 WHERE id = ? AND lease_holder = ? AND lease_token = ? AND open_turn_id = ?`;
  return {
    moving: update("head_turn_id = ?, move_count = move_count + 1, turn_count = turn_count + 1, "),
    staying: update(""),
  };
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
