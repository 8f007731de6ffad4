// The contract of the ledger, on the shared database.
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openPostgres } from "../../src/edge/stores/postgres/open-postgres.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { ledgerContract } from "./contract.ts";
import { writeRichSession } from "./contract/rich-session.ts";
import { postgresStore } from "./stores.ts";
import { each, lines, openSession, runAll } from "./test-kit.ts";

const store = postgresStore();

ledgerContract(store, { programs: 40 });

describe("between databases", () => {
  test("a session goes from SQLite to PostgreSQL and back, and is the same to the byte", async () => {
    const { ledger } = await store.open();
    const first = await createLedger(openSqlite({ file: ":memory:" }));
    await writeRichSession(first);
    const written = await lines(first, "rich");
    await ledger.importSession(each(written), { isTrusted: true });
    const onServer = await lines(ledger, "rich");
    expect(onServer).toEqual(written);
    const last = await createLedger(openSqlite({ file: ":memory:" }));
    await last.importSession(each(onServer), { isTrusted: true });
    expect(await lines(last, "rich")).toEqual(written);
    await first.close();
    await last.close();
  });

  test("a server that sorts by the rules of a language writes the same bytes", async () => {
    const ledger = await createLedger(await openPostgres({ url: await createEnglishDatabase() }));
    const local = await createLedger(openSqlite({ file: ":memory:" }));
    await openSession(local, "a");
    await runAll(local, "a", "b B _a a A é z Z 10 9");
    const written = await lines(local, "a");
    await ledger.importSession(each(written), { isTrusted: true });
    expect(await lines(ledger, "a")).toEqual(written);
    await local.close();
    await ledger.close();
  });
});

/** Sorts "a" before "B", as people do and SQLite does not. */
async function createEnglishDatabase(): Promise<string> {
  const url = new URL(await store.blank());
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query(
    "CREATE DATABASE english TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'",
  );
  await client.end();
  url.pathname = "/english";
  return url.href;
}
