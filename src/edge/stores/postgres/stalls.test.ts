// Goal: a stalled network costs time, but never blocks forever.
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../../../harness/postgres.ts";
import { openProxy, type Proxy } from "../../../../harness/postgres-proxy.ts";
import type { Database } from "../sql/database.ts";
import { openPostgres, type PostgresOptions } from "./open-postgres.ts";
import {
  addSession,
  countOf,
  countWaiting,
  empty,
  hashesIn,
  numbered,
  openMigrated,
  withClient,
} from "./test-kit.ts";

let server: PostgresServer;
let url: string;
let direct: Database;
let proxy: Proxy;

beforeAll(async () => {
  server = await startPostgres({ fsync: false });
  url = await server.createDatabase();
  direct = await openMigrated(url);
});

beforeEach(async () => {
  await empty(direct);
  await addSession(direct, "s", 1);
  proxy = await openProxy(url);
});

afterEach(() => proxy.close());

afterAll(async () => {
  await direct?.close();
  await server?.stop();
});

function openNode(options: Partial<PostgresOptions> = {}): Promise<Database> {
  return openPostgres({ url: proxy.url, statementTimeoutMs: 200, ...options });
}

/** Gives up soon, but not before a busy machine has opened a connection. */
const impatient = { statementTimeoutMs: 500, retryForMs: 1000 };

describe("a network that stalls", () => {
  test.each(["all", "answers"] as const)(
    "for a while costs a commit nothing but time (%s)",
    async (what) => {
      const node = await openNode();
      proxy.stall(what);
      const committing = node.commit(numbered("s", 0));
      await wait(700);
      proxy.stall(null);
      expect(await committing).toEqual({ kind: "done" });
      expect(await hashesIn(direct)).toEqual(["s-0"]);
      expect(await countOf(direct, "s")).toBe(1);
      await node.close();
    },
  );

  test("for good is an error after the time, and the ledger can be closed", async () => {
    const node = await openNode(impatient);
    proxy.stall("all");
    await expect(node.query("SELECT 1 AS one")).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringContaining("cannot be reached: "),
    });
    await expect(node.commit(numbered("s", 0))).rejects.toMatchObject({
      code: "store-unavailable",
    });
    await node.close();
    expect(await hashesIn(direct)).toEqual([]);
  });

  test("in the middle of a long answer is noticed", async () => {
    const node = await openNode(impatient);
    const reading = node.query("SELECT repeat('x', 1000000) AS text FROM generate_series(1, 100)");
    await wait(20);
    proxy.stall("answers");
    await expect(reading).rejects.toMatchObject({ code: "store-unavailable" });
    await node.close();
  });
});

describe("a statement that takes long", () => {
  test("goes on as long as the server works on it", async () => {
    const node = await openNode();
    await direct.query("CREATE TABLE slow (number BIGINT)");
    await node.query("INSERT INTO slow (number) SELECT 1 FROM pg_sleep(1.5)");
    expect(await direct.query("SELECT COUNT(*) AS count FROM slow")).toEqual([{ count: 1 }]);
    await node.close();
  });

  test("goes on as long as it waits for another client", async () => {
    const node = await openNode();
    const { landed: _landed, ...commit } = numbered("s", 0);
    await withClient(url, async (other) => {
      await other.query("BEGIN");
      await other.query("SELECT 1 FROM sessions FOR UPDATE");
      const committing = node.commit(commit);
      while ((await countWaiting(other)) === 0) await wait(5);
      await wait(1000);
      await other.query("COMMIT");
      expect(await committing).toEqual({ kind: "done" });
    });
    await node.close();
  });

  test("goes on where the server has no connection left to ask over", async () => {
    await direct.query("CREATE ROLE few LOGIN PASSWORD 'few-password' CONNECTION LIMIT 2");
    const few = new URL(url);
    few.username = "few";
    few.password = "few-password";
    const node = await openPostgres({ url: few.href, statementTimeoutMs: 200, poolSize: 1 });
    expect(await node.query("SELECT 1 AS one FROM pg_sleep(1)")).toEqual([{ one: 1 }]);
    await node.close();
  });
});
