// The state of a held turn, and the guard that checks the lease.
import type { LeftInTurn, TurnEnd } from "../../../../core/ledger/turn-record.ts";
import { buildOnce } from "../../sql/build-once.ts";
import type { Commit, Guard, Statement } from "../../sql/database.ts";
import type { Value } from "../../sql/tables.ts";
import { landedRow, type Store } from "../store.ts";
import type { TurnPlace } from "./turn-rows.ts";

/** What the holder of a turn knows without a query. */
export interface HeldTurn {
  readonly id: string;
  readonly sessionId: string;
  readonly provider: string;
  /** Models that the turn left. */
  readonly switches: readonly LeftInTurn[];
  readonly place: TurnPlace;
  /** The holder's name in the ledger. */
  readonly holder: string;
  /** The fencing token of the lease. */
  readonly token: number;
  readonly parentTurnId: string | null;
  readonly moveCount: number;
  readonly callCount: number;
  readonly messageCount: number;
  /** Places of the messages recorded for the next call, in order. */
  readonly staged: readonly number[];
  /** Tool uses of the last call without an answer. */
  readonly unanswered: readonly string[];
}

/** A commit of a turn, and the turn after it. */
export interface TurnWrite {
  readonly commit: Commit;
  readonly next: HeldTurn;
  /** Absent if the turn goes on. */
  readonly end?: TurnEnd;
}

/** The statement of a lease guard that sets more columns, for each clock. */
export function leaseUpdate(set: string): (clockSql: string) => string {
  return buildOnce(
    (clockSql) =>
      `UPDATE sessions SET ${set}lease_expires_ms = ${clockSql} + ? WHERE id = ? AND lease_holder = ? AND lease_token = ? AND open_turn_id = ?`,
  );
}

const renewal = leaseUpdate("");

/** Updates the session's row if the lease is still ours. Every commit also renews the lease. */
export function leaseGuard(
  store: Store,
  held: HeldTurn,
  update: (clockSql: string) => string = renewal,
  values: readonly Value[] = [],
): Guard {
  const clock = store.clock();
  return {
    name: "lease",
    sql: update(clock.sql),
    values: [...values, ...clock.values, store.leaseMs, ...leaseValues(held)],
  };
}

/** Asks whether this lease was taken. */
export function landedLease({
  id,
  sessionId,
  holder,
  token,
}: Pick<HeldTurn, "id" | "sessionId" | "holder" | "token">): Statement {
  return landedRow("sessions", {
    id: sessionId,
    open_turn_id: id,
    lease_holder: holder,
    lease_token: token,
  });
}

export function leaseValues(held: HeldTurn): readonly Value[] {
  return [held.sessionId, held.holder, held.token, held.id];
}
