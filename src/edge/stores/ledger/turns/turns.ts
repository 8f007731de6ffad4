// Finds turns, and resumes or abandons unfinished ones.
import type { OpenTurn } from "../../../../core/ledger/ledger.ts";
import type { TurnRecord, UnfinishedTurn } from "../../../../core/ledger/turn-record.ts";
import type { Commit, Write } from "../../sql/database.ts";
import type { Value } from "../../sql/tables.ts";
import { integer, text } from "../../sql/read-row.ts";
import { holdTurn } from "./hold-turn.ts";
import { orGiveUp } from "../lease-holder.ts";
import { type KnownSession, needSession } from "../sessions/session-rows.ts";
import {
  busy,
  busyWith,
  commitOnce,
  landedRow,
  notFound,
  requireOurs,
  triesMax,
  type Store,
  isFree,
} from "../store.ts";
import { auditWrites, turnCounts } from "../event-rows.ts";
import { cancelTools, interrupt } from "./close-turn.ts";
import { landedLease, type HeldTurn } from "./held-turn.ts";
import { readCalls, readMessages, readToolCalls } from "./read-turn.ts";
import { callSums } from "./call-rows.ts";
import { toSwitches, toTurnRecord, turnColumns } from "./turn-rows.ts";
import { latestCompaction } from "../threads/thread-path.ts";

export async function findTurn({ database }: Store, id: string): Promise<TurnRecord | null> {
  const [row] = await database.query(
    `SELECT ${turnColumns} FROM turns t LEFT JOIN (${callSums("c.turn_id = ?")}) s ON s.turn_id = t.id WHERE t.id = ?`,
    [id, id],
  );
  return row === undefined ? null : toTurnRecord(row);
}

export async function findUnfinished(
  store: Store,
  sessionId: string,
): Promise<UnfinishedTurn | null> {
  const { record, lease } = await needSession(store, sessionId);
  const { openTurnId } = record;
  if (openTurnId === null || lease.isLive) return null;
  const found = await findTurn(store, openTurnId);
  if (found === null) return null;
  const result = await store.database.commit({
    guards: [
      unheld(
        store,
        "lease_holder = NULL, lease_token = lease_token + 1",
        [],
        [sessionId, openTurnId],
      ),
    ],
    writes: [interrupt(openTurnId), ...(await interruptedWrites(store, sessionId, found))],
    landed: () => landedRow("turns", { id: openTurnId, status: "interrupted" }),
  });
  // Another process found it at the same time and reports it.
  if (result.kind === "refused") return null;
  return {
    turn: { ...found, status: "interrupted" },
    calls: await readCalls(store, openTurnId),
    messages: await readMessages(store, openTurnId),
  };
}

/** Emitted once: a released turn is already marked interrupted. */
async function interruptedWrites(
  store: Store,
  sessionId: string,
  turn: TurnRecord,
): Promise<readonly Write[]> {
  if (turn.status !== "pending") return [];
  return auditWrites(store, {
    type: "turn.interrupted",
    sessionId,
    turnId: turn.id,
    payload: { found_by: "lease_expired", ...turnCounts(turn) },
  });
}

/** A guard on the session's row: its open turn has no live lease. */
function unheld(
  store: Store,
  set: string,
  values: readonly Value[],
  [sessionId, turnId]: readonly [string, string],
): Commit["guards"][number] {
  const free = isFree("lease_holder", "lease_expires_ms", store.clock());
  return {
    name: "session",
    sql: `UPDATE sessions SET ${set} WHERE id = ? AND open_turn_id = ? AND ${free.sql}`,
    values: [...values, sessionId, turnId, ...free.values],
  };
}

export async function resumeTurn(store: Store, sessionId: string): Promise<OpenTurn> {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const known = await needSession(store, sessionId);
    const turnId = needOpen(known);
    requireOurs(known.record);
    if (known.lease.isLive) throw inUse(sessionId, turnId);
    const token = known.lease.token + 1;
    const holder = store.newHolder();
    const clock = store.clock();
    const taking = unheld(
      store,
      `lease_holder = ?, lease_token = ?, lease_expires_ms = ${clock.sql} + ?`,
      [holder, token, ...clock.values, store.leaseMs],
      [sessionId, turnId],
    );
    const take: Commit = {
      guards: [
        {
          ...taking,
          sql: `${taking.sql} AND lease_token = ?`,
          values: [...taking.values, token - 1],
        },
      ],
      writes: [
        {
          sql: "UPDATE turns SET status = 'pending' WHERE id = ? AND status = 'interrupted'",
          values: [turnId],
        },
      ],
      landed: () => landedLease({ id: turnId, sessionId, holder, token }),
    };
    const result = await orGiveUp(holder, () => commitOnce(store, take));
    if (result.kind === "done")
      return holdTurn(store, await loadHeld(store, known, turnId, { holder, token }));
    // Another process just looked at the turn or took it. Reads again; throws if it was taken.
  }
  throw busyWith(sessionId);
}

/** Rebuilds the holder's state from the ledger. */
async function loadHeld(
  store: Store,
  known: KnownSession,
  turnId: string,
  lease: Pick<HeldTurn, "holder" | "token">,
): Promise<HeldTurn> {
  const [row] = await store.database.query(
    "SELECT branch_id, seq, provider, parent_turn_id, switches_json FROM turns WHERE id = ?",
    [turnId],
  );
  if (row === undefined) throw notFound(`turn ${turnId}`);
  const calls = await readCalls(store, turnId);
  const messages = await readMessages(store, turnId);
  const tools = await readToolCalls(store, turnId);
  const callCount = calls.length;
  // The next call sends again what a failed call sent.
  const answered = calls.findLast(({ status }) => status === "complete")?.number ?? 0;
  const parentTurnId = row["parent_turn_id"] === null ? null : text(row, "parent_turn_id");
  const compaction = await latestCompaction(store, parentTurnId);
  // A compaction may cover part of the turn itself.
  const from = compaction?.firstKeptTurnId === turnId ? compaction.firstKeptIndex : 0;
  const staged = messages.filter(
    (each) => each.isReplayed && each.callNumber > answered && each.index >= from,
  );
  return {
    id: turnId,
    sessionId: known.record.id,
    provider: text(row, "provider"),
    switches: toSwitches(row),
    place: { branchId: integer(row, "branch_id"), seq: integer(row, "seq") },
    ...lease,
    parentTurnId,
    moveCount: known.moveCount,
    callCount,
    messageCount: messages.length,
    staged: staged.map(({ index }) => index),
    unanswered: tools
      .filter(({ status }) => status === "pending")
      .map(({ toolUseId }) => toolUseId),
  };
}

export async function abandonTurn(store: Store, sessionId: string): Promise<void> {
  const turnId = needOpen(await needSession(store, sessionId));
  const turn = await findTurn(store, turnId);
  if (turn === null) throw notFound(`turn ${turnId}`);
  const result = await commitOnce(store, {
    guards: [
      unheld(
        store,
        "open_turn_id = NULL, lease_holder = NULL, lease_token = lease_token + 1, updated_ms = ?",
        [store.now()],
        [sessionId, turnId],
      ),
    ],
    writes: [
      {
        sql: "UPDATE turns SET status = 'failed', end_reason = 'abandoned', completed_ms = ? WHERE id = ?",
        values: [store.now(), turnId],
      },
      cancelTools(turnId),
      ...(await auditWrites(store, {
        type: "turn.abandoned",
        sessionId,
        turnId,
        payload: turnCounts(turn),
      })),
    ],
    landed: () => landedRow("turns", { id: turnId, status: "failed", end_reason: "abandoned" }),
  });
  if (result.kind !== "done") throw inUse(sessionId, turnId);
}

function needOpen({ record }: KnownSession): string {
  if (record.openTurnId !== null) return record.openTurnId;
  throw busy(`session ${record.id} has no open turn`, "open a new turn");
}

function inUse(sessionId: string, turnId: string): Error {
  return busy(
    `turn ${turnId} of session ${sessionId} is running: another process holds its lease`,
    "wait until it is closed or its lease expires",
  );
}
