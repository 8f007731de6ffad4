// The shared database: many nodes on one PostgreSQL server, which may be unavailable for a while.
import { StrataError } from "../../../core/strata-error.ts";
import type { Database } from "../sql/database.ts";
import { areWritersGone } from "./writers-gone.ts";
import { checkServer } from "./check-server.ts";
import { openConnections, type Connections } from "./connections.ts";
import { parseAddress, type Address } from "./connection-string.ts";
import { createOperations } from "./operations.ts";
import { explainFailure, toStoreError } from "./postgres-errors.ts";
import { scrubTables } from "./scrub-tables.ts";

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database`. */
  readonly url: string;
  /** How many connections it may open. */
  readonly poolSize?: number;
  /** How long to wait for an unavailable server before an operation fails. */
  readonly retryForMs?: number;
  /**
   * How long the server may be silent. A longer statement continues as long as the server confirms, over
   * another connection, that it works on it; otherwise the connection counts as lost.
   */
  readonly statementTimeoutMs?: number;
  /** Receives problems that fail no operation. */
  readonly onProblem?: (problem: StrataError) => void;
}

const dialect: Pick<Database, "clockSql" | "termsSql"> = {
  clockSql: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
  // Matches the index in migrations.ts.
  termsSql:
    "FROM q JOIN message_terms m ON array_to_tsvector(string_to_array(m.terms, ' ')) @@ CAST(q.code AS tsquery)",
};

/** Fails without waiting if the server cannot be reached. Waits for it only later. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { poolSize = 10, retryForMs = 30_000, statementTimeoutMs = 30_000 } = options;
  const onProblem = isolate(options.onProblem ?? (() => {}));
  const address = parseAddress(options.url);
  const outage = watchOutage((error) => onProblem(waitingFor(error, address, retryForMs)));
  const connections = await openConnections({
    address,
    poolSize,
    silentForMs: statementTimeoutMs,
    onLost: outage.onLost,
    onSuccess: outage.onSuccess,
  });
  const operations = createOperations({
    address,
    connections,
    rules: { forMs: retryForMs, onLost: outage.onLost },
  });
  try {
    await examine(connections, address, onProblem);
    let closing: Promise<void> | undefined;
    const closeAll = async (): Promise<void> => {
      await operations.drain();
      await connections.close();
    };
    return {
      kind: "postgres",
      ...dialect,
      query: operations.query,
      commit: operations.commit,
      exclusive: operations.exclusive,
      snapshot: operations.snapshot,
      hasTable: async (name) => {
        const rows = await operations.query("SELECT 1 AS found WHERE to_regclass(?) IS NOT NULL", [
          name,
        ]);
        return rows.length > 0;
      },
      areWritersGone: (tables) => areWritersGone(operations.query, tables),
      size: async () => {
        const [row] = await operations.query(
          "SELECT pg_database_size(current_database()) AS bytes",
        );
        return Number(row?.["bytes"] ?? 0);
      },
      check: () => checkServer(operations.query),
      scrub: () => operations.track(() => scrubTables(connections, address)),
      close: () => (closing ??= closeAll()),
    };
  } catch (error) {
    await connections.close();
    throw toStoreError(error, address);
  }
}

/** A failing handler must not break the operation it hears of. */
function isolate(onProblem: (problem: StrataError) => void): (problem: StrataError) => void {
  return (problem) => {
    try {
      onProblem(problem);
    } catch (error) {
      process.emitWarning(`a handler of problems failed: ${String(error)}`);
    }
  };
}

function waitingFor(error: unknown, address: Address, forMs: number): StrataError {
  const { code, message, hint } = explainFailure(error, address);
  const text = `${message}; operations wait up to ${forMs / 1000} s`;
  return new StrataError(code, text, hint, { cause: error });
}

/** Reports an outage once, not once per waiting operation. */
function watchOutage(onOutage: (error: unknown) => void): {
  readonly onLost: (error: unknown) => void;
  readonly onSuccess: () => void;
} {
  let isAway = false;
  return {
    onLost: (error) => {
      if (!isAway) onOutage(error);
      isAway = true;
    },
    onSuccess: () => {
      isAway = false;
    },
  };
}

async function examine(
  connections: Connections,
  { where }: Address,
  onProblem: (problem: StrataError) => void,
): Promise<void> {
  const { rows } = await connections.use((run) =>
    run(
      "SELECT current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync, pg_is_in_recovery() AS is_standby",
    ),
  );
  const { encoding, fsync, is_standby: isStandby } = rows[0] ?? {};
  if (encoding !== "UTF8") {
    throw new StrataError(
      "environment-unfit",
      `the ledger ${where} stores text as ${String(encoding)}, which does not have every character`,
      "create the database with ENCODING 'UTF8'",
    );
  }
  if (isStandby === 1) {
    throw new StrataError(
      "store-unavailable",
      `the ledger ${where} is read-only: the server is a standby`,
      "name the primary server in the connection string",
    );
  }
  if (fsync === "off") {
    onProblem(
      new StrataError(
        "store-unavailable",
        `the ledger ${where} may lose acknowledged data in a power cut: fsync is off on the server`,
        "set fsync = on in postgresql.conf",
      ),
    );
  }
}
