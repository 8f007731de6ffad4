// Everything a ledger holds of a session, without what differs from run to run: random names, leases, the ledger's clock.
import type { Database, ResultRow } from "../../../src/edge/stores/sql/database.ts";

const queries: Readonly<Record<string, string>> = {
  turns: "SELECT * FROM turns ORDER BY seq",
  messages: "SELECT * FROM messages ORDER BY turn_seq, idx",
  calls: "SELECT * FROM calls ORDER BY turn_id, number",
  tool_calls:
    "SELECT turn_id, tool_use_id, call_number, name, status, position, message_idx, result_idx FROM tool_calls ORDER BY turn_id, call_number, tool_use_id",
  // Two may be of the same moment, and their names are random.
  compactions_v1:
    "SELECT c.* FROM compactions_v1 c JOIN turns t ON t.id = c.turn_id ORDER BY t.seq",
  session_history: "SELECT * FROM session_history ORDER BY move",
  sessions: "SELECT * FROM sessions",
};

const leftOut = new Set([
  "branch_id",
  "message_id",
  "created_ms",
  "updated_ms",
  "moved_ms",
  // A turn ends with its last reply, or later where its process died meanwhile.
  "completed_ms",
  "lease_holder",
  "lease_token",
  "lease_expires_ms",
]);

/** One text per row, with its table. */
export async function readRows(database: Database): Promise<readonly string[]> {
  const rows: string[] = [];
  for (const [table, sql] of Object.entries(queries)) {
    for (const row of await database.query(sql)) rows.push(`${table} ${toText(row)}`);
  }
  return nameIds(rows);
}

function toText(row: ResultRow): string {
  const fields = Object.entries(row).filter(
    ([name, value]) => value !== null && !leftOut.has(name),
  );
  return JSON.stringify(
    Object.fromEntries(
      fields.map(([name, value]) => [name, name === "state_json" ? toState(value) : value]),
    ),
  );
}

/** What was kept before a turn that failed is not known to whoever resumed it. */
function toState(value: unknown): unknown {
  return { ...Object(JSON.parse(String(value))), keptVolatile: null };
}

/** Compactions have random names: each gets one by where it appears first. */
function nameIds(rows: readonly string[]): readonly string[] {
  const names = new Map<string, string>();
  return rows.map((row) =>
    row.replace(uuids, (id) => {
      const name = names.get(id) ?? `id-${names.size + 1}`;
      names.set(id, name);
      return name;
    }),
  );
}

const uuids = /\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g;
