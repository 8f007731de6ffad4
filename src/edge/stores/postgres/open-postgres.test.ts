import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../../../harness/postgres.ts";
import type { Database } from "../sql/database.ts";
import { loadDriver } from "./connections.ts";
import { openPostgres } from "./open-postgres.ts";
import {
  addSession,
  content,
  countOf,
  countWaiting,
  hashesIn,
  newSession,
  openMigrated,
  takeNumber,
  withClient,
} from "./test-kit.ts";

let server: PostgresServer;
let url: string;
let database: Database;

beforeAll(async () => {
  server = await startPostgres({ fsync: false });
  url = await server.createDatabase();
  database = await openMigrated(url);
  await addSession(database, "s", 1);
});

afterAll(async () => {
  await database?.close();
  await server?.stop();
});

describe("values", () => {
  const texts = {
    "a zero in JSON": JSON.stringify({ text: "a\u0000b" }),
    emoji: "🧵👩‍👩‍👧 naïve 漢字",
    quotes: `'one' ''two'' "three" \\'four\\' {"five",NULL} NULL`,
    backslashes: "C:\\dir\\n \\\\ \\u0000 $1 ? :name",
    "line breaks": "a\nb\r\nc\td\u2028e",
    nothing: "",
    "a megabyte": 'x"\\{,é'.repeat(150_000),
  };

  test.each(Object.entries(texts))("%s comes back as it was", async (name, text) => {
    const write = { into: "contents", rows: [{ hash: name, text }] } as const;
    expect(await database.commit({ guards: [], writes: [write] })).toEqual({ kind: "done" });
    expect(await database.query("SELECT text FROM contents WHERE hash = ?", [name])).toEqual([
      { text },
    ]);
    expect(await database.query("SELECT hash FROM contents WHERE text = ?", [text])).toEqual([
      { hash: name },
    ]);
  });

  test("money beyond what a number holds goes in and comes out as text", async () => {
    const cost = 9_007_199_254_740_993n;
    await database.commit({
      guards: [
        {
          name: "session",
          sql: "UPDATE sessions SET cost_pico_usd = cost_pico_usd + ? WHERE id = ?",
          values: [cost, "s"],
        },
      ],
      writes: [],
    });
    expect(
      await database.query(
        "SELECT CAST(SUM(cost_pico_usd) AS TEXT) AS cost, COUNT(*) AS sessions, MAX(created_ms) AS created FROM sessions",
      ),
    ).toEqual([{ cost: "9007199254740993", sessions: 1, created: 0 }]);
    await expect(database.query("SELECT cost_pico_usd FROM sessions")).rejects.toMatchObject({
      code: "store-unavailable",
      message: "the ledger returned 9007199254740993, which does not fit a number exactly",
    });
  });

  test("sums, booleans and nulls are what SQLite gives for them", async () => {
    expect(
      await database.query(
        "SELECT SUM(branch_id) AS sum, COUNT(*) > 0 AS some, NULL AS nothing, 1.5 AS half FROM sessions",
      ),
    ).toEqual([{ sum: 1, some: 1, nothing: null, half: 1.5 }]);
  });

  test("text is sorted by its bytes, wherever the server stands", async () => {
    const rows = await database.query(
      "SELECT DISTINCT collation_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'text'",
    );
    expect(rows).toEqual([{ name: "C" }]);
  });

  test("the database's clock gives milliseconds", async () => {
    const [row] = await database.query(`SELECT ${database.clockSql} AS now`);
    expect(Math.abs(Number(row?.["now"]) - Date.now())).toBeLessThan(60_000);
  });
});

describe("commits", () => {
  test("a guard that does not hold is named, and nothing is written", async () => {
    expect(
      await database.commit({
        guards: [
          { name: "first", sql: "SELECT 1 FROM sessions WHERE id = ?", values: ["s"] },
          takeNumber("s", 99),
        ],
        writes: [content("never")],
      }),
    ).toEqual({ kind: "refused", guard: "number" });
    expect(await hashesIn(database)).not.toContain("never");
  });

  test("an update does not happen where an earlier guard fails", async () => {
    expect(
      await database.commit({
        guards: [
          { name: "nobody", sql: "SELECT 1 FROM sessions WHERE id = ?", values: ["nobody"] },
          takeNumber("s", 0),
        ],
        writes: [],
      }),
    ).toEqual({ kind: "refused", guard: "nobody" });
    expect(await countOf(database, "s")).toBe(0);
  });

  test("an update is taken back where a later guard fails", async () => {
    expect(
      await database.commit({
        guards: [
          takeNumber("s", 0),
          { name: "nobody", sql: "SELECT 1 FROM sessions WHERE id = ?", values: ["nobody"] },
        ],
        writes: [],
      }),
    ).toEqual({ kind: "refused", guard: "nobody" });
    expect(await countOf(database, "s")).toBe(0);
  });

  test("a guard that touches two rows does not hold", async () => {
    await addSession(database, "t", 2);
    const update = "UPDATE sessions SET turn_count = turn_count + 1 WHERE branch_id < ?";
    for (const sql of [update, "SELECT 1 FROM sessions WHERE branch_id < ?"]) {
      expect(
        await database.commit({
          guards: [{ name: "two", sql, values: [100] }],
          writes: [content("never")],
        }),
      ).toEqual({ kind: "refused", guard: "two" });
    }
    expect(await countOf(database, "s")).toBe(0);
    expect(await hashesIn(database)).not.toContain("never");
  });

  test.each([false, true])(
    "a taken key is named, and nothing is written (inOrder %s)",
    async (inOrder) => {
      await database.commit({ guards: [], writes: [{ ...content("taken"), orIgnore: true }] });
      expect(
        await database.commit({
          guards: [takeNumber("s", 0)],
          writes: [content("never"), content("taken")],
          inOrder,
        }),
      ).toEqual({ kind: "taken", table: "contents" });
      expect(await countOf(database, "s")).toBe(0);
      expect(await hashesIn(database)).not.toContain("never");
    },
  );

  test.each([false, true])(
    "a row that would point at nothing is refused (inOrder %s)",
    async (inOrder) => {
      const rows = [{ id: 50, parent_branch_id: 49, fork_seq: 1 }];
      expect(
        await database.commit({
          guards: [takeNumber("s", 0)],
          writes: [{ into: "branches", rows }],
          inOrder,
        }),
      ).toEqual({ kind: "refused", guard: "reference" });
      expect(await countOf(database, "s")).toBe(0);
    },
  );

  test("rows may refer to each other within a commit, in any order", async () => {
    const writes = newSession("referring", 60).toReversed();
    expect(await database.commit({ guards: [], writes })).toEqual({ kind: "done" });
  });

  test("what is there already is left as it is, where that is asked for", async () => {
    const rows = [
      { hash: "kept", text: "first" },
      { hash: "kept", text: "second" },
    ];
    const write = { into: "contents", rows, orIgnore: true } as const;
    await database.commit({ guards: [], writes: [write, write] });
    expect(await database.query("SELECT text FROM contents WHERE hash = ?", ["kept"])).toEqual([
      { text: "first" },
    ]);
  });

  test("writes in order see each other", async () => {
    expect(
      await database.commit({
        guards: [],
        writes: [
          content("gone", "stays"),
          { sql: "DELETE FROM contents WHERE hash = ?", values: ["gone"] },
          { sql: "UPDATE contents SET text = ? WHERE hash = ?", values: ["changed", "stays"] },
        ],
        inOrder: true,
      }),
    ).toEqual({ kind: "done" });
    expect(
      await database.query("SELECT hash, text FROM contents WHERE hash IN ('gone', 'stays')"),
    ).toEqual([{ hash: "stays", text: "changed" }]);
  });

  test("ten thousand rows are one commit", async () => {
    const hashes = Array.from({ length: 10_000 }, (_, index) => `many-${index}`);
    await database.commit({ guards: [], writes: [content(...hashes)] });
    expect(
      await database.query("SELECT COUNT(*) AS count FROM contents WHERE hash LIKE 'many-%'"),
    ).toEqual([{ count: 10_000 }]);
  });

  test("a commit of nothing is done", async () => {
    expect(await database.commit({ guards: [], writes: [] })).toEqual({ kind: "done" });
  });

  test("a statement that failed once works when it is right", async () => {
    const sql = "SELECT note FROM later WHERE note = ?";
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(database.query(sql, ["x"])).rejects.toMatchObject({ code: "store-unavailable" });
    }
    await database.query("CREATE TABLE later (note TEXT)");
    expect(await database.query(sql, ["x"])).toEqual([]);
  });

  test("a table that changes under prepared statements is read all the same", async () => {
    await database.query("CREATE TABLE growing (a BIGINT)");
    await database.query("INSERT INTO growing (a) VALUES (?)", [1]);
    const read = (): Promise<unknown> => database.query("SELECT * FROM growing WHERE a = ?", [1]);
    for (let time = 0; time < 4; time += 1) expect(await read()).toEqual([{ a: 1 }]);
    await database.query("ALTER TABLE growing ADD COLUMN b BIGINT");
    expect(await read()).toEqual([{ a: 1, b: null }]);
  });
});

describe("the rest", () => {
  test("exclusive work happens one after the other, and is taken back as a whole", async () => {
    const other = await openPostgres({ url });
    await database.query("CREATE TABLE steps (number BIGINT)");
    await Promise.all([database, other, database, other].map(step));
    await expect(
      other.exclusive(async (query) => {
        await query("DELETE FROM steps");
        throw new Error("changed my mind");
      }),
    ).rejects.toThrow("changed my mind");
    const rows = await other.query("SELECT number FROM steps ORDER BY number");
    expect(rows.map(({ number }) => number)).toEqual([0, 1, 2, 3]);
    await other.close();
  });

  test("no other client writes to a session during exclusive work, and all may read", async () => {
    const other = await openPostgres({ url });
    const order: string[] = [];
    let creating: Promise<unknown> = Promise.resolve();
    await database.exclusive(async (query) => {
      creating = addSession(other, "meanwhile", 70).then(() => order.push("created"));
      await withClient(url, async (client) => {
        while ((await countWaiting(client)) === 0) await wait(5);
      });
      expect(await countOf(other, "s")).toBe(0);
      const [row] = await query("SELECT COUNT(*) AS count FROM sessions WHERE id = 'meanwhile'");
      expect(row).toEqual({ count: 0 });
      order.push("done");
    });
    await creating;
    expect(order).toEqual(["done", "created"]);
    await other.close();
  });

  test("a connection that prepared many statements is replaced by a fresh one", async () => {
    const other = await openPostgres({ url, poolSize: 1 });
    for (let number = 0; number < 420; number += 1) {
      const sql = `SELECT ${number} AS number WHERE 1 = ?`;
      await Promise.all([other.query(sql, [1]), other.query(sql, [1])]);
    }
    const [row] = await other.query("SELECT COUNT(*) AS count FROM pg_prepared_statements");
    expect(Number(row?.["count"])).toBeLessThan(50);
    await other.close();
  });

  test("the size grows with what is in it", async () => {
    expect(await database.size()).toBeGreaterThan(1_000_000);
  });

  test("the server finds nothing wrong, and with amcheck looks into every index", async () => {
    expect(await database.check()).toEqual([]);
    await withClient(url, (client) => client.query("CREATE EXTENSION amcheck"));
    expect(await database.check()).toEqual([]);
    await database.query(
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sessions_branch'::regclass",
    );
    expect(await database.check()).toContain("the index sessions_branch is not valid");
    await database.query(
      "UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'sessions_branch'::regclass",
    );
  });

  test("closing waits for what was begun, and nothing can be begun afterwards", async () => {
    const other = await openPostgres({ url });
    const slow = other.query("SELECT 1 AS one FROM pg_sleep(0.2)");
    await Promise.all([other.close(), other.close()]);
    expect(await slow).toEqual([{ one: 1 }]);
    await expect(other.query("SELECT 1")).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringMatching(/is already closed$/),
    });
  });

  test("a missing driver is named", async () => {
    await expect(
      loadDriver(() => Promise.reject(new Error("Cannot find package 'pg'"))),
    ).rejects.toMatchObject({ code: "environment-unfit", hint: "npm install pg" });
  });
});

function step(on: Database): Promise<void> {
  return on.exclusive(async (query) => {
    const [row] = await query("SELECT COUNT(*) AS count FROM steps");
    await query("INSERT INTO steps (number) VALUES (?)", [Number(row?.["count"])]);
  });
}
