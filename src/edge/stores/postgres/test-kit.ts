// Rows and connections for tests on a real server.
import { Client } from "pg";
import type { Commit, Database, Guard, Insert } from "../sql/database.ts";
import { migrate } from "../sql/migrate.ts";
import { columnsOf, type Row } from "../sql/tables.ts";
import { openPostgres, type PostgresOptions } from "./open-postgres.ts";

export async function openMigrated(
  url: string,
  options: Omit<PostgresOptions, "url"> = {},
): Promise<Database> {
  const database = await openPostgres({ url, ...options });
  await migrate(database, 0);
  return database;
}

export async function empty(database: Database): Promise<void> {
  await database.query("TRUNCATE contents, sessions, branches CASCADE");
}

/** An idle session with its own branch. */
export async function addSession(database: Database, id: string, branchId: number): Promise<void> {
  const result = await database.commit({ guards: [], writes: newSession(id, branchId) });
  if (result.kind !== "done") throw new Error(`no session: ${JSON.stringify(result)}`);
}

export function newSession(id: string, branchId: number): readonly Insert[] {
  const integers = Object.entries(columnsOf("sessions")).filter(([, type]) => type === "integer");
  const row: Row = {
    ...Object.fromEntries(integers.map(([name]) => [name, 0])),
    id,
    agent: "agent",
    role: "unified",
    model: "model",
    provider: "provider",
    status: "active",
    origin: "engine",
    branch_id: branchId,
  };
  return [
    { into: "branches", rows: [{ id: branchId }] },
    { into: "sessions", rows: [row] },
  ];
}

export function content(...hashes: readonly string[]): Insert {
  return { into: "contents", rows: hashes.map((hash) => ({ hash, text: `text of ${hash}` })) };
}

/** Succeeds for one of all who know the same number, and increments it. */
export function takeNumber(sessionId: string, number: number): Guard {
  return {
    name: "number",
    sql: "UPDATE sessions SET turn_count = turn_count + 1 WHERE id = ? AND turn_count = ?",
    values: [sessionId, number],
  };
}

/** A commit that differs from all others. */
export function numbered(sessionId: string, number: number): Commit {
  const hash = `${sessionId}-${number}`;
  return {
    guards: [takeNumber(sessionId, number)],
    writes: [content(hash)],
    landed: () => ({ sql: "SELECT 1 AS landed FROM contents WHERE hash = ?", values: [hash] }),
  };
}

export async function hashesIn(database: Database): Promise<readonly string[]> {
  const rows = await database.query("SELECT hash FROM contents ORDER BY hash");
  return rows.map(({ hash }) => String(hash));
}

export async function countOf(database: Database, sessionId: string): Promise<unknown> {
  const [row] = await database.query("SELECT turn_count FROM sessions WHERE id = ?", [sessionId]);
  return row?.["turn_count"];
}

/** A separate connection for the test itself. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** How many statements of others wait for a lock now. */
export async function countWaiting(client: Client): Promise<number> {
  const { rows } = await client.query(
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rows.length;
}
