// A whole ledger as lines: a header, every row in an order that can be restored, and a last line with the count.
import { tableOrder } from "./ledger/transfer/kept-lines.ts";
import { columnNames, isMoney, type TableName } from "./sql/tables.ts";
import type { Snapshot } from "./sql/database.ts";

export const dumpFormat = "strata-ledger/1";

export async function* dumpLedger(snapshot: Snapshot): AsyncGenerator<string> {
  let schema = 0;
  for await (const row of snapshot.rows("SELECT MAX(number) AS number FROM strata_schema")) {
    schema = Number(row["number"]);
  }
  yield JSON.stringify({ strata: { format: dumpFormat, schema } });
  let rows = 0;
  for (const table of tableOrder) {
    for await (const row of snapshot.rows(selectAll(table))) {
      rows += 1;
      yield JSON.stringify({ [table]: row });
    }
  }
  yield JSON.stringify({ end: { rows } });
}

function selectAll(table: TableName): string {
  const columns = columnNames(table).map((column) => selected(table, column));
  return `${table === "turns" ? depths : ""} SELECT ${columns.join(", ")} FROM ${table} t ${inOrder[table]}`;
}

/** Money can exceed a number, and a lease does not outlive its process. */
function selected(table: TableName, column: string): string {
  if (isMoney(column)) return `CAST(t.${column} AS TEXT) AS ${column}`;
  if (table !== "sessions") return `t.${column}`;
  if (column === "lease_holder") return "NULL AS lease_holder";
  if (column === "lease_expires_ms") return "0 AS lease_expires_ms";
  return `t.${column}`;
}

/** The depth of each branch: a turn follows one on its own branch or on a branch above. */
const depths = `WITH RECURSIVE above (branch_id, depth) AS (
  SELECT id, 0 FROM branches WHERE parent_branch_id IS NULL
  UNION ALL
  SELECT b.id, a.depth + 1 FROM above a JOIN branches b ON b.parent_branch_id = a.branch_id
)`;

const inOrder: Readonly<Record<TableName, string>> = {
  contents: "ORDER BY t.hash",
  turns:
    "LEFT JOIN above a ON a.branch_id = t.branch_id ORDER BY COALESCE(a.depth, 0), t.branch_id, t.seq",
  branches: "ORDER BY t.id",
  sessions: "ORDER BY t.created_ms, t.id",
  session_history: "ORDER BY t.session_id, t.move",
  messages: "ORDER BY t.branch_id, t.turn_seq, t.idx",
  message_terms: "ORDER BY t.branch_id, t.turn_seq, t.idx, t.part",
  // Calls without a turn come last.
  calls: "ORDER BY t.turn_id IS NULL, t.turn_id, t.number, t.started_ms, t.id",
  tool_calls: "ORDER BY t.turn_id, t.call_number, t.tool_use_id",
  compactions_v1: "ORDER BY t.turn_id",
  compaction_locks_v1: "ORDER BY t.session_id",
  events: "ORDER BY t.id",
  queue_items: "ORDER BY t.session_id, t.seq",
  conversation_blocks: "ORDER BY t.session_id, t.call_id, t.idx",
  gateway_runs: "ORDER BY t.id",
  conversation_states: "ORDER BY t.conversation_id, t.prefix_key",
  provider_resources: "ORDER BY t.created_ms, t.id",
  key_spending: "ORDER BY t.gateway_key, t.day_ms",
};
