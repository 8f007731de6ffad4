// Goal: a store that fails during a turn does not lock the session for its own process. Method: a tool takes the store
// away (the write lock, the room on the disk, the connection); the turn fails, the store comes back, and the turn is resumed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openProxy } from "../../harness/postgres-proxy.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openPostgresLedger } from "../../src/edge/stores/postgres/index.ts";
import { openSqliteLedger } from "../../src/edge/stores/sqlite/index.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { defineTool, openEngine, type EngineSession, type Ledger } from "../../src/index.ts";
import { createScripted } from "../../src/simulator/index.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-failed-store-"));
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

const leaseMs = 300;

/** A session whose first turn fails because its tool takes the store away. */
async function failTurn(store: Ledger, takeAway: () => void): Promise<EngineSession> {
  let isTaken = false;
  const spoil = defineTool({
    name: "spoil",
    description: "Takes the store away",
    input: {},
    run: () => {
      // A resumed turn runs its tools again.
      if (!isTaken) takeAway();
      isTaken = true;
      return Promise.resolve("x".repeat(200_000));
    },
  });
  const model = createScripted([{ toolCalls: [{ name: "spoil", input: {} }] }, { text: "Done." }]);
  const engine = await openEngine({
    model: "claude-sonnet-5-5",
    counter: cheapCounter,
    env: {},
    tools: [spoil],
    store,
    simulate: { model },
  });
  onTestFinished(async () => {
    await engine.close();
    await store.close();
  });
  const session = await engine.session("s");
  await expect(session.run("Go.").result).rejects.toMatchObject({ code: "store-unavailable" });
  return session;
}

test("after a write lock held too long, the same process resumes the turn, and the lease is not renewed", async () => {
  const file = join(folder, "locked.db");
  const store = await openSqliteLedger({ file, busyForMs: 100, leaseMs });
  const other = new DatabaseSync(file);
  const session = await failTurn(store, () => other.exec("BEGIN IMMEDIATE"));
  other.exec("ROLLBACK");
  const expiry = other.prepare("SELECT lease_expires_ms AS ms FROM sessions WHERE id = 's'");
  await wait(leaseMs / 3);
  const before = expiry.get();
  await wait(leaseMs);
  expect(expiry.get()).toEqual(before);
  other.close();
  expect((await session.resume().result).end).toBe("done");
});

test("right after a write lock held too long, the same process takes back its own lease", async () => {
  const file = join(folder, "own.db");
  const store = await openSqliteLedger({ file, busyForMs: 100, leaseMs: 3_600_000 });
  const other = new DatabaseSync(file);
  const session = await failTurn(store, () => other.exec("BEGIN IMMEDIATE"));
  other.exec("ROLLBACK");
  other.close();
  expect((await session.resume().result).end).toBe("done");
});

test("after a full disk, the same process resumes the turn", async () => {
  const database = openSqlite({ file: join(folder, "full.db"), busyForMs: 100 });
  const store = await createLedger(database, { leaseMs: 3_600_000 });
  const { connection } = database;
  const session = await failTurn(store, () => connection.exec("PRAGMA max_page_count = 10"));
  connection.exec("PRAGMA max_page_count = 100000");
  expect((await session.resume().result).end).toBe("done");
});

test("after a cut connection to PostgreSQL, the same process resumes the turn", async () => {
  const proxy = await openProxy(await server.createDatabase());
  onTestFinished(() => proxy.close());
  const store = await openPostgresLedger({ url: proxy.url, retryForMs: 100, leaseMs: 3_600_000 });
  const session = await failTurn(store, () => proxy.breakOn(""));
  proxy.breakOn(null);
  expect((await session.resume().result).end).toBe("done");
});
