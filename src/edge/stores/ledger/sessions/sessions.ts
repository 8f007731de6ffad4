// Sessions: created, found, listed, archived.
import { randomUUID } from "node:crypto";
import type { Ledger } from "../../../../core/ledger/ledger.ts";
import type { NewTurn } from "../../../../core/ledger/turn-record.ts";
import type {
  NewSession,
  SessionFilter,
  SessionRecord,
} from "../../../../core/ledger/session-record.ts";
import type { Statement } from "../../sql/database.ts";
import { text } from "../../sql/read-row.ts";
import { checkFoundation } from "../turns/check-foundation.ts";
import {
  findKnown,
  needSession,
  newSessionRow,
  selectSessions,
  toKnown,
  toMove,
} from "./session-rows.ts";
import { commitOnce, conflict, landedRow, notFound, type Store } from "../store.ts";
import { auditWrites, sessionCounts } from "../audit.ts";
import { writeSession, checkName } from "./write-session.ts";
import { forkSession, moveSession } from "./fork-session.ts";

type SessionParts = Pick<
  Ledger,
  | "createSession"
  | "findSession"
  | "listSessions"
  | "forkSession"
  | "moveSession"
  | "setStatus"
  | "pointerHistory"
  | "readState"
  | "readContent"
>;

export function sessionParts(store: Store): SessionParts {
  const { database } = store;
  return {
    createSession: (session) => createSession(store, session),
    findSession: async (id) => (await findKnown(store, id))?.record ?? null,
    listSessions: (filter = {}) => listSessions(store, filter),
    forkSession: (fork) => forkSession(store, fork),
    moveSession: (id, turnId) => moveSession(store, id, turnId),
    setStatus: (id, status) => setStatus(store, id, status),
    pointerHistory: async (id) => {
      await needSession(store, id);
      const rows = await database.query(
        "SELECT turn_id, moved_ms, reason FROM session_history WHERE session_id = ? ORDER BY move",
        [id],
      );
      return rows.map(toMove);
    },
    readState: async (id) => {
      const [row] = await database.query("SELECT state_json FROM sessions WHERE id = ?", [id]);
      if (row === undefined) throw notFound(`session ${id}`);
      return row["state_json"] === null ? null : text(row, "state_json");
    },
    readContent: async (hash) => {
      const [row] = await database.query("SELECT text FROM contents WHERE hash = ?", [hash]);
      return row === undefined ? null : text(row, "text");
    },
  };
}

async function createSession(store: Store, session: NewSession): Promise<SessionRecord> {
  const { id, foundation } = session;
  checkName(id);
  checkFoundation(`session ${id}`, foundation);
  const nowMs = store.now();
  await writeSession(store, {
    row: newSessionRow(session, nowMs),
    contents: foundation === undefined ? [] : [foundation],
    fork: null,
    reason: "opened",
    opening: toOpening(session, nowMs),
    also: [],
  });
  return (await needSession(store, id)).record;
}

function toOpening(session: NewSession, startMs: number): NewTurn | null {
  const { id: sessionId, model, provider, role, messages = [] } = session;
  if (messages.length === 0) return null;
  // Not named after the session: the turn may outlive it.
  return {
    id: randomUUID(),
    sessionId,
    parentTurnId: null,
    model,
    provider,
    role,
    startMs,
    messages,
  };
}

async function listSessions(
  { database }: Store,
  filter: SessionFilter,
): Promise<readonly SessionRecord[]> {
  const { status = "active", agent, parentSessionId, before, limit = 50 } = filter;
  const conditions: Statement[] = [
    ...(status === "all" ? [] : [{ sql: "status = ?", values: [status] }]),
    ...(agent === undefined ? [] : [{ sql: "agent = ?", values: [agent] }]),
    ...(parentSessionId === undefined
      ? []
      : [{ sql: "parent_session_id = ?", values: [parentSessionId] }]),
    ...(before === undefined
      ? []
      : [{ sql: "(updated_ms, id) < (?, ?)", values: [before.updatedMs, before.id] }]),
  ];
  const where =
    conditions.length === 0 ? "" : ` WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}`;
  const rows = await database.query(
    `${selectSessions}${where} ORDER BY updated_ms DESC, id DESC LIMIT ?`,
    [...conditions.flatMap(({ values }) => values), limit],
  );
  return rows.map((row) => toKnown(row).record);
}

async function setStatus(
  store: Store,
  id: string,
  status: SessionRecord["status"],
): Promise<SessionRecord> {
  const { record } = await needSession(store, id);
  const result = await commitOnce(store, {
    guards: [
      {
        name: "session",
        sql: "UPDATE sessions SET status = ?, updated_ms = ? WHERE id = ? AND open_turn_id IS NULL AND status <> ?",
        values: [status, store.now(), id, status],
      },
    ],
    writes:
      status === "active"
        ? []
        : await auditWrites(store, {
            type: "session.archived",
            sessionId: id,
            payload: { reason: "user_request", ...sessionCounts(record) },
          }),
    landed: landedRow("sessions", { id, status }),
  });
  if (result.kind !== "done") {
    throw conflict(
      `session ${id} has a turn that is not closed`,
      "close, resume or abandon it first",
    );
  }
  return (await needSession(store, id)).record;
}
