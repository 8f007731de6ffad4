// Everything in a database as of one moment, row by row, while others go on writing.
import { isConnectionString } from "./open-ledger.ts";
import { openConnections, type Run } from "./postgres/connections.ts";
import { parseAddress } from "./postgres/connection-string.ts";
import { toStoreError as toPostgresError } from "./postgres/postgres-errors.ts";
import type { Database, ResultRow } from "./sql/database.ts";
import type { SqliteDatabase } from "./sqlite/open-sqlite.ts";
import { toStoreError } from "./sqlite/sqlite-errors.ts";

export interface Snapshot {
  /** One at a time, each to its end. */
  rows(sql: string): AsyncIterable<ResultRow>;
}

/** `database` is what is open there already; PostgreSQL gets a connection of its own for it. */
export function readSnapshot<T>(
  where: string,
  database: Database,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  return isConnectionString(where) || !isSqlite(database)
    ? readPostgres(where, work)
    : readSqlite(database, work);
}

export function isSqlite(database: Database): database is SqliteDatabase {
  return database.kind === "sqlite" && "connection" in database;
}

async function readSqlite<T>(
  { connection, file }: SqliteDatabase,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  try {
    connection.exec("BEGIN");
    try {
      return await work({
        rows: async function* rows(sql) {
          yield* connection.prepare(sql).iterate();
        },
      });
    } finally {
      connection.exec("ROLLBACK");
    }
  } catch (error) {
    throw toStoreError(error, file);
  }
}

const rowsPerFetch = 500;

async function readPostgres<T>(
  where: string,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const address = parseAddress(where);
  try {
    const connections = await openConnections({ address, poolSize: 1, onLost: () => {} });
    try {
      return await connections.use(async (run) => {
        await run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
        const result = await work({ rows: (sql) => fetchAll(run, sql) });
        await run("COMMIT");
        return result;
      });
    } finally {
      await connections.close();
    }
  } catch (error) {
    throw toPostgresError(error, address);
  }
}

async function* fetchAll(run: Run, sql: string): AsyncGenerator<ResultRow> {
  await run(`DECLARE strata_rows NO SCROLL CURSOR FOR ${sql}`);
  for (;;) {
    const { rows } = await run(`FETCH ${rowsPerFetch} FROM strata_rows`);
    yield* rows;
    if (rows.length < rowsPerFetch) break;
  }
  await run("CLOSE strata_rows");
}
