// Reads what a cross-section is drawn from: the calls of one session, the blocks that they brought, and its misses.
import { fieldsOf, type Fields } from "../../core/message/fields.ts";
import type { LedgerSnapshot } from "../../analytics/analysis.ts";
import type { ResultRow } from "../../edge/stores/sql/database.ts";
import { integer, integerOrNull, text, textOrNull } from "../../edge/stores/sql/read-row.ts";
import { usageColumns } from "../../edge/stores/ledger/turns/call-rows.ts";
import { moneySums } from "../../edge/stores/sql/sums.ts";
import { ownCalls, type Access } from "../access/access.ts";
import { refuseWith } from "../answer/api-error.ts";

export interface StoredPicture {
  readonly session: ResultRow;
  /** Sessions that this one started, oldest first. */
  readonly children: readonly StoredChild[];
  /** Oldest first; the latest ones where there are more than `callsMax`. */
  readonly calls: readonly ResultRow[];
  readonly leftOutCount: number;
  readonly blocks: ReadonlyMap<string, readonly ResultRow[]>;
  readonly misses: readonly StoredMiss[];
}

export interface StoredChild {
  readonly session: ResultRow;
  /** How many, and what they cost. */
  readonly sums: ResultRow | undefined;
  /** Oldest first. */
  readonly calls: readonly ResultRow[];
}

export interface StoredMiss {
  readonly timeMs: number;
  readonly turnId: string | null;
  readonly payload: Fields;
}

/** More columns than a screen has pixels, many times over. */
export const callsMax = 20_000;

const callColumns =
  "c.id, c.turn_id, c.number, c.started_ms, c.ended_ms, c.model, c.policy, c.kind, c.status, c.uncached_tokens, c.read_tokens, " +
  "c.write_5m_tokens, c.write_30m_tokens, c.write_1h_tokens, c.write_12h_tokens, c.write_24h_tokens, c.output_tokens, " +
  "c.reasoning_tokens, CAST(c.cost_pico_usd AS TEXT) AS cost_pico_usd, c.plan_json, c.outcome_json, c.kept_blocks";

/** A virtual key sees the calls that it paid for. */
export async function readPicture(
  { query }: Pick<LedgerSnapshot, "query">,
  id: string,
  access: Access,
): Promise<StoredPicture> {
  const [session] = await query(
    "SELECT s.id, s.agent, s.model, s.parent_session_id, s.origin, s.context_json FROM sessions s WHERE s.id = ?",
    [id],
  );
  const { sql: own, values: key } = ownCalls(access);
  const shown = `FROM calls c WHERE c.session_id = ? AND c.kind IN ('turn', 'gateway')${own}`;
  const [counted] = await query(`SELECT COUNT(*) AS calls ${shown}`, [id, ...key]);
  const total = counted === undefined ? 0 : integer(counted, "calls");
  // What a key paid nothing for does not exist for it.
  if (session === undefined || (access.kind === "key" && total === 0)) throw notFound(id);
  const latest = await query(
    `SELECT ${callColumns} ${shown} ORDER BY c.started_ms DESC, c.number DESC LIMIT ${callsMax}`,
    [id, ...key],
  );
  const blocks = await query(
    "SELECT b.call_id, b.hash, b.tier, b.kind, b.section, b.tokens FROM conversation_blocks b WHERE b.session_id = ? ORDER BY b.call_id, b.idx",
    [id],
  );
  const events = await query(
    "SELECT e.timestamp_us, e.turn_id, e.payload_json FROM events e WHERE e.session_id = ? AND e.type = 'cache.miss' ORDER BY e.timestamp_us",
    [id],
  );
  const children = access.kind === "key" ? [] : await readChildren(query, id);
  return {
    session,
    children,
    calls: latest.toReversed(),
    leftOutCount: total - latest.length,
    blocks: Map.groupBy(blocks, (row) => text(row, "call_id")),
    misses: events.map((row) => ({
      timeMs: Math.floor(integer(row, "timestamp_us") / 1000),
      turnId: textOrNull(row, "turn_id"),
      payload: fieldsOf(JSON.parse(text(row, "payload_json"))),
    })),
  };
}

/** With what a picture shows of them beside the calls of the one that started them. */
async function readChildren(
  query: LedgerSnapshot["query"],
  id: string,
): Promise<readonly StoredChild[]> {
  const sessions = await query(
    "SELECT s.id, s.agent, s.role, s.model, s.created_ms, s.context_json FROM sessions s WHERE s.parent_session_id = ? ORDER BY s.created_ms, s.id LIMIT 1000",
    [id],
  );
  if (sessions.length === 0) return [];
  const children =
    "FROM calls c WHERE c.kind IN ('turn', 'gateway') AND c.session_id IN (SELECT s.id FROM sessions s WHERE s.parent_session_id = ?)";
  const sums = await query(
    `SELECT c.session_id, COUNT(*) AS call_count, ${moneySums("c.cost_pico_usd", "cost")} ${children} GROUP BY c.session_id`,
    [id],
  );
  const calls = await query(
    `SELECT c.session_id, c.started_ms, ${usageColumns.map((name) => `c.${name}`).join(", ")} ${children} ORDER BY c.started_ms, c.number LIMIT ${childCallsMax}`,
    [id],
  );
  const sumOf = new Map(sums.map((row) => [text(row, "session_id"), row]));
  const callsOf = Map.groupBy(calls, (row) => text(row, "session_id"));
  return sessions.map((session) => ({
    session,
    sums: sumOf.get(text(session, "id")),
    calls: callsOf.get(text(session, "id")) ?? [],
  }));
}

/** Limit for all sub-agents together. */
export const childCallsMax = 5000;

function notFound(id: string): Error {
  return refuseWith(
    "session_not_found",
    `there is no session ${JSON.stringify(id.slice(0, 100))}`,
    "ask /analytics/sessions for the names",
  );
}

/** The miss of a call: by its id where the gateway saw it, else the one that was reported while or after it ran. */
export function createMissFinder(
  misses: readonly StoredMiss[],
): (call: ResultRow) => Fields | null {
  const byCall = new Map(misses.map(({ payload }) => [payload["call_id"], payload]));
  const byTurn = Map.groupBy(
    misses.filter(({ turnId }) => turnId !== null),
    ({ turnId }) => turnId,
  );
  return (call) => {
    const turn = textOrNull(call, "turn_id");
    if (turn === null) return byCall.get(textOrNull(call, "id")) ?? null;
    const [start, end] = [integer(call, "started_ms"), integerOrNull(call, "ended_ms") ?? 0];
    const reported = byTurn
      .get(turn)
      ?.find(({ timeMs }) => timeMs >= start && timeMs <= end + lateMs);
    return reported?.payload ?? null;
  };
}

/** A verdict is reported a moment after its reply was recorded. */
const lateMs = 250;
