// The embedded database: one file, safe for several processes, durable once a commit returns.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import type { Commit, CommitResult, Database, ResultRow } from "../sql/database.ts";
import type { Value } from "../sql/tables.ts";
import { watchAdvance, type AdvanceWatch } from "./advance-watch.ts";
import { runCommit } from "./run-commit.ts";
import { makePrivate } from "./private-file.ts";
import { breaksReference, isBusy, takenTable, toStoreError } from "./sqlite-errors.ts";

export interface SqliteOptions {
  /** A path, or `:memory:` for a database that nobody else sees and that ends with the process. */
  readonly file: string;
  /** FULL survives a power cut; NORMAL may lose the last commits then, and never damages the file. */
  readonly synchronous?: "FULL" | "NORMAL";
  /** How long to wait for other processes before giving up. */
  readonly busyForMs?: number;
}

/** How long a statement itself waits: short, because the process stands still meanwhile. */
const blockForMs = 100;

export interface SqliteDatabase extends Database {
  /** The connection itself, for backups and measuring. */
  readonly connection: DatabaseSync;
  readonly file: string;
}

export function openSqlite(options: SqliteOptions): SqliteDatabase {
  const { file, synchronous = "FULL", busyForMs = 10_000 } = options;
  const connection = guarded(file, () => connect(file, synchronous));
  const prepare = createStatementCache(connection);
  const watch: AdvanceWatch = watchAdvance(prepare);

  const patiently = async <T>(work: () => T): Promise<T> => {
    const endMs = Date.now() + busyForMs;
    for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || Date.now() >= endMs) throw toStoreError(error, file);
      }
      await wait(pauseMs * (0.5 + Math.random()));
    }
  };
  const query = (sql: string, values: readonly Value[] = []): Promise<readonly ResultRow[]> =>
    patiently(() => prepare(sql).all(...values));

  return {
    kind: "sqlite",
    clockSql: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    connection,
    file,
    query,
    commit: (commit: Commit): Promise<CommitResult> =>
      patiently(() => {
        try {
          const result = runCommit(connection, prepare, commit);
          if (result.kind === "done") watch.tell(commit.advanced ?? []);
          return result;
        } catch (error) {
          if (breaksReference(error)) return { kind: "refused", guard: "reference" };
          const table = takenTable(error);
          if (table === undefined) throw error;
          return { kind: "taken", table };
        }
      }),
    exclusive: async (work) => {
      await patiently(() => connection.exec("BEGIN IMMEDIATE"));
      try {
        const result = await work(query);
        connection.exec("COMMIT");
        return result;
      } catch (error) {
        if (connection.isTransaction) connection.exec("ROLLBACK");
        throw toStoreError(error, file);
      }
    },
    onAdvance: (handler) => watch.subscribe(handler),
    size: () => sizeOf(query),
    check: () => findDamage(query),
    scrub: () => patiently(() => connection.exec("PRAGMA wal_checkpoint(TRUNCATE)")),
    close: () => {
      watch.close();
      if (connection.isOpen) connection.close();
      return Promise.resolve();
    },
  };
}

async function sizeOf(query: Database["query"]): Promise<number> {
  const [row] = await query(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
  );
  return Number(row?.["bytes"] ?? 0);
}

async function findDamage(query: Database["query"]): Promise<readonly string[]> {
  const rows = [
    ...(await query("SELECT integrity_check AS problem FROM pragma_integrity_check")),
    ...(await query(
      `SELECT 'row ' || rowid || ' of ' || "table" || ' points at nothing in ' || parent AS problem FROM pragma_foreign_key_check`,
    )),
  ];
  return rows.map(({ problem }) => String(problem)).filter((problem) => problem !== "ok");
}

function connect(file: string, synchronous: "FULL" | "NORMAL"): DatabaseSync {
  if (file !== ":memory:") makePrivate(file);
  const connection = new DatabaseSync(file, { timeout: blockForMs });
  try {
    connection.exec("PRAGMA journal_mode = WAL");
    connection.exec(`PRAGMA synchronous = ${synchronous}`);
    connection.exec("PRAGMA foreign_keys = ON");
    // Rarer and larger: a commit that also moves pages into the file is the slowest one.
    connection.exec("PRAGMA wal_autocheckpoint = 4000");
    connection.exec("PRAGMA secure_delete = FAST");
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** Statements are prepared once; how many there are is bounded by how many this program has. */
function createStatementCache(connection: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return (sql) => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    if (statements.size >= 500) statements.clear();
    const statement = connection.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
}
