// New paths from a turn: forks a session from it, or moves one to it.
import type { NewFork, ThreadOf } from "../../../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../../../core/ledger/session-record.ts";
import { turnStatuses } from "../../../../core/ledger/turn-record.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Commit } from "../../sql/database.ts";
import { integer, oneOf } from "../../sql/read-row.ts";
import {
  needSession,
  newSessionRow,
  selectSessions,
  toKnown,
  type KnownSession,
} from "./session-rows.ts";
import {
  commitBranching,
  conflict,
  landedRow,
  notFound,
  requireOurs,
  seqStep,
  type Store,
} from "../store.ts";
import type { TurnPlace } from "../turns/turn-rows.ts";
import { auditWrites } from "../event-rows.ts";
import { writeSession, branchRow, checkName } from "./write-session.ts";

export async function forkSession(store: Store, fork: NewFork): Promise<SessionRecord> {
  checkName(fork.id);
  const turnId = await turnOf(store, fork.from);
  const place = turnId === null ? null : await completedPlace(store, turnId);
  const like = await sessionLike(store, fork, place);
  requireOurs(like.record);
  const nowMs = store.now();
  // Cache knowledge is only valid for the prefix it was learned on.
  const isHead = like.record.headTurnId === turnId;
  const [kept] = await store.database.query("SELECT state_json FROM sessions WHERE id = ?", [
    like.record.id,
  ]);
  const { parent: _parent, task: _task, ...record } = like.record;
  await writeSession(store, {
    row: {
      ...newSessionRow(
        {
          id: fork.id,
          agent: record.agent,
          role: record.role,
          model: record.model,
          provider: record.provider,
        },
        nowMs,
      ),
      workspace_path: record.workspacePath,
      persona_id: record.personaId,
      foundation_hash: record.foundationHash,
      context_json: record.contextJson,
      setup_json: record.setupJson,
      state_json: isHead && kept !== undefined ? toText(kept["state_json"]) : null,
      head_turn_id: turnId,
      next_seq: place === null ? seqStep : nextSeqAfter(place.seq),
    },
    contents: [],
    fork: place,
    reason: "fork",
    opening: null,
    also: await auditWrites(store, {
      type: "session.forked",
      sessionId: fork.id,
      payload: { from_session_id: record.id, from_turn_id: turnId },
    }),
  });
  return (await needSession(store, fork.id)).record;
}

function toText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The next whole step, after a turn or after a compaction between two. */
function nextSeqAfter(seq: number): number {
  return (Math.floor(seq / seqStep) + 1) * seqStep;
}

async function turnOf(store: Store, from: ThreadOf): Promise<string | null> {
  return "turnId" in from
    ? from.turnId
    : (await needSession(store, from.sessionId)).record.headTurnId;
}

/** The session to copy settings from: the named one, or the latest on the turn's branch. */
async function sessionLike(
  store: Store,
  { like, from }: NewFork,
  place: TurnPlace | null,
): Promise<KnownSession> {
  if (like !== undefined) return needSession(store, like);
  if ("sessionId" in from) return needSession(store, from.sessionId);
  // The session that made the turn, or any on a branch forked from it.
  const [row] = await store.database.query(
    `${selectSessions} WHERE id IN (SELECT h.session_id FROM session_history h WHERE h.branch_id = ? OR h.branch_id IN (SELECT b.id FROM branches b WHERE b.parent_branch_id = ?)) ORDER BY updated_ms DESC LIMIT 1`,
    [place?.branchId ?? 0, place?.branchId ?? 0],
  );
  if (row !== undefined) return toKnown(row);
  throw new StrataError(
    "input-invalid",
    `no session is left to copy settings from for a fork of turn ${from.turnId}`,
    "name a session to copy them from",
  );
}

async function completedPlace({ database }: Store, turnId: string): Promise<TurnPlace> {
  const [row] = await database.query(
    "SELECT branch_id, seq, status, parent_turn_id FROM turns WHERE id = ?",
    [turnId],
  );
  if (row === undefined) throw notFound(`turn ${turnId}`);
  const status = oneOf(row, "status", turnStatuses);
  if (status === "completed") {
    return { branchId: integer(row, "branch_id"), seq: integer(row, "seq") };
  }
  const parent = row["parent_turn_id"];
  throw conflict(
    `turn ${turnId} is ${status}, so no session can point at it`,
    typeof parent === "string"
      ? `use the turn before it, ${parent}`
      : "it is the first turn of its thread",
  );
}

export async function moveSession(
  store: Store,
  id: string,
  turnId: string,
): Promise<SessionRecord> {
  const known = await needSession(store, id);
  const place = await completedPlace(store, turnId);
  const result = await commitBranching(store, () => moveCommit(store, known, turnId, place));
  if (result.kind !== "done") {
    throw conflict(
      `session ${id} is in use, or was just moved by another process`,
      "read the session again, then move it",
    );
  }
  return (await needSession(store, id)).record;
}

function moveCommit(
  store: Store,
  { record, moveCount }: KnownSession,
  turnId: string,
  place: TurnPlace,
): Commit {
  const { id } = record;
  const branchId = store.newBranchId();
  const movedMs = store.now();
  const move = {
    session_id: id,
    move: moveCount + 1,
    turn_id: turnId,
    branch_id: branchId,
    moved_ms: movedMs,
    reason: "moved",
  };
  return {
    guards: [
      {
        name: "session",
        sql: "UPDATE sessions SET branch_id = ?, head_turn_id = ?, next_seq = ?, move_count = move_count + 1, version = version + 1, updated_ms = ? WHERE id = ? AND open_turn_id IS NULL AND move_count = ?",
        values: [branchId, turnId, nextSeqAfter(place.seq), movedMs, id, moveCount],
      },
    ],
    writes: [
      { into: "branches", rows: [branchRow(branchId, place)] },
      { into: "session_history", rows: [move] },
    ],
    landed: () => landedRow("sessions", { id, branch_id: branchId }),
  };
}
