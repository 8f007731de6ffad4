// A bounded number of connections to one database, each used by one piece of work at a time.
import type * as Driver from "pg";
import { assert } from "../../../core/assert.ts";
import { StrataError, messageOf } from "../../../core/strata-error.ts";
import type { ResultRow } from "../sql/database.ts";
import { repairHint } from "../sql/read-row.ts";
import type { Address } from "./connection-string.ts";
import { endClient, withinTime } from "./deadline.ts";
import { isStalePlan, kindOfFailure } from "./postgres-errors.ts";
import { createToRun, type ClientRun, type Run } from "./run-statements.ts";
import { watchSilence } from "./watch-silence.ts";

export interface Connections {
  /** If it throws before the work began, nothing was sent. */
  use<T>(work: (run: Run) => Promise<T>, onNotice?: (notice: Notice) => void): Promise<T>;
  close(): Promise<void>;
}

/** Messages of the server besides the answer. The codes of warnings begin with 01. */
export interface Notice {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly detail?: string | undefined;
}

export interface ConnectionsOptions {
  readonly address: Address;
  readonly poolSize: number;
  /** How long a connection may be silent. */
  readonly silentForMs: number;
  /** Called when an idle connection broke. */
  readonly onLost: (error: unknown) => void;
  /** Called when work on a connection has succeeded. */
  readonly onSuccess: () => void;
}

const connectForMsMax = 10_000;

/**
 * Overrides settings of users and servers. Commits wait for the disk; a client that died in a transaction does
 * not hold its locks for long; statements see earlier commits; warnings are delivered.
 */
const sessionSettings = `SELECT pg_backend_pid() AS pid, set_config('client_encoding', 'UTF8', false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('client_min_messages', 'notice', false),
  CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END,
  CASE current_setting('idle_in_transaction_session_timeout')
    WHEN '0' THEN set_config('idle_in_transaction_session_timeout', '30s', false) END`;

export async function openConnections(options: ConnectionsOptions): Promise<Connections> {
  const { address, onLost, onSuccess, silentForMs } = options;
  const pg = await loadDriver();
  const types = new pg.TypeOverrides();
  for (const [type, parse] of resultTypes) types.setTypeParser(type, parse);
  const connectForMs = Math.min(connectForMsMax, silentForMs);
  const config: Driver.PoolConfig = {
    connectionString: address.connectionString,
    max: options.poolSize,
    types,
    connectionTimeoutMillis: connectForMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: connectForMs,
    fallback_application_name: "strata",
    pipeline: true,
    verify: (client, done) => {
      withinTime(client, connectForMs, () => client.query<ResultRow>(sessionSettings)).then(
        ({ rows }) => {
          watch.know(client, Number(rows[0]?.["pid"]));
          done();
        },
        done,
      );
    },
  };
  checkConfig(pg, config, address);
  const connectAlone = async (): Promise<Driver.Client> => {
    const client = new pg.Client(config);
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  const watch = watchSilence({ forMs: silentForMs, askForMs: connectForMs, connect: connectAlone });
  const pool = new pg.Pool(config);
  const open = new Set<Driver.Client>();
  pool.on("error", onLost);
  const toRun = createToRun(watch);
  const lines = new WeakMap<Driver.Client, Line>();
  pool.on("connect", (client) => {
    open.add(client);
    client.on("end", () => open.delete(client));
    lines.set(client, listen(client, toRun(client)));
  });
  return {
    use: async (work, onNotice = ignore) => {
      const client = await pool.connect();
      const line = lines.get(client);
      assert(line !== undefined, "a connection is listened to from its start");
      line.onNotice = onNotice;
      try {
        const result = await work(line.run);
        onSuccess();
        return result;
      } catch (error) {
        line.isBroken ||= kindOfFailure(error) === "lost" || isStalePlan(error);
        throw error;
      } finally {
        line.onNotice = ignore;
        // A new connection starts without prepared statements.
        client.release(line.isBroken || line.isFull());
      }
    },
    close: async () => {
      await pool.end();
      await Promise.all([...open].map((client) => endClient(client, connectForMs)));
      watch.stop();
    },
  };
}

/** The driver is optional and installed by its users. */
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

/** Creating a client makes the driver parse the string, including certificates. */
function checkConfig(pg: typeof Driver, config: Driver.PoolConfig, { redact }: Address): void {
  try {
    void new pg.Client(config);
  } catch (error) {
    throw new StrataError(
      "config-invalid",
      `the connection string of the ledger cannot be used: ${redact(messageOf(error))}`,
      "check the part after the question mark",
      { cause: error },
    );
  }
}

/** What is known of a connection, from its start on. */
interface Line extends ClientRun {
  isBroken: boolean;
  /** Of the work that uses it. */
  onNotice: (notice: Notice) => void;
}

const ignore = (): void => {};

function listen(client: Driver.Client, run: ClientRun): Line {
  const line: Line = { ...run, isBroken: false, onNotice: ignore };
  client.on("error", () => {
    line.isBroken = true;
  });
  client.on("notice", (notice) => line.onNotice(notice));
  return line;
}

/** Converts the server's types to the values both databases give. By type number in pg_type. Everything else stays text. */
const resultTypes: readonly (readonly [number, (text: string) => number])[] = [
  // Booleans: SQLite has none and uses 1 and 0.
  [16, (text) => (text === "t" ? 1 : 0)],
  [20, toSafeInteger],
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
  // Sums of integers.
  [1700, (text) => (/^-?\d+$/.test(text) ? toSafeInteger(text) : Number(text))],
];

function toSafeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new StrataError(
    "store-unavailable",
    `the ledger is damaged: the number ${text} in it is too large to be true`,
    repairHint,
  );
}
