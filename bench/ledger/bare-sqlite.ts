// Bare SQLite: records the statements of a ledger once and runs them again with the same values.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import type { Value } from "../../src/edge/stores/sql/tables.ts";

export interface Executed {
  readonly sql: string;
  readonly values: readonly Value[];
  readonly gives: "rows" | "nothing";
}

/** Records everything the connection runs, in order. Call before any statement is prepared. */
export function recordStatements(connection: DatabaseSync): () => readonly Executed[] {
  let executed: Executed[] = [];
  const prepare = connection.prepare.bind(connection);
  connection.prepare = (sql): StatementSync => {
    const statement = prepare(sql);
    const noting =
      <T>(gives: Executed["gives"], run: (...values: Value[]) => T) =>
      (...values: Value[]): T => {
        executed.push({ sql, values, gives });
        return run(...values);
      };
    const noted: Readonly<Record<string, unknown>> = {
      run: noting("nothing", (...values) => statement.run(...values)),
      all: noting("rows", (...values) => statement.all(...values)),
    };
    return new Proxy(statement, {
      get: (target, name) => (typeof name === "string" && noted[name]) || Reflect.get(target, name),
    });
  };
  return () => {
    const taken = executed;
    executed = [];
    return taken;
  };
}

export interface BareSqlite {
  /** Prepares the statements; the result runs them. */
  prepare(executed: readonly Executed[]): () => void;
  /** The same for reading; parses every message. */
  prepareReading(executed: readonly Executed[]): () => number;
  close(): Promise<void>;
}

/** Uses the ledger's pragmas; `setUp` creates the schema and the first rows. */
export function openBareSqlite(
  file: string,
  setUp: readonly Executed[],
  synchronous: "FULL" | "NORMAL",
): BareSqlite {
  const database = openSqlite({ file, synchronous });
  const { connection } = database;
  const statements = new Map<string, StatementSync>();
  const toStatement = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? connection.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  for (const { sql, values } of setUp) connection.prepare(sql).all(...values);
  return {
    prepare: (executed) => {
      const steps = executed.map(({ sql, values, gives }) => ({
        statement: toStatement(sql),
        values,
        isRead: gives === "rows",
      }));
      return () => {
        for (const { statement, values, isRead } of steps) {
          if (isRead) statement.all(...values);
          else statement.run(...values);
        }
      };
    },
    prepareReading: (executed) => {
      const steps = executed.map(({ sql, values }) => ({ statement: toStatement(sql), values }));
      return () => {
        let messages = 0;
        for (const { statement, values } of steps) {
          for (const { content } of statement.all(...values)) {
            if (typeof content !== "string") continue;
            JSON.parse(content);
            messages += 1;
          }
        }
        return messages;
      };
    },
    close: () => database.close(),
  };
}
