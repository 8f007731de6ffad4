// Checks the ledger's invariants, and every message against its hash.
import { hashMessageText } from "../../../core/ledger/message-text.ts";
import type { LedgerStats } from "../../../core/ledger/ledger.ts";
import { hashContent } from "../../../core/hash.ts";
import { messageOf } from "../../../core/strata-error.ts";
import type { Database } from "../sql/database.ts";
import { integer, integerOrNull, text, textOrNull } from "../sql/read-row.ts";
import { moneyOf, moneySums } from "../sql/sums.ts";
import { selected, tableNames } from "../sql/tables.ts";
import { findUnreadableStates, findWrongCosts, hasAbsurdCounts } from "./repair-ledger.ts";
import { checkRollups } from "../rollups/check-rollups.ts";
import type { Store } from "./store.ts";
import { isUnpricedSql } from "./turns/read-turn.ts";
import { readers } from "./transfer/kept-lines.ts";

/** A call's name in a sentence. */
const callNameSql =
  "CASE WHEN calls.turn_id IS NULL THEN 'call ' || COALESCE(calls.id, 'without a name') || ' of session ' || calls.session_id ELSE 'call ' || calls.number || ' of turn ' || calls.turn_id END";

/** Each query returns one row per problem, with the sentence as `problem`. */
const invariants: readonly string[] = [
  "SELECT 'turn ' || t.id || ' is on branch ' || t.branch_id || ', which does not exist' AS problem FROM turns t WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = t.branch_id)",
  "SELECT 'turn ' || t.id || ' follows turn ' || t.parent_turn_id || ', which does not exist' AS problem FROM turns t WHERE t.parent_turn_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM turns p WHERE p.id = t.parent_turn_id)",
  `SELECT 'completed turn ' || t.id || ' does not follow the turn before it on its thread' AS problem FROM turns t WHERE t.status = 'completed' AND t.parent_turn_id IS DISTINCT FROM COALESCE(
    (SELECT p.id FROM turns p WHERE p.branch_id = t.branch_id AND p.seq < t.seq AND p.status = 'completed' ORDER BY p.seq DESC LIMIT 1),
    (SELECT p.id FROM branches b JOIN turns p ON p.branch_id = b.parent_branch_id AND p.seq = b.fork_seq WHERE b.id = t.branch_id))`,
  "SELECT 'completed turn ' || t.id || ' follows turn ' || p.id || ', which is ' || p.status AS problem FROM turns t JOIN turns p ON p.id = t.parent_turn_id WHERE t.status = 'completed' AND p.status <> 'completed'",
  "SELECT 'session ' || s.id || ' points at turn ' || s.head_turn_id || ', which is not completed' AS problem FROM sessions s WHERE s.head_turn_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = s.head_turn_id AND t.status = 'completed')",
  "SELECT 'session ' || s.id || ' has turn ' || s.open_turn_id || ' open, which is closed or missing' AS problem FROM sessions s WHERE s.open_turn_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = s.open_turn_id AND t.status IN ('pending', 'interrupted'))",
  "SELECT 'turn ' || t.id || ' is ' || t.status || ', but no session has it open' AS problem FROM turns t WHERE t.status IN ('pending', 'interrupted') AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.open_turn_id = t.id)",
  "SELECT 'the last move of session ' || s.id || ' does not match its pointer' AS problem FROM sessions s WHERE NOT EXISTS (SELECT 1 FROM session_history h WHERE h.session_id = s.id AND h.move = s.move_count AND h.turn_id IS NOT DISTINCT FROM s.head_turn_id)",
  "SELECT 'session ' || s.id || ' moved ' || s.move_count || ' times, but ' || (SELECT COUNT(*) FROM session_history h WHERE h.session_id = s.id) || ' are in its history' AS problem FROM sessions s WHERE s.move_count <> (SELECT COUNT(*) FROM session_history h WHERE h.session_id = s.id)",
  "SELECT 'completed turn ' || c.turn_id || ' has tool use ' || c.tool_use_id || ' without an answer' AS problem FROM tool_calls c JOIN turns t ON t.id = c.turn_id WHERE t.status = 'completed' AND c.status = 'pending'",
  "SELECT 'compaction turn ' || t.id || ' has no details' AS problem FROM turns t WHERE t.turn_type = 'compaction' AND NOT EXISTS (SELECT 1 FROM compactions_v1 c WHERE c.turn_id = t.id)",
  "SELECT 'compaction ' || c.turn_id || ' keeps from turn ' || c.first_kept_turn_id || ', which does not exist' AS problem FROM compactions_v1 c WHERE c.first_kept_turn_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = c.first_kept_turn_id)",
  "SELECT 'compaction ' || c.turn_id || ' keeps from message ' || c.first_kept_index || ' of turn ' || COALESCE(c.first_kept_turn_id, 'none') || ', which has fewer' AS problem FROM compactions_v1 c WHERE c.first_kept_index <> 0 AND c.first_kept_index > (SELECT COUNT(*) FROM turns t JOIN messages m ON m.branch_id = t.branch_id AND m.turn_seq = t.seq WHERE t.id = c.first_kept_turn_id)",
  "SELECT 'compaction ' || c.turn_id || ' summarizes through turn ' || c.summarized_through_turn_id || ', which does not exist' AS problem FROM compactions_v1 c WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = c.summarized_through_turn_id)",
  `SELECT ${callNameSql} || ' has counts that cannot be true' AS problem FROM calls WHERE ${hasAbsurdCounts}`,
  "SELECT 'turn ' || c.turn_id || ' has ' || COUNT(*) || ' calls, but the last is number ' || MAX(c.number) AS problem FROM calls c WHERE c.turn_id IS NOT NULL GROUP BY c.turn_id HAVING COUNT(*) <> MAX(c.number)",
  "SELECT 'turn ' || t.id || ' lacks a message' AS problem FROM turns t JOIN messages m ON m.branch_id = t.branch_id AND m.turn_seq = t.seq GROUP BY t.id HAVING COUNT(*) <> MAX(m.idx) + 1",
  "SELECT 'a message is in branch ' || m.branch_id || ' at ' || m.turn_seq || ', where there is no turn' AS problem FROM messages m WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.branch_id = m.branch_id AND t.seq = m.turn_seq)",
  "SELECT 'search terms are in branch ' || x.branch_id || ' at ' || x.turn_seq || ', where there is no message' AS problem FROM message_terms x WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.branch_id = x.branch_id AND m.turn_seq = x.turn_seq AND m.idx = x.idx)",
  "SELECT 'call ' || c.number || ' belongs to turn ' || c.turn_id || ', which does not exist' AS problem FROM calls c WHERE c.turn_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = c.turn_id)",
  "SELECT 'call ' || COALESCE(c.id, 'without a name') || ' belongs to session ' || c.session_id || ', which does not exist' AS problem FROM calls c WHERE c.turn_id IS NULL AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = c.session_id)",
  `SELECT ${callNameSql} || ' is of kind ' || kind || ', which does not fit' AS problem FROM calls WHERE (kind = 'turn') <> (turn_id IS NOT NULL)`,
  "SELECT 'call ' || COALESCE(c.id, 'without a name') || ' of session ' || c.session_id || ' is of kind ' || c.kind || ', but the session is of the ' || s.origin AS problem FROM calls c JOIN sessions s ON s.id = c.session_id WHERE (c.kind = 'gateway') <> (s.origin = 'gateway')",
  "SELECT DISTINCT 'blocks of conversation ' || b.session_id || ' belong to call ' || b.call_id || ', which does not exist' AS problem FROM conversation_blocks b WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.turn_id IS NULL AND c.session_id = b.session_id AND c.id = b.call_id)",
  "SELECT 'provider resource ' || r.id || ' belongs to session ' || r.session_id || ', which does not exist' AS problem FROM provider_resources r WHERE r.session_id <> '' AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = r.session_id)",
  "SELECT 'provider resource ' || r.id || ' is ' || r.lifecycle || ', but ' || CASE WHEN r.gone_ms IS NULL THEN 'has no end' ELSE 'has an end' END AS problem FROM provider_resources r WHERE (r.lifecycle = 'gone') <> (r.gone_ms IS NOT NULL)",
  "SELECT 'provider resource ' || r.id || ' is ' || r.lifecycle || ' without a name of the provider' AS problem FROM provider_resources r WHERE r.lifecycle = 'live' AND r.remote_name IS NULL",
  "SELECT 'branch ' || b.id || ' belongs to no session' AS problem FROM branches b WHERE NOT EXISTS (SELECT 1 FROM session_history h WHERE h.branch_id = b.id) AND NOT EXISTS (SELECT 1 FROM branches c WHERE c.parent_branch_id = b.id)",
  "SELECT 'session ' || s.id || ' has a foundation that is gone' AS problem FROM sessions s WHERE s.foundation_hash IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.hash = s.foundation_hash)",
  "SELECT 'compaction ' || f.turn_id || ' has a foundation that is gone' AS problem FROM compactions_v1 f WHERE f.foundation_hash IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.hash = f.foundation_hash)",
  "SELECT 'turn ' || t.id || ' has a foundation that is gone' AS problem FROM turns t WHERE t.foundation_hash IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.hash = t.foundation_hash)",
  "SELECT 'message ' || m.idx || ' at ' || m.turn_seq || ' of branch ' || m.branch_id || ' has a full text that is gone' AS problem FROM messages m WHERE m.whole_hash IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.hash = m.whole_hash)",
];

export async function* checkLedger(
  store: Store,
  onProgress: (checked: number) => void = () => {},
): AsyncGenerator<string> {
  yield* await store.database.check();
  for (const sql of invariants) {
    for (const row of await store.database.query(sql)) yield text(row, "problem");
  }
  const query: Database["query"] = (sql, values) => store.database.query(sql, values);
  for (const { id, recorded, sum } of await findWrongCosts(query)) {
    yield `session ${id} has a cost that differs from its calls and compactions: ${recorded}, not ${sum}`;
  }
  for (const id of await findUnreadableStates(query)) {
    yield `session ${id} has a state that is not JSON`;
  }
  yield* checkRollups(store.database);
  yield* await checkRows(store);
  yield* checkContents(store);
  yield* checkMessages(store, onProgress);
}

/** Whether each row can be read as later reads do it. */
async function checkRows({ database }: Store): Promise<readonly string[]> {
  const problems: string[] = [];
  await database.snapshot(async (snapshot) => {
    for (const table of tableNames) {
      const read = readers[table];
      // Messages are checked by their hashes.
      if (read === undefined || table === "messages") continue;
      for await (const row of snapshot.rows(`SELECT ${selected(table)} FROM ${table}`)) {
        const problem = damageOf(() => read(row));
        if (problem !== null) problems.push(problem);
      }
    }
  });
  return problems;
}

/** A later version may have written events that this one does not know; they are not damaged. */
function damageOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    const problem = messageOf(error);
    return problem.includes(" is damaged in the ledger: ") ? problem : null;
  }
}

async function* checkContents({ database }: Store): AsyncGenerator<string> {
  for (let after = ""; ;) {
    const rows = await database.query(
      "SELECT hash, text FROM contents WHERE hash > ? ORDER BY hash LIMIT 50",
      [after],
    );
    for (const row of rows) {
      after = text(row, "hash");
      if (hashContent(text(row, "text")) !== after)
        yield `content ${after} does not match its hash`;
    }
    if (rows.length === 0) return;
  }
}

const messagesPerPage = 500;

async function* checkMessages(
  { database }: Store,
  onProgress: (checked: number) => void,
): AsyncGenerator<string> {
  let [branch, seq, index, checked] = [-1, -1, -1, 0];
  for (;;) {
    const rows = await database.query(
      `SELECT branch_id, turn_seq, idx, role, content, wire, hash FROM messages WHERE (branch_id, turn_seq, idx) > (?, ?, ?) ORDER BY branch_id, turn_seq, idx LIMIT ${messagesPerPage}`,
      [branch, seq, index],
    );
    for (const row of rows) {
      branch = integer(row, "branch_id");
      seq = integer(row, "turn_seq");
      index = integer(row, "idx");
      const hash = hashMessageText(
        text(row, "role"),
        text(row, "content"),
        textOrNull(row, "wire"),
      );
      if (hash !== text(row, "hash")) {
        yield `message ${index} at ${seq} of branch ${branch} does not match its hash`;
      }
    }
    checked += rows.length;
    onProgress(checked);
    if (rows.length < messagesPerPage) return;
  }
}

export async function readStats({ database }: Store): Promise<LedgerStats> {
  const rows: Record<string, number> = {};
  for (const table of tableNames) {
    const [row] = await database.query(`SELECT COUNT(*) AS count FROM ${table}`);
    rows[table] = row === undefined ? 0 : integer(row, "count");
  }
  const [schema] = await database.query("SELECT MAX(number) AS number FROM strata_schema");
  const [sums] = await database.query(
    `SELECT ${moneySums("cost_pico_usd", "cost")}, MIN(started_ms) AS oldest, MAX(started_ms) AS newest, COUNT(CASE WHEN ${isUnpricedSql} THEN 1 END) AS unpriced FROM calls`,
  );
  const [compactions] = await database.query(
    `SELECT ${moneySums("cost_pico_usd", "cost")} FROM compactions_v1`,
  );
  return {
    store: database.kind,
    schema: schema === undefined ? 0 : integer(schema, "number"),
    rows,
    bytes: await database.size(),
    costPicoUsd: moneyOf(sums, "cost") + moneyOf(compactions, "cost"),
    unpricedCallCount: sums === undefined ? 0 : integer(sums, "unpriced"),
    oldestMs: sums === undefined ? null : integerOrNull(sums, "oldest"),
    newestMs: sums === undefined ? null : integerOrNull(sums, "newest"),
  };
}
