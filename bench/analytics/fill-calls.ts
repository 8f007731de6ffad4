// Three months of a fleet's work, filled in bulk by SQL: conversations that a gateway saw and sessions with turns, from 2,000 users.
import type { Database } from "../../src/edge/stores/sql/database.ts";

/** The end of the three months. */
export const endMs: number = Date.UTC(2026, 10, 16, 12, 34, 56);
export const spanMs: number = 90 * 86_400_000;

const callsPerSession = 100;
/** One session in so many is of our own, the others passed through a gateway. */
const ownEvery = 5;
const sessionsPerStatement = 2000;

/** Numbers without a pattern, the same on both databases. */
function drawSql(of: string, below: number): string {
  return `((${of}) * 7919 % 1000003 * 7927 % 1000003 * ${below} / 1000003)`;
}

export async function fillCalls(
  database: Pick<Database, "kind" | "query" | "exclusive">,
  calls: number,
  progress: (line: string) => void,
): Promise<void> {
  const { kind, query, exclusive } = database;
  // Sorting all rows at once makes an index faster than adding them one by one.
  const putBack = calls >= manyCalls ? await takeApart(database) : [];
  const sessions = Math.ceil(calls / callsPerSession);
  const numbers = (name: string, from: number, to: number): string =>
    kind === "postgres"
      ? `generate_series(CAST(${from} AS BIGINT), ${to - 1}) AS ${name} (i)`
      : `(WITH RECURSIVE up (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM up WHERE i + 1 < ${to}) SELECT i FROM up) ${name}`;
  for (let from = 0; from < sessions; from += sessionsPerStatement) {
    const to = Math.min(from + sessionsPerStatement, sessions);
    const statements = statementsFor({
      numbers: numbers("n", from, to),
      inSession: numbers("k", 0, callsPerSession),
      sessions,
    });
    await exclusive(async (run) => {
      for (const statement of statements) await run(statement);
    });
    if ((from / sessionsPerStatement) % 5 === 0) progress(`${to} of ${sessions} sessions`);
  }
  for (const statement of putBack) {
    progress(statement.slice(0, 60));
    await query(statement);
  }
  await query(kind === "postgres" ? "VACUUM (ANALYZE)" : "ANALYZE");
}

const manyCalls = 500_000;

const filledTables = ["branches", "turns", "sessions", "calls", "events"];

/** Drops the indexes and marks of the tables that are filled. Returns what makes them again. */
async function takeApart({
  kind,
  query,
}: Pick<Database, "kind" | "query">): Promise<readonly string[]> {
  const tables = filledTables.map((table) => `'${table}'`).join(", ");
  const found = await query(
    kind === "sqlite"
      ? `SELECT 'DROP ' || type || ' ' || name AS take, sql AS put FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name IN (${tables}) AND sql IS NOT NULL`
      : `SELECT 'DROP INDEX ' || i.indexname AS take, i.indexdef AS put FROM pg_indexes i WHERE i.schemaname = current_schema() AND i.tablename IN (${tables})
          AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)
        UNION ALL SELECT 'ALTER TABLE ' || t || ' DISABLE TRIGGER USER', 'ALTER TABLE ' || t || ' ENABLE TRIGGER USER' FROM unnest(ARRAY[${tables}]) t`,
  );
  for (const { take } of found) await query(String(take));
  return found.map(({ put }) => String(put));
}

interface Filling {
  readonly numbers: string;
  readonly inSession: string;
  readonly sessions: number;
}

function statementsFor({ numbers, inSession, sessions }: Filling): readonly string[] {
  const j = "k.i";
  const isOwn = `n.i % ${ownEvery} = 0`;
  const session = "'session-' || n.i";
  const startMs = `(${endMs - spanMs} + n.i * ${spanMs - 14_400_000} / ${sessions})`;
  const model =
    "CASE n.i % 4 WHEN 0 THEN 'claude-sonnet-4-6' WHEN 1 THEN 'claude-haiku-4-5' WHEN 2 THEN 'claude-opus-4-6' ELSE 'gpt-5.5' END";
  const provider = "CASE WHEN n.i % 4 = 3 THEN 'openai' ELSE 'anthropic' END";
  const draw = (below: number, salt: number): string =>
    drawSql(`n.i * ${callsPerSession} + ${j} + ${salt}`, below);
  const callMs = `${startMs} + ${j} * 120000 + ${draw(60_000, 1)}`;
  const isFailed = `${draw(100, 2)} = 0`;
  const hasLost = `${draw(100, 3)} < 3`;
  const unlessFailed = (value: string): string =>
    `CASE WHEN ${isFailed} THEN NULL ELSE ${value} END`;
  const outcome = `CASE WHEN ${isFailed} THEN '{"discarded":[],"failure":{"kind":"overloaded","detail":"busy"},"verdict":null,"refuted":[],"notes":[]}' ELSE '{"discarded":[],"failure":null,"verdict":null,"refuted":[],"notes":[]}' END`;
  const fromGateway = (value: string): string => `CASE WHEN ${isOwn} THEN NULL ELSE ${value} END`;
  const turnId = `'turn-' || n.i || '-' || (${j} / 2)`;
  return [
    `INSERT INTO branches (id) SELECT n.i + 1 FROM ${numbers}`,
    `INSERT INTO turns (id, branch_id, seq, turn_type, status, model, provider, role, started_ms, completed_ms)
      SELECT ${turnId}, n.i + 1, ${j} / 2, 'normal', CASE WHEN ${j} = 78 THEN 'failed' ELSE 'completed' END, ${model}, ${provider}, 'unified', ${callMs}, ${callMs} + 200000
      FROM ${numbers} CROSS JOIN ${inSession} WHERE ${isOwn} AND ${j} % 2 = 0`,
    `INSERT INTO sessions (id, agent, role, model, provider, parent_session_id, status, branch_id, next_seq, move_count, turn_count, cost_pico_usd, created_ms, updated_ms, lease_token, lease_expires_ms, version, origin)
      SELECT ${session}, 'agent-' || (n.i % 20), CASE WHEN n.i % 7 = 0 THEN 'worker' ELSE 'unified' END, ${model}, ${provider}, CASE WHEN n.i % 7 = 0 THEN 'session-' || (n.i + 1) END, 'active', n.i + 1, 0, 0, 0, 0, ${startMs}, ${startMs} + 12000000, 0, 0, 1, CASE WHEN ${isOwn} THEN 'engine' ELSE 'gateway' END
      FROM ${numbers}`,
    `INSERT INTO calls (turn_id, number, session_id, started_ms, ended_ms, model, provider, policy, request_hash, status, uncached_tokens, read_tokens, write_5m_tokens, output_tokens, reasoning_tokens, cost_pico_usd, plan_json, outcome_json, entry_hash, kind, id, gateway_key, user_name, team_name)
      SELECT CASE WHEN ${isOwn} THEN ${turnId} END, CASE WHEN ${isOwn} THEN ${j} % 2 + 1 ELSE 0 END, ${session}, ${callMs}, ${callMs} + 800 + ${draw(18_000, 4)}, ${model}, ${provider}, 'adaptive', 'hash', CASE WHEN ${isFailed} THEN 'failed' ELSE 'complete' END,
      ${unlessFailed(draw(400, 5))}, ${unlessFailed(`CASE WHEN ${hasLost} THEN 0 ELSE 20000 + ${j} * 900 END`)}, ${unlessFailed(`CASE WHEN ${hasLost} THEN 20900 + ${j} * 900 ELSE 900 END`)}, ${unlessFailed(draw(900, 6))}, ${unlessFailed("0")}, ${unlessFailed(`10000000000 + ${draw(1_000_000, 7)} * 10007`)},
      '{}', ${outcome}, 'hash', CASE WHEN ${isOwn} THEN 'turn' ELSE 'gateway' END, ${fromGateway(`'call-' || ${j}`)}, ${fromGateway("'key-' || (n.i % 2000)")}, ${fromGateway("'user-' || (n.i * 31 % 2000)")}, ${fromGateway("'team-' || (n.i % 50)")}
      FROM ${numbers} CROSS JOIN ${inSession}`,
    `INSERT INTO events (id, timestamp_us, session_id, turn_id, type, actor, sensitivity, payload_json)
      SELECT 'event-' || n.i || '-' || ${j}, (${callMs}) * 1000, ${session}, CASE WHEN ${isOwn} THEN ${turnId} END, 'cache.miss', 'agent', 'aggregatable',
      '{"cause":"' || CASE n.i % 3 WHEN 0 THEN 'lifetime expired' WHEN 1 THEN 'history rewritten' ELSE 'tools changed' END || '","detail":"after 6 min","model":"' || ${model} || '","expected_read_tokens":40000,"reported_read_tokens":0,"lost_tokens":' || (20000 + ${j} * 900) || ',"lost_cost_usd":"0.108","block_tier":"T3","block_label":"section-' || (${j} % 9) || '","block_index":3,"block_byte_offset":17}'
      FROM ${numbers} CROSS JOIN ${inSession} WHERE ${draw(100, 3)} = 0`,
  ];
}
