// Opens a turn: the lease on its session, its row and its first messages in one commit.
import type { OpenTurn } from "../../../../core/ledger/ledger.ts";
import { TurnLeftOpen } from "../../../../core/ledger/queue-record.ts";
import type { NewTurn } from "../../../../core/ledger/turn-record.ts";
import type { StrataError } from "../../../../core/strata-error.ts";
import { buildOnce } from "../../sql/build-once.ts";
import type { Commit } from "../../sql/database.ts";
import { checkFoundation } from "../../sql/storable.ts";
import { contentWrites, messageRow, messageWrites } from "../message-rows.ts";
import { orGiveUp } from "../lease-holder.ts";
import { countWaiting, takeWrites, untakenGuard } from "../queue-items.ts";
import { type KnownSession, needSession } from "../sessions/session-rows.ts";
import {
  busy,
  busyWith,
  commitOnce,
  conflict,
  requireOurs,
  seqStep,
  triesMax,
  type NextPlace,
  type Store,
} from "../store.ts";
import { landedLease, type HeldTurn } from "./held-turn.ts";
import { holdTurn } from "./hold-turn.ts";
import { newTurnRow } from "./turn-rows.ts";
import { checkName } from "../sessions/write-session.ts";

/** The commit checks that the pointer has not moved since it was read, or since this process closed the last turn. */
export async function openTurn(store: Store, turn: NewTurn): Promise<OpenTurn> {
  checkName(turn.id, "turn");
  checkFoundation(`turn ${turn.id}`, turn.foundation);
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const next = (await takeRemembered(store, turn)) ?? (await readPlace(store, turn));
    const held = heldOf(store, next, turn);
    const result = await orGiveUp(held.holder, () =>
      commitOnce(store, openCommit(store, next, turn, held)),
    );
    if (result.kind === "done") return holdTurn(store, held);
    if (result.kind === "taken") {
      throw conflict(`turn ${turn.id} is already in the ledger`, "give every turn its own id");
    }
    if (result.kind === "refused" && result.guard === "queue") throw takenByOthers(turn);
    // Another writer was faster, or deleted a text this turn shares. Reads again; `checkFree` then says what blocks it.
  }
  throw busyWith(turn.sessionId);
}

/** Null if the session must be read: also where messages wait, so that the error says how many. */
async function takeRemembered(store: Store, turn: NewTurn): Promise<NextPlace | null> {
  const place = store.nextPlaces.get(turn.sessionId);
  if (place === undefined) return null;
  store.nextPlaces.delete(turn.sessionId);
  return (await countBefore(store, turn)) === 0 ? place : null;
}

async function readPlace(store: Store, turn: NewTurn): Promise<NextPlace> {
  const [known, waitingCount] = await Promise.all([
    needSession(store, turn.sessionId),
    countBefore(store, turn),
  ]);
  checkFree(known, turn, waitingCount);
  const { branchId, nextSeq, moveCount, lease } = known;
  return { branchId, nextSeq, moveCount, leaseToken: lease.token };
}

/** How many messages should have their turn before this one. */
async function countBefore(store: Store, { sessionId, takes }: NewTurn): Promise<number> {
  return takes?.length === 0 ? countWaiting(store, sessionId) : 0;
}

function heldOf(store: Store, next: NextPlace, turn: NewTurn): HeldTurn {
  return {
    id: turn.id,
    sessionId: turn.sessionId,
    provider: turn.provider,
    switches: [],
    place: { branchId: next.branchId, seq: next.nextSeq },
    holder: store.newHolder(),
    token: next.leaseToken + 1,
    parentTurnId: turn.parentTurnId,
    moveCount: next.moveCount,
    callCount: 0,
    messageCount: turn.messages.length,
    staged: turn.messages.map((_message, index) => index),
    unanswered: [],
  };
}

const opening = buildOnce(
  (clockSql: string) =>
    `UPDATE sessions SET open_turn_id = ?, next_seq = ?, lease_holder = ?, lease_token = ?, lease_expires_ms = ${clockSql} + ?, updated_ms = ? WHERE id = ? AND status = 'active' AND open_turn_id IS NULL AND head_turn_id IS NOT DISTINCT FROM ? AND branch_id = ? AND next_seq = ? AND lease_token = ? AND move_count = ?`,
);

function openCommit(store: Store, next: NextPlace, turn: NewTurn, held: HeldTurn): Commit {
  const { place, token, holder } = held;
  const clock = store.clock();
  const rows = turn.messages.map((message, index) =>
    messageRow(store, message, { ...place, index, callNumber: 1 }),
  );
  const { takes = [] } = turn;
  return {
    guards: [
      ...takes.map(untakenGuard),
      {
        name: "session",
        sql: opening(clock.sql),
        values: [
          turn.id,
          place.seq + seqStep,
          holder,
          token,
          ...clock.values,
          store.leaseMs,
          store.now(),
          turn.sessionId,
          turn.parentTurnId,
          next.branchId,
          next.nextSeq,
          next.leaseToken,
          next.moveCount,
        ],
      },
    ],
    writes: [
      ...contentWrites(turn.foundation === undefined ? [] : [turn.foundation]),
      { into: "turns", rows: [newTurnRow(turn, place)] },
      ...messageWrites(rows, turn.messages),
      ...takeWrites(takes, turn.id),
    ],
    landed: () => landedLease(held),
  };
}

/** Throws an error that names what blocks the session. */
function checkFree({ record, lease }: KnownSession, turn: NewTurn, waitingCount: number): void {
  const { id, openTurnId, headTurnId, status } = record;
  requireOurs(record);
  if (status !== "active") {
    throw conflict(`session ${id} is archived`, "activate it first, or fork it");
  }
  if (openTurnId !== null && lease.isLive) {
    throw busy(
      `session ${id} is busy: ${String(lease.holder)} runs turn ${openTurnId}`,
      "wait until that turn is closed, or fork the session",
    );
  }
  if (openTurnId !== null) {
    throw new TurnLeftOpen(
      "conflict",
      `turn ${openTurnId} of session ${id} was interrupted`,
      "resume it or abandon it first",
    );
  }
  if (headTurnId !== turn.parentTurnId) {
    throw busy(
      `session ${id} has moved on: it points at ${headTurnId ?? "no turn"}, not at ${turn.parentTurnId ?? "no turn"}`,
      "read the session again and continue from there, or fork it from your turn",
    );
  }
  if (waitingCount > 0) {
    throw busy(
      `${waitingCount} messages wait in the queue of session ${id}`,
      "run them first, or drop them",
    );
  }
}

function takenByOthers({ id, sessionId }: NewTurn): StrataError {
  return busy(
    `the messages of turn ${id} no longer wait in the queue of session ${sessionId}`,
    "read the queue again",
  );
}
