// Goal: acknowledged data is there exactly once, whatever happens to the server or the connection.
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../../../harness/postgres.ts";
import { openProxy } from "../../../../harness/postgres-proxy.ts";
import type { StrataError } from "../../../core/strata-error.ts";
import type { Database } from "../sql/database.ts";
import { openPostgres } from "./open-postgres.ts";
import {
  addSession,
  content,
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
let database: Database;
let problems: StrataError[];

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  database = await openMigrated(url, { onProblem: (problem) => problems.push(problem) });
});

beforeEach(async () => {
  problems = [];
  await empty(database);
});

afterAll(async () => {
  await database?.close();
  await server?.stop();
});

const writers = ["a", "b", "c", "d", "e", "f"];

/** Each writer commits consecutive numbers, and reads, until it is stopped. */
async function writeDuring(disturb: () => Promise<void>): Promise<Map<string, number>> {
  for (const [index, writer] of writers.entries()) await addSession(database, writer, index + 1);
  const stop = new AbortController();
  const acknowledged = new Map<string, number>();
  const write = async (writer: string): Promise<void> => {
    for (let number = 0; !stop.signal.aborted; number += 1) {
      const commit = numbered(writer, number);
      expect(await database.commit({ ...commit, inOrder: number % 3 === 0 })).toEqual({
        kind: "done",
      });
      acknowledged.set(writer, number + 1);
      expect(await countOf(database, writer)).toBe(number + 1);
    }
  };
  const writing = Promise.all(writers.map(write));
  try {
    await Promise.race([disturb(), writing]);
  } finally {
    stop.abort();
  }
  await writing;
  return acknowledged;
}

function hashesOf(acknowledged: ReadonlyMap<string, number>): readonly string[] {
  const hashes = [...acknowledged].flatMap(([writer, count]) =>
    Array.from({ length: count }, (_, number) => `${writer}-${number}`),
  );
  return hashes.toSorted();
}

describe("under load", () => {
  test.each(["fast", "immediate"] as const)(
    "a server that restarts (%s) costs nothing but time",
    async (mode) => {
      const acknowledged = await writeDuring(async () => {
        for (const downForMs of [0, 300]) {
          await wait(150);
          await server.restart(mode, downForMs);
        }
        await wait(150);
      });
      expect([...acknowledged.keys()].toSorted()).toEqual(writers);
      expect(await hashesIn(database)).toEqual(hashesOf(acknowledged));
      expect(problems[0]).toMatchObject({ code: "store-unavailable" });
    },
  );

  test("connections that are ended by an administrator cost nothing but time", async () => {
    const acknowledged = await writeDuring(() =>
      withClient(url, async (other) => {
        for (let time = 0; time < 60; time += 1) {
          await wait(10);
          await other.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
          );
        }
      }),
    );
    expect([...acknowledged.keys()].toSorted()).toEqual(writers);
    expect(await hashesIn(database)).toEqual(hashesOf(acknowledged));
  });

  test("answers that never arrive cost nothing but time", async () => {
    const proxy = await openProxy(url);
    const direct = database;
    database = await openPostgres({ url: proxy.url });
    const acknowledged = await writeDuring(async () => {
      for (let time = 0; time < 8; time += 1) {
        await wait(40);
        proxy.breakOn("");
        await wait(15);
        proxy.breakOn(null);
      }
    });
    expect([...acknowledged.keys()].toSorted()).toEqual(writers);
    expect(await hashesIn(database)).toEqual(hashesOf(acknowledged));
    await database.close();
    await proxy.close();
    database = direct;
  });
});

const endWaiting =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

describe("one commit", () => {
  test("is run again where the server says that it did not land", async () => {
    await addSession(database, "s", 1);
    const result = await whileItWaits(() => database.commit(numbered("s", 0)), endWaiting);
    expect(result).toEqual({ status: "fulfilled", value: { kind: "done" } });
    expect(await hashesIn(database)).toEqual(["s-0"]);
  });

  test("is an error where it is unknown whether it landed", async () => {
    await addSession(database, "s", 1);
    const { landed: _landed, ...commit } = numbered("s", 0);
    const result = await whileItWaits(() => database.commit(commit), endWaiting);
    expect(result).toMatchObject({
      status: "rejected",
      reason: {
        code: "store-unavailable",
        message: expect.stringMatching(
          /was lost during a write; it is unknown whether the write took effect$/,
        ),
      },
    });
    expect(await hashesIn(database)).toEqual([]);
  });

  // The column that says whether the guard held, and the server's word for a finished transaction.
  test.each([
    { inOrder: false, answer: "g0\0" },
    { inOrder: true, answer: "COMMIT\0" },
  ])("is done once where it landed and the answer was lost (inOrder $inOrder)", async (each) => {
    await addSession(database, "s", 1);
    const proxy = await openProxy(url);
    const node = await openPostgres({ url: proxy.url });
    proxy.breakOn(each.answer);
    expect(await node.commit({ ...numbered("s", 0), inOrder: each.inOrder })).toEqual({
      kind: "done",
    });
    expect(await hashesIn(database)).toEqual(["s-0"]);
    expect(await countOf(database, "s")).toBe(1);
    await node.close();
    await proxy.close();
  });

  test("is not sent twice by a query either", async () => {
    await addSession(database, "s", 1);
    const update = "UPDATE sessions SET turn_count = turn_count + 1 WHERE id = ?";
    const result = await whileItWaits(() => database.query(update, ["s"]), endWaiting);
    expect(result).toMatchObject({ status: "rejected", reason: { code: "store-unavailable" } });
    expect(await countOf(database, "s")).toBe(0);
  });
});

test("a server that stays away is an error after the time, and nothing is pending", async () => {
  const own = await startPostgres({ fsync: false });
  const node = await openMigrated(own.url(), { retryForMs: 200 });
  await own.stop();
  const unreachable = {
    code: "store-unavailable",
    message: expect.stringMatching(/^the ledger postgres on 127\.0\.0\.1:\d+ cannot be reached: /),
  };
  await expect(node.query("SELECT 1")).rejects.toMatchObject(unreachable);
  await expect(node.commit({ guards: [], writes: [content("never")] })).rejects.toMatchObject(
    unreachable,
  );
  await node.close();
});

/** Holds the commit at its guard, disturbs its connection, then lets it continue. */
async function whileItWaits(
  commit: () => Promise<unknown>,
  disturb: string,
): Promise<PromiseSettledResult<unknown>> {
  return withClient(url, async (other) => {
    await other.query("BEGIN");
    await other.query("SELECT 1 FROM sessions FOR UPDATE");
    const running = Promise.allSettled([commit()]);
    while ((await countWaiting(other)) === 0) await wait(5);
    await other.query(disturb);
    await wait(50);
    await other.query("COMMIT");
    const [result] = await running;
    return result;
  });
}
