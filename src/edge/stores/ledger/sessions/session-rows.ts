// Converts session rows to records and back.
import type {
  NewSession,
  PointerMove,
  SessionParent,
  SessionRecord,
} from "../../../../core/ledger/session-record.ts";
import { hashContent } from "../../../../core/hash.ts";
import { agentRoles } from "../../../../core/message/assembled-context.ts";
import { buildOnce } from "../../sql/build-once.ts";
import type { Guard, ResultRow } from "../../sql/database.ts";
import { integer, jsonOrNull, money, oneOf, text, textOrNull } from "../../sql/read-row.ts";
import { storable, storableJson, storableOrNull } from "../../sql/storable.ts";
import type { Row } from "../../sql/tables.ts";
import { isHolderGone } from "../lease-holder.ts";
import { isFreeSql, mayRepeat, notFound, seqStep, type Store } from "../store.ts";

/** A session for writers: the record, and the values their guards check. */
export interface KnownSession {
  readonly record: SessionRecord;
  readonly branchId: number;
  readonly nextSeq: number;
  readonly moveCount: number;
  /** Grows with every move and every session it starts. */
  readonly version: number;
  readonly lease: {
    readonly holder: string | null;
    readonly token: number;
    /** By the lease clock, when the row was read. */
    readonly isLive: boolean;
  };
}

const columns = `id, agent, role, model, provider, parent_session_id, parent_turn_id, spawn_tool_use_id, task,
  workspace_path, persona_id, routing_key, foundation_hash, status, branch_id, head_turn_id, open_turn_id, next_seq, move_count,
  turn_count, CAST(cost_pico_usd AS TEXT) AS cost_pico_usd, created_ms, updated_ms, lease_holder, lease_token,
  lease_expires_ms, version, context_json, setup_json, origin`;

/** Releases the lease of an ended process, so that no caller waits for it to expire. */
export async function findKnown(store: Store, id: string): Promise<KnownSession | null> {
  const known = await readKnown(store, id);
  const { holder, isLive } = known?.lease ?? {};
  if (isLive !== true || holder == null || !isHolderGone(holder)) return known;
  const taken: Guard = {
    name: "session",
    sql: "UPDATE sessions SET lease_expires_ms = 0 WHERE id = ? AND lease_holder = ?",
    values: [id, holder],
  };
  const done = await store.database
    .commit({ guards: [taken], writes: [], landed: mayRepeat })
    .catch(() => null);
  // A reader without write access waits like everyone else.
  return done === null ? known : readKnown(store, id);
}

async function readKnown(store: Store, id: string): Promise<KnownSession | null> {
  const { sql, values } = store.clock();
  const [row] = await store.database.query(selectKnown(sql), [...values, ...values, id]);
  return row === undefined ? null : toKnown(row);
}

const selectKnown = buildOnce(
  (clockSql: string) =>
    `SELECT ${columns}, CASE WHEN ${isFreeSql("lease_holder", "lease_expires_ms", clockSql)} THEN 0 ELSE 1 END AS is_live FROM sessions WHERE id = ?`,
);

export async function needSession(store: Store, id: string): Promise<KnownSession> {
  const known = await findKnown(store, id);
  if (known === null) throw notFound(`session ${id}`);
  return known;
}

export const selectSessions: string = `SELECT ${columns}, 0 AS is_live FROM sessions`;

export function toKnown(row: ResultRow): KnownSession {
  return {
    record: toRecord(row),
    branchId: integer(row, "branch_id"),
    nextSeq: integer(row, "next_seq"),
    moveCount: integer(row, "move_count"),
    version: integer(row, "version"),
    lease: {
      holder: textOrNull(row, "lease_holder"),
      token: integer(row, "lease_token"),
      isLive: integer(row, "is_live") === 1,
    },
  };
}

const statuses = ["active", "archived"] as const;
const origins = ["engine", "gateway"] as const;

function toRecord(row: ResultRow): SessionRecord {
  return {
    id: text(row, "id"),
    origin: oneOf(row, "origin", origins),
    agent: text(row, "agent"),
    role: oneOf(row, "role", agentRoles),
    model: text(row, "model"),
    provider: text(row, "provider"),
    parent: toParent(row),
    task: textOrNull(row, "task"),
    workspacePath: textOrNull(row, "workspace_path"),
    personaId: textOrNull(row, "persona_id"),
    routingKey: textOrNull(row, "routing_key"),
    foundationHash: textOrNull(row, "foundation_hash"),
    contextJson: jsonOrNull(row, "context_json"),
    setupJson: jsonOrNull(row, "setup_json"),
    status: oneOf(row, "status", statuses),
    headTurnId: textOrNull(row, "head_turn_id"),
    openTurnId: textOrNull(row, "open_turn_id"),
    turnCount: integer(row, "turn_count"),
    costPicoUsd: money(row, "cost_pico_usd"),
    createdMs: integer(row, "created_ms"),
    updatedMs: integer(row, "updated_ms"),
  };
}

function toParent(row: ResultRow): SessionParent | null {
  const sessionId = textOrNull(row, "parent_session_id");
  if (sessionId === null) return null;
  const turnId = textOrNull(row, "parent_turn_id");
  const toolUseId = textOrNull(row, "spawn_tool_use_id");
  return {
    sessionId,
    ...(turnId === null ? {} : { turnId }),
    ...(toolUseId === null ? {} : { toolUseId }),
  };
}

/** Without its branch. */
export function newSessionRow(session: NewSession, nowMs: number): Row {
  return {
    id: session.id,
    agent: storable(session.agent),
    role: session.role,
    model: storable(session.model),
    provider: storable(session.provider),
    parent_session_id: storableOrNull(session.parent?.sessionId),
    parent_turn_id: storableOrNull(session.parent?.turnId),
    spawn_tool_use_id: storableOrNull(session.parent?.toolUseId),
    task: storableOrNull(session.task),
    workspace_path: storableOrNull(session.workspacePath),
    persona_id: storableOrNull(session.personaId),
    routing_key: storableOrNull(session.routingKey),
    foundation_hash: session.foundation === undefined ? null : hashContent(session.foundation),
    status: "active",
    head_turn_id: null,
    open_turn_id: null,
    next_seq: seqStep,
    move_count: 1,
    turn_count: 0,
    cost_pico_usd: 0,
    created_ms: nowMs,
    updated_ms: nowMs,
    lease_holder: null,
    lease_token: 0,
    lease_expires_ms: 0,
    context_json: storableJson(session.contextJson),
    setup_json: storableJson(session.setupJson),
    state_json: null,
    version: 1,
    origin: "engine",
  };
}

const reasons = ["opened", "turn", "fold", "fork", "moved"] as const;

export function toMove(row: ResultRow): PointerMove {
  return {
    turnId: textOrNull(row, "turn_id"),
    movedMs: integer(row, "moved_ms"),
    reason: oneOf(row, "reason", reasons),
  };
}
