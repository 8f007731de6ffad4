// Goal: of all who try the same thing concurrently, exactly one wins. Method: two nodes, each with its own connections.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { setTimeout as wait } from "node:timers/promises";
import { startPostgres, type PostgresServer } from "../../../../harness/postgres.ts";
import type { Commit, Database, Guard, Statement } from "../sql/database.ts";
import { openPostgres } from "./open-postgres.ts";
import {
  addSession,
  content,
  countOf,
  countWaiting,
  empty,
  hashesIn,
  openMigrated,
  takeNumber,
  withClient,
} from "./test-kit.ts";

let server: PostgresServer;
let url: string;
let nodes: readonly [Database, Database];

beforeAll(async () => {
  server = await startPostgres({ fsync: false });
  url = await server.createDatabase();
  // By default deadlocks are checked after a second, which is long for a test.
  await withClient(url, async (client) => {
    await client.query("ALTER SYSTEM SET deadlock_timeout = '20ms'");
    await client.query("SELECT pg_reload_conf()");
  });
  nodes = [await openMigrated(url), await openPostgres({ url })];
});

beforeEach(async () => {
  await empty(nodes[0]);
  await addSession(nodes[0], "s", 1);
});

afterAll(async () => {
  await Promise.all((nodes ?? []).map((node) => node.close()));
  await server?.stop();
});

const isThere = { name: "session", sql: "SELECT 1 FROM sessions WHERE id = ?", values: ["s"] };

const shapes: Readonly<Record<string, (number: number) => Partial<Commit>>> = {
  "an update as guard": (number) => ({ guards: [takeNumber("s", number)] }),
  "a lock, then an update": (number) => ({ guards: [isThere, takeNumber("s", number)] }),
  "several statements": (number) => ({ guards: [takeNumber("s", number)], inOrder: true }),
  "an update, then a lock": (number) => ({ guards: [takeNumber("s", number), isThere] }),
};

describe.each(Object.entries(shapes))("with %s", (_name, shape) => {
  test("one of two wins each of 200 rounds, and only what it wrote is there", async () => {
    const won: string[] = [];
    for (let round = 0; round < 200; round += 1) {
      const results = await Promise.all(
        nodes.map((node, index) =>
          node.commit({
            guards: [],
            writes: [content(`${round}-${index}`), content(`${round}-${index}-more`)],
            ...shape(round),
          }),
        ),
      );
      const winner = results.findIndex(({ kind }) => kind === "done");
      expect(results[1 - winner]).toEqual({ kind: "refused", guard: "number" });
      won.push(`${round}-${winner}`, `${round}-${winner}-more`);
    }
    expect(await hashesIn(nodes[0])).toEqual(won.toSorted());
    expect(await countOf(nodes[1], "s")).toBe(200);
  });
});

test("sixteen writers who go on from what they read count to 200 without a gap", async () => {
  let wonCount = 0;
  const write = async (writer: number): Promise<void> => {
    const node = nodes[writer % 2 === 0 ? 0 : 1];
    for (;;) {
      const number = Number(await countOf(node, "s"));
      if (number >= 200) return;
      const { kind } = await node.commit({
        guards: [isThere, takeNumber("s", number)],
        writes: [content(`${number}`.padStart(3, "0"))],
      });
      if (kind === "done") wonCount += 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)));
  const expected = Array.from({ length: 200 }, (_, number) => `${number}`.padStart(3, "0"));
  expect(await hashesIn(nodes[0])).toEqual(expected);
  expect(wonCount).toBe(200);
});

test("of two who insert the same key, one hears that it is taken", async () => {
  for (let round = 0; round < 100; round += 1) {
    const results = await Promise.all(
      nodes.map((node) =>
        node.commit({ guards: [isThere], writes: [content(`${round}`), content(`${round}-more`)] }),
      ),
    );
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(["done", "taken"]);
  }
  expect(await hashesIn(nodes[0])).toHaveLength(200);
});

test("writers who lock two sessions in opposite order all come through", async () => {
  await addSession(nodes[0], "t", 2);
  const commits = Array.from({ length: 60 }, (_, index) => {
    const [first, second] = index % 2 === 0 ? ["s", "t"] : ["t", "s"];
    const guards = [lock(first ?? ""), lock(second ?? "")];
    return nodes[index % 2 === 0 ? 0 : 1].commit({ guards, writes: [add("s"), add("t")] });
  });
  expect(new Set((await Promise.all(commits)).map(({ kind }) => kind))).toEqual(new Set(["done"]));
  expect([await countOf(nodes[0], "s"), await countOf(nodes[0], "t")]).toEqual([60, 60]);
});

test("writes in order see what others committed while their guard waited", async () => {
  await withClient(url, async (other) => {
    await other.query("BEGIN");
    await other.query("SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE");
    const commit = nodes[0].commit({
      guards: [isThere],
      writes: [{ sql: "UPDATE contents SET text = ? WHERE hash = ?", values: ["seen", "late"] }],
      inOrder: true,
    });
    while ((await countWaiting(other)) === 0) await wait(5);
    await other.query("INSERT INTO contents (hash, text) VALUES ('late', 'not seen')");
    await other.query("COMMIT");
    expect(await commit).toEqual({ kind: "done" });
  });
  expect(await nodes[0].query("SELECT text FROM contents")).toEqual([{ text: "seen" }]);
});

function lock(id: string): Guard {
  return { ...isThere, name: id, values: [id] };
}

function add(id: string): Statement {
  return { sql: "UPDATE sessions SET turn_count = turn_count + 1 WHERE id = ?", values: [id] };
}
