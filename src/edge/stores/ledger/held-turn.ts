// A turn that somebody holds: what its holder knows, and the guard that it is still theirs.
import type { Commit, Guard } from "../sql/database.ts";
import type { Value } from "../sql/tables.ts";
import type { Store } from "./store.ts";
import type { TurnPlace } from "./turn-rows.ts";

/** What the holder of a turn knows without asking. */
export interface HeldTurn {
  readonly id: string;
  readonly sessionId: string;
  readonly provider: string;
  readonly place: TurnPlace;
  /** Who it is held by, as the ledger has it. */
  readonly holder: string;
  /** The fencing token of its lease. */
  readonly token: number;
  readonly parentTurnId: string | null;
  readonly moveCount: number;
  readonly callCount: number;
  readonly messageCount: number;
  /** Places of the messages that are recorded for the call that comes next, in order. */
  readonly staged: readonly number[];
  /** Tool uses of the last call that have no answer yet. */
  readonly unanswered: readonly string[];
}

export interface Step {
  readonly commit: Commit;
  readonly next: HeldTurn;
}

/** The session's row, if it is still ours. Every commit is a sign of life. */
export function leaseGuard(
  store: Store,
  held: HeldTurn,
  set = "",
  values: readonly Value[] = [],
): Guard {
  const clock = store.clock();
  return {
    name: "lease",
    sql: `UPDATE sessions SET ${set}lease_expires_ms = ${clock.sql} + ? WHERE id = ? AND lease_holder = ? AND lease_token = ? AND open_turn_id = ?`,
    values: [...values, ...clock.values, store.leaseMs, ...leaseValues(held)],
  };
}

export function leaseValues(held: HeldTurn): readonly Value[] {
  return [held.sessionId, held.holder, held.token, held.id];
}
