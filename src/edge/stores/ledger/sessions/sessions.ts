// Sessions: created, found, listed, archived.
import { randomUUID } from "node:crypto";
import type { SessionsOf } from "../../../../core/ledger/ledger.ts";
import type { NewTurn } from "../../../../core/ledger/turn-record.ts";
import type {
  NewSession,
  PointerMove,
  SessionFilter,
  SessionRecord,
} from "../../../../core/ledger/session-record.ts";
import type { Statement } from "../../sql/database.ts";
import { readAs, text, textOrNull } from "../../sql/read-row.ts";
import { checkFoundation } from "../../sql/storable.ts";
import {
  findKnown,
  needSession,
  newSessionRow,
  selectSessions,
  toKnown,
  toMove,
} from "./session-rows.ts";
import { commitOnce, conflict, landedRow, notFound, type Store } from "../store.ts";
import { auditWrites, sessionCounts } from "../event-rows.ts";
import { writeSession, checkName } from "./write-session.ts";

export async function createSession(store: Store, session: NewSession): Promise<SessionRecord> {
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

export async function findSession(store: Store, id: string): Promise<SessionRecord | null> {
  return (await findKnown(store, id))?.record ?? null;
}

export async function pointerHistory(store: Store, id: string): Promise<readonly PointerMove[]> {
  await needSession(store, id);
  const rows = await store.database.query(
    "SELECT turn_id, moved_ms, reason FROM session_history WHERE session_id = ? ORDER BY move",
    [id],
  );
  return rows.map(toMove);
}

export async function readState({ database }: Store, id: string): Promise<string | null> {
  const [row] = await database.query("SELECT id, state_json FROM sessions WHERE id = ?", [id]);
  if (row === undefined) throw notFound(`session ${id}`);
  if (row["state_json"] !== null) readAs(row, "state_json", JSON.parse);
  return textOrNull(row, "state_json");
}

export async function readLatestStates(
  { database }: Store,
  { agent, role, provider, model, areSubAgents, limit }: SessionsOf,
): Promise<readonly string[]> {
  const rows = await database.query(
    `SELECT id, state_json FROM sessions
     WHERE agent = ? AND role = ? AND provider = ? AND model = ? AND status = 'active' AND state_json IS NOT NULL
       AND parent_session_id IS ${areSubAgents ? "NOT NULL" : "NULL"}
     ORDER BY created_ms DESC LIMIT ?`,
    [agent, role, provider, model, limit],
  );
  return rows.map((row) => text(row, "state_json"));
}

export async function readContent({ database }: Store, hash: string): Promise<string | null> {
  const [row] = await database.query("SELECT text FROM contents WHERE hash = ?", [hash]);
  return row === undefined ? null : text(row, "text");
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

export async function listSessions(
  { database }: Store,
  filter: SessionFilter = {},
): Promise<readonly SessionRecord[]> {
  const { origin = "engine", status = "active", before, limit = 50 } = filter;
  const { agent, parentSessionId, routingKey } = filter;
  const conditions: Statement[] = [
    ...(origin === "all" ? [] : [{ sql: "origin = ?", values: [origin] }]),
    ...(status === "all" ? [] : [{ sql: "status = ?", values: [status] }]),
    ...(agent === undefined ? [] : [{ sql: "agent = ?", values: [agent] }]),
    ...(parentSessionId === undefined
      ? []
      : [{ sql: "parent_session_id = ?", values: [parentSessionId] }]),
    ...(routingKey === undefined ? [] : [{ sql: "routing_key = ?", values: [routingKey] }]),
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

export async function setStatus(
  store: Store,
  id: string,
  status: SessionRecord["status"],
): Promise<SessionRecord> {
  const { record } = await needSession(store, id);
  const result = await commitOnce(store, {
    guards: [
      {
        name: "session",
        // An imported session is archived with its open turn.
        sql: `UPDATE sessions SET status = ?, updated_ms = ? WHERE id = ? AND status <> ?${status === "active" ? "" : " AND open_turn_id IS NULL"}`,
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
    landed: () => landedRow("sessions", { id, status }),
  });
  if (result.kind !== "done") {
    throw conflict(
      `session ${id} has a turn that is not closed`,
      "close, resume or abandon it first",
    );
  }
  return (await needSession(store, id)).record;
}
