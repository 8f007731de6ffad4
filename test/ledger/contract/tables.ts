// The columns that inserts name are those the database has, of the type it has them in.
import { expect, test } from "vitest";
import { columnsOf, derivedTables, tableNames } from "../../../src/edge/stores/sql/tables.ts";
import type { TestStore } from "../stores.ts";

export function tablesContract({ open, kind }: TestStore): void {
  test("tables.ts says what the database says", async () => {
    const { database } = await open();
    const rows = await database.query(columnQueries[kind]);
    const found: Record<string, Record<string, string>> = {};
    for (const { table_name: table, column_name: column, type } of rows) {
      const columns = (found[String(table)] ??= {});
      columns[String(column)] = typeNames[String(type).toLowerCase()] ?? String(type);
    }
    const { strata_schema: _schema, counters: _counters, ...ours } = found;
    // SQLite's full-text index refers to rows by a number, and is made of tables of its own.
    delete ours["message_terms"]?.["id"];
    // The database itself numbers events, and SQLite notes the last number.
    delete ours["events"]?.["position"];
    delete ours["sqlite_sequence"];
    for (const name of Object.keys(ours)) {
      if (name.startsWith("message_terms_text")) delete ours[name];
    }
    for (const name of derivedTables) delete ours[name];
    expect(ours).toEqual(Object.fromEntries(tableNames.map((table) => [table, columnsOf(table)])));
  });
}

const columnQueries = {
  sqlite:
    "SELECT t.name AS table_name, c.name AS column_name, c.type AS type FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'",
  postgres:
    "SELECT CAST(table_name AS TEXT) AS table_name, CAST(column_name AS TEXT) AS column_name, CAST(data_type AS TEXT) AS type FROM information_schema.columns WHERE table_schema = current_schema()",
};

const typeNames: Readonly<Record<string, string>> = { text: "text", bigint: "integer" };
