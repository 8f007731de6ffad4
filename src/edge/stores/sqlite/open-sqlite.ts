// The embedded database: one file, safe for several processes, durable once a commit returns.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import type { Commit, CommitResult, Database, ResultRow } from "../sql/database.ts";
import type { Value } from "../sql/tables.ts";
import { runCommit, type Prepare } from "./run-commit.ts";
import { findDamage, hasTable, readAlone, sizeOf, truncateWal } from "./look-inside.ts";
import { refuseForeign } from "./foreign-file.ts";
import { breaksReference, isBusy, takenTable, toStoreError } from "./sqlite-errors.ts";
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError } from "../system-error.ts";
import { StrataError } from "../../../core/strata-error.ts";

export interface SqliteOptions {
  /** A path, or `:memory:` for a private database that ends with the process. */
  readonly file: string;
  /** FULL survives a power cut. NORMAL may then lose the last commits, but never damages the file. */
  readonly synchronous?: "FULL" | "NORMAL";
  /** How long to wait for other processes before failing. */
  readonly busyForMs?: number;
}

/** How long a single statement waits. Short, because it blocks the process. */
const blockForMs = 100;
const openForMs = 5000;

export interface SqliteDatabase extends Database {
  /** The connection itself, for backups and measuring. */
  readonly connection: DatabaseSync;
  readonly file: string;
}

export function openSqlite(options: SqliteOptions): SqliteDatabase {
  const { file, synchronous = "FULL", busyForMs = 10_000 } = options;
  const connection = guarded(file, () => connect(file, synchronous));
  const prepare = createStatementCache(connection);

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
    termsSql:
      "FROM q CROSS JOIN message_terms_text x ON x.message_terms_text MATCH q.code CROSS JOIN message_terms m ON m.id = x.rowid",
    connection,
    file,
    query,
    commit: (commit) => patiently(() => tryCommit(connection, prepare, commit)),
    hasTable: (name) => hasTable(query, name),
    snapshot: (work) => readAlone(connection, file, work),
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
    // One writes at a time, and it sees what was committed before it began.
    areWritersGone: () => Promise.resolve(true),
    size: () => sizeOf(query),
    // A connection that opened the full-text index before others wrote to it reports it as damaged.
    check: () => readAlone(connection, file, (snapshot) => findDamage(snapshot.query)),
    scrub: () => truncateWal(query, Date.now() + busyForMs),
    close: () => {
      if (connection.isOpen) connection.close();
      return Promise.resolve();
    },
  };
}

function tryCommit(connection: DatabaseSync, prepare: Prepare, commit: Commit): CommitResult {
  try {
    return runCommit(connection, prepare, commit);
  } catch (error) {
    if (breaksReference(error)) return { kind: "refused", guard: "reference" };
    const table = takenTable(error);
    if (table === undefined) throw error;
    return { kind: "taken", table };
  }
}

function connect(file: string, synchronous: "FULL" | "NORMAL"): DatabaseSync {
  if (file !== ":memory:") {
    refuseForeign(file);
    makePrivate(file);
  }
  // Another process may be creating the file. Later waits happen between statements.
  const connection = new DatabaseSync(file, { timeout: openForMs });
  try {
    connection.exec("PRAGMA journal_mode = WAL");
    connection.exec(`PRAGMA synchronous = ${synchronous}`);
    connection.exec("PRAGMA foreign_keys = ON");
    // Rare, large checkpoints: a commit with a checkpoint is the slowest kind.
    connection.exec("PRAGMA wal_autocheckpoint = 4000");
    // Overwrites deleted and outdated content.
    connection.exec("PRAGMA secure_delete = ON");
    connection.exec(`PRAGMA busy_timeout = ${blockForMs}`);
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

/** Prepares each statement once. The program has a bounded number of them. */
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

export function isSqlite(database: Database): database is SqliteDatabase {
  return database.kind === "sqlite" && "connection" in database;
}

export function makePrivate(file: string): void {
  try {
    makeFolder(dirname(file));
    // Before SQLite creates it with default permissions. SQLite's companion files copy these.
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // If the file is readable but not writable, SQLite refuses it with its own reason.
    if (error.code === "EROFS" || (error.code === "EACCES" && exists(file))) return;
    throw new StrataError(
      "store-unavailable",
      `the ledger ${file} cannot be created: ${error.message}`,
      "name a file in a folder this user may write to, with --store",
      { cause: error },
    );
  }
}

/** One by one: Node's recursive mkdir never returns below a folder that allows none, such as /proc. */
function makeFolder(path: string): void {
  if (exists(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if (!isSystemError(error) || error.code !== "EEXIST") throw error;
  }
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
