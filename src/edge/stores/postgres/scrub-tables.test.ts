// Goal: a deletion reports truthfully whether the deleted rows are gone from the server's tables.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../../../harness/postgres.ts";
import type { Database } from "../sql/database.ts";
import { openPostgres } from "./open-postgres.ts";
import { openProxy } from "../../../../harness/postgres-proxy.ts";
import { content, empty, openMigrated, withClient } from "./test-kit.ts";

let server: PostgresServer;
let url: string;
let database: Database;

beforeAll(async () => {
  server = await startPostgres({ fsync: false });
  url = await server.createDatabase();
  database = await openMigrated(url);
});

beforeEach(async () => {
  await empty(database);
  await database.commit({ guards: [], writes: [content("secret")] });
});

afterAll(async () => {
  await database?.close();
  await server?.stop();
});

async function deleteAll(on: Database = database): Promise<void> {
  await on.query("DELETE FROM contents");
}

/** Rows in the pages, including those no longer visible. */
async function countKept(): Promise<number> {
  return withClient(url, async (client) => {
    await client.query("CREATE EXTENSION IF NOT EXISTS pageinspect");
    const { rows } = await client.query(
      "SELECT count(t_data)::int AS kept FROM generate_series(0, pg_relation_size('contents') / 8192 - 1) AS page, heap_page_items(get_raw_page('contents', page::int))",
    );
    return rows[0].kept;
  });
}

test("deleted rows are gone", async () => {
  await deleteAll();
  expect(await countKept()).toBe(1);
  expect(await database.scrub()).toBeNull();
  expect(await countKept()).toBe(0);
});

test("a user who may not vacuum learns it, and what to grant", async () => {
  await withClient(url, async (client) => {
    await client.query("CREATE ROLE app LOGIN PASSWORD 'app-password'");
    await client.query(
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app",
    );
  });
  const restricted = new URL(url);
  restricted.username = "app";
  restricted.password = "app-password";
  const app = await openPostgres({ url: restricted.href });
  await deleteAll(app);
  expect(await app.scrub()).toMatch(
    /^the tables could not be vacuumed \(permission denied to vacuum "contents", skipping it\), so .* GRANT MAINTAIN ON ALL TABLES/,
  );
  expect(await countKept()).toBe(1);
  await withClient(url, (client) =>
    client.query("GRANT MAINTAIN ON ALL TABLES IN SCHEMA public TO app"),
  );
  expect(await app.scrub()).toBeNull();
  expect(await countKept()).toBe(0);
  await app.close();
});

test("rows that a transaction can still see are reported", async () => {
  await withClient(url, async (reader) => {
    await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await reader.query("SELECT * FROM contents");
    await deleteAll();
    expect(await database.scrub()).toMatch(/^a transaction that began before the deletion is/);
    expect(await countKept()).toBe(1);
    await reader.query("COMMIT");
  });
  expect(await database.scrub()).toBeNull();
  expect(await countKept()).toBe(0);
});

test("a reader who is done in a moment is waited for", async () => {
  await withClient(url, async (reader) => {
    await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await reader.query("SELECT * FROM contents");
    await deleteAll();
    const reading = reader.query("SELECT pg_sleep(0.2)").then(() => reader.query("COMMIT"));
    expect(await database.scrub()).toBeNull();
    await reading;
  });
  expect(await countKept()).toBe(0);
});

test("a connection that is lost meanwhile is reported, and is no failure", async () => {
  const proxy = await openProxy(url);
  const node = await openPostgres({ url: proxy.url });
  await deleteAll(node);
  proxy.breakOn("VACUUM\0");
  expect(await node.scrub()).toMatch(
    /^the tables could not be vacuumed, so that .* or you run VACUUM: .* cannot be reached/,
  );
  await node.close();
  await proxy.close();
});
