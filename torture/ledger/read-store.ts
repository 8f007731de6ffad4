// Reads the whole store with plain queries.
import type { Database, ResultRow } from "../../src/edge/stores/sql/database.ts";
import { digestText, factOf, type Facts } from "./facts.ts";

export interface StoreView {
  readonly facts: ReadonlyMap<string, string>;
  readonly sessions: ReadonlyMap<string, SessionView>;
  readonly turns: ReadonlyMap<string, TurnView>;
}

export interface SessionView {
  readonly head: string | null;
  readonly open: string | null;
  /** The recorded cost of the session, and the sum of its calls and compacts. */
  readonly cost: bigint;
  readonly billed: bigint;
  /** Its earlier heads, oldest first. */
  readonly moves: readonly (string | null)[];
}

export interface TurnView {
  readonly parent: string | null;
  readonly type: string;
  readonly status: string;
  readonly messages: readonly MessageView[];
  readonly compaction: CompactionView | null;
}

export interface MessageView {
  readonly index: number;
  readonly digest: string;
  readonly isReplayed: boolean;
}

export interface CompactionView {
  readonly firstKept: string | null;
  readonly through: string;
}

export async function readStore({ query }: Pick<Database, "query">): Promise<StoreView> {
  const facts = new Map<string, string>();
  const show = (each: Facts): void => {
    for (const [name, value] of Object.entries(each)) facts.set(name, value);
  };
  const sessions = new Map<string, SessionView & { moves: (string | null)[] }>();
  for (const row of await query(sessionSql)) {
    const [head, open] = [toId(row["head_turn_id"]), toId(row["open_turn_id"])];
    const [cost, billed] = [BigInt(String(row["cost"])), BigInt(String(row["billed"]))];
    sessions.set(String(row["id"]), { head, open, cost, billed, moves: [] });
    show(factOf.session(String(row["id"])));
  }
  for (const row of await query(
    "SELECT session_id, turn_id, reason FROM session_history ORDER BY session_id, move",
  )) {
    const [id, turnId] = [String(row["session_id"]), toId(row["turn_id"])];
    sessions.get(id)?.moves.push(turnId);
    if (turnId !== null) show(factOf.moved(id, turnId, String(row["reason"])));
  }
  const turns = new Map<string, TurnView & { messages: MessageView[] }>();
  for (const row of await query(turnSql)) {
    const [id, type, status] = [String(row["id"]), String(row["turn_type"]), String(row["status"])];
    const through = toId(row["through"]);
    const compaction = through === null ? null : { firstKept: toId(row["first_kept"]), through };
    turns.set(id, { parent: toId(row["parent_turn_id"]), type, status, messages: [], compaction });
    show(factOf.turn(id, type));
    if (status === "completed" || status === "failed") show(factOf.closed(id, status));
    if (compaction !== null)
      show(factOf.compaction(id, String(row["fold_session"]), compaction.firstKept));
  }
  for (const row of await query(messageSql)) {
    const [turnId, index] = [String(row["id"]), Number(row["idx"])];
    const digest = digestText(String(row["role"]), String(row["content"]));
    turns.get(turnId)?.messages.push({ index, digest, isReplayed: row["is_replayed"] === 1 });
    show(factOf.message({ turnId, index, callNumber: Number(row["call_number"]) }, digest));
  }
  for (const row of await query(callSql)) {
    show(
      factOf.call(
        String(row["turn_id"]),
        Number(row["number"]),
        String(row["status"]),
        String(row["cost"]),
      ),
    );
  }
  for (const row of await query(
    "SELECT turn_id, call_number, tool_use_id, name, status FROM tool_calls",
  )) {
    showTool(row, show);
  }
  for (const row of await query("SELECT id, type, session_id, turn_id FROM events")) {
    showEvent(row, show);
  }
  return { facts, sessions, turns };
}

const sessionSql = `SELECT s.id, s.head_turn_id, s.open_turn_id, CAST(s.cost_pico_usd AS TEXT) AS cost,
  CAST(COALESCE((SELECT SUM(c.cost_pico_usd) FROM calls c WHERE c.session_id = s.id), 0)
    + COALESCE((SELECT SUM(f.cost_pico_usd) FROM compactions_v1 f WHERE f.session_id = s.id), 0) AS TEXT) AS billed
  FROM sessions s`;

const turnSql = `SELECT t.id, t.parent_turn_id, t.turn_type, t.status, c.first_kept_turn_id AS first_kept,
  c.summarized_through_turn_id AS through, c.session_id AS fold_session
  FROM turns t LEFT JOIN compactions_v1 c ON c.turn_id = t.id`;

const messageSql = `SELECT t.id, m.idx, m.call_number, m.role, m.content, m.is_replayed
  FROM messages m JOIN turns t ON t.branch_id = m.branch_id AND t.seq = m.turn_seq ORDER BY t.id, m.idx`;

const callSql = "SELECT turn_id, number, status, CAST(cost_pico_usd AS TEXT) AS cost FROM calls";

function showTool(row: ResultRow, show: (facts: Facts) => void): void {
  const [turnId, number] = [String(row["turn_id"]), Number(row["call_number"])];
  const [id, status] = [String(row["tool_use_id"]), String(row["status"])];
  show(factOf.tool(turnId, number, id, String(row["name"])));
  if (status === "succeeded" || status === "failed") {
    show(factOf.answered(turnId, number, id, status));
  }
}

/** Writers' events by id, the ledger's own events by subject. */
function showEvent(row: ResultRow, show: (facts: Facts) => void): void {
  const type = String(row["type"]);
  if (type === "session.forked" || type === "turn.abandoned") {
    show(factOf.audit(type, toId(row["turn_id"]) ?? String(row["session_id"])));
  } else if (type !== "turn.interrupted") {
    show(factOf.event(String(row["id"]), type));
  }
}

function toId(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
