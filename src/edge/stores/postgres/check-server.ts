// What the server itself reports as wrong.
import { messageOf } from "../../../core/strata-error.ts";
import { derivedTables, tableNames } from "../sql/tables.ts";
import type { Database } from "../sql/database.ts";

type Query = Database["query"];

const ourTables = `(${[...tableNames, ...derivedTables].map((name) => `'${name}'`).join(", ")})`;

/** Damaged pages found so far, unfinished indexes, and every B-tree if amcheck is installed. */
export async function checkServer(query: Query): Promise<readonly string[]> {
  return [
    ...(await findDamagedPages(query)),
    ...(await findUnfinishedIndexes(query)),
    ...(await findDamagedIndexes(query)),
  ];
}

async function findDamagedPages(query: Query): Promise<readonly string[]> {
  const [row] = await query(
    "SELECT COALESCE(checksum_failures, 0) AS failures FROM pg_stat_database WHERE datname = current_database()",
  );
  const failures = Number(row?.["failures"] ?? 0);
  return failures === 0 ? [] : [`the server read ${failures} pages whose checksum is wrong`];
}

const indexesSql = `SELECT c.oid::text AS id, c.relname::text AS name, i.indisvalid AS is_valid, a.amname::text AS method
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid JOIN pg_am a ON a.oid = c.relam
  WHERE t.relname IN ${ourTables} AND t.relnamespace = to_regnamespace(current_schema()::text) ORDER BY c.relname`;

async function findUnfinishedIndexes(query: Query): Promise<readonly string[]> {
  const rows = await query(indexesSql);
  return rows
    .filter((row) => row["is_valid"] !== 1)
    .map((row) => `the index ${String(row["name"])} is not valid`);
}

async function findDamagedIndexes(query: Query): Promise<readonly string[]> {
  const [found] = await query(
    "SELECT extnamespace::regnamespace::text AS schema FROM pg_extension WHERE extname = 'amcheck'",
  );
  if (found === undefined) return [];
  const check = `${String(found["schema"])}.bt_index_check`;
  const [allowed] = await query(
    "SELECT has_function_privilege(CAST(? AS text), 'EXECUTE') AS is_allowed",
    [`${check}(regclass, boolean)`],
  );
  if (allowed?.["is_allowed"] !== 1) return [];
  const problems: string[] = [];
  for (const { id, name, method } of await query(indexesSql)) {
    if (method !== "btree") continue;
    try {
      await query(`SELECT ${check}(CAST(CAST(? AS text) AS oid), true)`, [String(id)]);
    } catch (error) {
      const words = messageOf(error);
      problems.push(`the index ${String(name)} is damaged: ${words}`);
    }
  }
  return problems;
}
