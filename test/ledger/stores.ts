// The two stores as the contract opens them: empty, with a clock that tests move, closed and checked at the end.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createLedger, type LedgerOptions } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openPostgres } from "../../src/edge/stores/postgres/open-postgres.ts";
import type { Database, Statement } from "../../src/edge/stores/sql/database.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { all, startMs } from "./test-kit.ts";

export interface TestStore {
  readonly kind: Database["kind"];
  /** A place with nothing in it, not even a schema: a path or a connection string. */
  readonly blank: () => Promise<string>;
  readonly connect: (where: string) => Promise<Database>;
  /** A ledger without a row in it. What it holds when the test is over must pass its own check. */
  readonly open: () => Promise<TestLedger>;
}

export type OpenLedger = TestStore["open"];

export interface TestLedger {
  readonly ledger: Ledger;
  /** What operators see. */
  readonly database: Database;
  readonly where: string;
  /** A second, independent connection to the same store: another process or node, as far as the ledger knows. */
  readonly reopen: (options?: NodeOptions) => Promise<Ledger>;
  /** Moves the clock of every ledger on this store. */
  readonly advance: (ms: number) => void;
  /** Takes every row out again. */
  readonly empty: () => Promise<void>;
  /** The test damages the ledger on purpose. */
  readonly expectDamage: () => void;
}

export interface NodeOptions extends LedgerOptions {
  /** The tests' clock by default. */
  readonly clock?: "database";
}

/** Long enough that no heartbeat of a handle that a test dropped comes between. */
export const leaseMs = 3_600_000;

export function sqliteStore(): TestStore {
  const folder = mkdtempSync(join(tmpdir(), "strata-ledger-"));
  let files = 0;
  const blank = (): Promise<string> => Promise.resolve(join(folder, `${(files += 1)}.db`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return { kind: "sqlite", blank, connect: openFile, open: openShared(blank, openFile) };
}

/** Power cuts are not part of this suite: nothing waits for the disk. */
function openFile(file: string): Promise<Database> {
  const database = openSqlite({ file });
  database.connection.exec("PRAGMA synchronous = OFF");
  return Promise.resolve(database);
}

export function postgresStore(): TestStore {
  let server: PostgresServer | undefined;
  const blank = (): Promise<string> => {
    if (server === undefined) throw new Error("the server is not started yet");
    return server.createDatabase();
  };
  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
  });
  afterAll(() => server?.stop());
  return { kind: "postgres", blank, connect: openServer, open: openShared(blank, openServer) };
}

function openServer(url: string): Promise<Database> {
  return openPostgres({ url, poolSize: 4 });
}

/** One database for all tests of a file, emptied before each: making one takes longer than most tests. */
function openShared(blank: TestStore["blank"], connect: TestStore["connect"]): OpenLedger {
  let shared: Shared | undefined;
  afterAll(() => shared?.ledger.close());
  return async () => {
    shared ??= await openFirst(await blank(), connect);
    shared.clock.nowMs = startMs;
    const opened = openNodes(shared, connect);
    await opened.empty();
    return opened;
  };
}

interface Shared {
  readonly where: string;
  readonly database: Database;
  readonly ledger: Ledger;
  readonly clock: { nowMs: number };
}

async function openFirst(where: string, connect: TestStore["connect"]): Promise<Shared> {
  const clock = { nowMs: startMs };
  const database = await connect(where);
  const ledger = await createLedger(database, { now: () => clock.nowMs, leaseMs, holder: "first" });
  return { where, database, ledger, clock };
}

function openNodes(
  { where, database, ledger, clock }: Shared,
  connect: TestStore["connect"],
): TestLedger {
  const others: Ledger[] = [];
  let isDamaged = false;
  onTestFinished(async () => {
    try {
      if (!isDamaged) expect(await all(ledger.check())).toEqual([]);
    } finally {
      for (const other of others) await other.close();
    }
  });
  return {
    ledger,
    database,
    where,
    reopen: async ({ clock: whose, ...options } = {}) => {
      const now = whose === "database" ? {} : { now: () => clock.nowMs };
      const other = await createLedger(await connect(where), {
        holder: "other",
        leaseMs,
        ...now,
        ...options,
      });
      others.push(other);
      return other;
    },
    advance: (ms) => {
      clock.nowMs += ms;
    },
    empty: async () => {
      await database.commit({ inOrder: true, guards: [], writes: emptyTables });
    },
    expectDamage: () => {
      isDamaged = true;
    },
  };
}

/** Those that others refer to, last. */
const tablesToEmpty = [
  "conversation_blocks",
  "gateway_runs",
  "conversation_states",
  "provider_resources",
  "key_spending",
  "events",
  "queue_items",
  "compaction_locks_v1",
  "compactions_v1",
  "tool_calls",
  "calls",
  "message_terms",
  "messages",
  "session_history",
  "sessions",
  "branches",
  "turns",
  "contents",
];

const emptyTables: readonly Statement[] = tablesToEmpty.map((table) => ({
  sql: `DELETE FROM ${table} WHERE 1 = 1`,
  values: [],
}));
