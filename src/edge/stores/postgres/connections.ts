// A bounded number of connections to one database, each used by one piece of work at a time.
import type * as Driver from "pg";
import { StrataError } from "../../../core/strata-error.ts";
import type { ResultRow } from "../sql/database.ts";
import type { NumberedStatement } from "./compose-commit.ts";
import type { Address } from "./connection-string.ts";
import { isStalePlan, kindOfFailure } from "./postgres-errors.ts";
import { resultTypes } from "./result-types.ts";
import { createStatementNames } from "./statement-names.ts";

export interface Connections {
  /** Nothing is sent where it throws before the work began. */
  use<T>(work: (run: Run) => Promise<T>): Promise<T>;
  /** A connection outside the pool, for listening. */
  connectAlone(): Promise<Driver.Client>;
  close(): Promise<void>;
}

/** Sends a statement at once; what is sent before the answer came travels along with it. */
export type Run = (
  sql: string,
  values?: NumberedStatement["values"],
) => Promise<{ readonly rows: readonly ResultRow[]; readonly rowCount: number }>;

export interface ConnectionsOptions {
  readonly address: Address;
  readonly poolSize: number;
  /** Told when a connection broke that nobody used just then. */
  readonly onLost: (error: unknown) => void;
}

const connectForMs = 10_000;

/**
 * What users and servers may have set otherwise. Commits wait for the disk; somebody who died in a transaction does
 * not hold its locks for long; statements see what was committed before them.
 */
const sessionSettings = `SELECT set_config('client_encoding', 'UTF8', false),
  set_config('default_transaction_isolation', 'read committed', false),
  CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END,
  CASE current_setting('idle_in_transaction_session_timeout')
    WHEN '0' THEN set_config('idle_in_transaction_session_timeout', '30s', false) END`;

export async function openConnections(options: ConnectionsOptions): Promise<Connections> {
  const { address, onLost } = options;
  const pg = await loadDriver();
  const types = new pg.TypeOverrides();
  for (const [type, parse] of resultTypes) types.setTypeParser(type, parse);
  const config: Driver.PoolConfig = {
    connectionString: address.connectionString,
    max: options.poolSize,
    types,
    connectionTimeoutMillis: connectForMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: connectForMs,
    fallback_application_name: "strata",
    pipeline: true,
  };
  checkConfig(pg, config, address);
  const pool = new pg.Pool(config);
  pool.on("error", onLost);
  pool.on("connect", (client) => {
    // A connection may break before anybody who asked for it can look; the next statement on it fails then.
    client.on("error", () => {});
    // Goes ahead of whatever the connection was made for. If it fails, so does that.
    void client.query(sessionSettings).catch(() => {});
  });
  const nameOf = createStatementNames();
  return {
    use: async (work) => {
      const client = await pool.connect();
      return useClient(client, nameOf, work);
    },
    connectAlone: async () => {
      const client = new pg.Client(config);
      client.on("error", () => {});
      await client.connect();
      return client;
    },
    close: () => pool.end(),
  };
}

/** The driver is installed by those who use it. */
export async function loadDriver(
  load: () => Promise<typeof Driver> = () => import("pg"),
): Promise<typeof Driver> {
  try {
    return await load();
  } catch (error) {
    throw new StrataError(
      "environment-unfit",
      "a ledger on PostgreSQL needs the package pg, which is not installed",
      "npm install pg",
      { cause: error },
    );
  }
}

/** The driver reads the string, certificates and all, when it makes a client. */
function checkConfig(pg: typeof Driver, config: Driver.PoolConfig, { redact }: Address): void {
  try {
    void new pg.Client(config);
  } catch (error) {
    throw new StrataError(
      "config-invalid",
      `the connection string of the ledger cannot be used: ${redact(error instanceof Error ? error.message : String(error))}`,
      "check what it says after the question mark",
      { cause: error },
    );
  }
}

async function useClient<T>(
  client: Driver.PoolClient,
  nameOf: (sql: string) => string | undefined,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  let isBroken = false;
  const onError = (): void => {
    isBroken = true;
  };
  client.on("error", onError);
  const run: Run = async (sql, values = []) => {
    const name = values.length === 0 ? undefined : nameOf(sql);
    const text = { text: sql, values: [...values] };
    const { rows, rowCount } = await client.query<ResultRow>(
      name === undefined ? text : { ...text, name },
    );
    return { rows, rowCount: rowCount ?? 0 };
  };
  try {
    return await work(run);
  } catch (error) {
    isBroken ||= kindOfFailure(error) === "lost" || isStalePlan(error);
    throw error;
  } finally {
    client.off("error", onError);
    client.release(isBroken);
  }
}
