// Queries, commits and migrations for the ledger, on connections that may be lost.
import { StrataError } from "../../../core/strata-error.ts";
import type { Database, ResultRow } from "../sql/database.ts";
import type { Value } from "../sql/tables.ts";
import type { Connections } from "./connections.ts";
import type { Address } from "./connection-string.ts";
import { isUnsent, kindOfFailure, toStoreError, unknownWhether } from "./postgres-errors.ts";
import { retry, type RetryRules } from "./retry.ts";
import { rollBack, runCommit } from "./run-commit.ts";
import type { Run } from "./run-statements.ts";
import { isRead, numberPlaces, withByteOrder } from "./to-postgres-sql.ts";

export interface Operations extends Pick<Database, "query" | "commit" | "exclusive" | "snapshot"> {
  /** Registers work that closing the ledger waits for. */
  track<T>(work: () => Promise<T>): Promise<T>;
  /** Accepts no more work, and waits for what was begun. */
  drain(): Promise<void>;
}

export interface OperationsOptions {
  readonly connections: Connections;
  readonly address: Address;
  readonly rules: RetryRules;
}

/** An arbitrary number, unique in this database. */
const migrationLock = 7_235_414_919_321;

const translationsMax = 1000;

export function createOperations({ connections, address, rules }: OperationsOptions): Operations {
  const begun = new Set<Promise<unknown>>();
  let isDrained = false;
  const track = <T>(work: () => Promise<T>): Promise<T> => {
    if (isDrained) return Promise.reject(closed(address));
    const operation = work();
    const forget = (): boolean => begun.delete(operation);
    begun.add(operation);
    operation.then(forget, forget);
    return operation;
  };
  const translate = createTranslate();

  const runQuery = async (sql: string, values: readonly Value[]): Promise<readonly ResultRow[]> => {
    const translated = translate(sql);
    const attempt = async (): Promise<readonly ResultRow[]> => {
      let isSent = false;
      try {
        return await connections.use(async (run) => {
          isSent = true;
          return (await run(translated, values)).rows;
        });
      } catch (error) {
        const isLost = isSent && kindOfFailure(error) === "lost" && !isUnsent(error);
        throw isLost && !isRead(sql) ? unknownWhether(error, address) : error;
      }
    };
    return withStoreErrors(() => retry(attempt, rules), address);
  };

  const runAlone: Database["exclusive"] = (work) =>
    connections.use(async (run) => {
      const query: Database["query"] = async (sql, values = []) =>
        (await run(translate(sql), values)).rows;
      return inTransaction(run, async () => {
        await lockOthersOut(run);
        return work(query);
      });
    });

  const readAlone: Database["snapshot"] = (work) =>
    connections.use((run) =>
      inTransaction(run, async () => {
        await run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
        return work({
          query: async (sql, values = []) => (await run(translate(sql), values)).rows,
          rows: (sql) => fetchAll(run, translate(sql)),
        });
      }),
    );

  return {
    query: (sql, values = []) => track(() => runQuery(sql, values)),
    commit: (commit) => track(() => runCommit(connections, commit, address, rules)),
    exclusive: (work) => track(() => withStoreErrors(() => runAlone(work), address)),
    snapshot: (work) => track(() => withStoreErrors(() => readAlone(work), address)),
    track,
    drain: async () => {
      isDrained = true;
      await Promise.allSettled(begun);
    },
  };
}

/** Others may read meanwhile. */
async function lockOthersOut(run: Run): Promise<void> {
  await run(`SELECT pg_advisory_xact_lock(${migrationLock})`);
  const { rows } = await run("SELECT 1 AS found WHERE to_regclass('sessions') IS NOT NULL");
  // Every writer to a session locks its row or creates it.
  if (rows.length > 0) await run("LOCK TABLE sessions IN EXCLUSIVE MODE");
}

const rowsPerFetch = 500;

async function* fetchAll(run: Run, sql: string): AsyncGenerator<ResultRow> {
  await run(`DECLARE strata_rows NO SCROLL CURSOR FOR ${sql}`);
  for (;;) {
    const { rows } = await run(`FETCH ${rowsPerFetch} FROM strata_rows`);
    yield* rows;
    if (rows.length < rowsPerFetch) break;
  }
  await run("CLOSE strata_rows");
}

function createTranslate(): (sql: string) => string {
  const known = new Map<string, string>();
  return (sql) => {
    const found = known.get(sql);
    if (found !== undefined) return found;
    const translated = numberPlaces(withByteOrder(sql));
    if (known.size >= translationsMax) known.clear();
    known.set(sql, translated);
    return translated;
  };
}

async function withStoreErrors<T>(work: () => Promise<T>, address: Address): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error, address);
  }
}

async function inTransaction<T>(run: Run, work: () => Promise<T>): Promise<T> {
  await run("BEGIN");
  try {
    const result = await work();
    await run("COMMIT");
    return result;
  } catch (error) {
    await rollBack(run);
    throw error;
  }
}

function closed({ where }: Address): StrataError {
  return new StrataError(
    "store-unavailable",
    `the ledger ${where} is already closed`,
    "open it again, or close it later",
  );
}
