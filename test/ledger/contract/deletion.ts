// Deleting for good: what only this session stands on is gone from every table and every byte on disk.
import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Database } from "../../../src/edge/stores/sql/database.ts";
import { columnsOf, tableNames } from "../../../src/edge/stores/sql/tables.ts";
import { leaseMs, type TestStore } from "../stores.ts";
import {
  all,
  answers,
  asks,
  call,
  counted,
  fail,
  compaction,
  newCompaction,
  newTurn,
  open as openTurn,
  openSession,
  refusal,
  run,
  runAll,
  startMs,
  thread,
  turnIds,
  user,
  openWith,
  compactAfter,
} from "../test-kit.ts";
import { newEvent } from "./new-event.ts";

export function deletionContract({ open, kind }: TestStore): void {
  test("a deleted session leaves no row behind", async () => {
    const { ledger, database } = await open();
    await openSession(ledger, "a", { foundation: "system" });
    await runAll(ledger, "a", "t1 t2");
    await fail(ledger, "a", "t3");
    const turn = await openTurn(ledger, "a", "t4");
    await turn.append(call("t4", 1, { reply: asks("u1") }), { events: [newEvent("a", 1)] });
    await turn.answer([counted(answers("u1", "ok"))]);
    await turn.append(call("t4", 2, { sent: [answers("u1", "ok")] }));
    await turn.close({ status: "completed", endMs: startMs }, [newEvent("a", 2)]);
    await compactAfter(ledger, "a", "f1", "t4", { summarizedThroughTurnId: "t2" });
    await ledger.moveSession("a", "t1");
    await run(ledger, "a", "t5");
    await ledger.appendEvents([newEvent("a", 3)]);
    expect(await ledger.deleteSession("a")).toEqual({
      sessions: ["a"],
      turns: 6,
      turnsKept: 0,
      notYetScrubbed: null,
    });
    expect(await rowsLeft(database)).toEqual({});
    expect(await ledger.findSession("a")).toBeNull();
  });

  test("of sessions that are deleted concurrently, nothing stays that the last of them stood on", async () => {
    const { ledger, database, reopen } = await open();
    const other = await reopen();
    for (let round = 1; round <= 8; round += 1) {
      const [origin, fork] = [`origin ${round}`, `fork ${round}`];
      await openSession(ledger, origin);
      await runAll(ledger, origin, `o${round}1 o${round}2`);
      await ledger.forkSession({ id: fork, from: { turnId: `o${round}1` } });
      await run(ledger, fork, `f${round}`);
      await Promise.all([ledger.deleteSession(origin), other.deleteSession(fork)]);
    }
    expect(await rowsLeft(database)).toEqual({});
  });

  test("a writer that is late does not bring a deleted session back by its events", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await openSession(ledger, "b");
    await ledger.deleteSession("a");
    await ledger.appendEvents([newEvent("a", 1), newEvent("b", 2)]);
    const kept = await all(ledger.readEvents({ types: [newEvent("a", 1).type] }));
    expect(kept.map(({ sessionId }) => sessionId)).toEqual(["b"]);
    await openSession(ledger, "a");
    await ledger.appendEvents([newEvent("a", 3)]);
    expect(await all(ledger.readEvents({ sessionId: "a" }))).toHaveLength(1);
  });

  test("a session that was moved or asked for another one meanwhile is planned again", async () => {
    const { ledger, reopen } = await open();
    const other = await reopen();
    await openWith(ledger, "boss", "t1 t2");
    const workers = ["w1", "w2", "w3", "w4"].map((id) =>
      openSession(other, id, { parent: { sessionId: "boss" } }).then(
        () => id,
        // It was made, and deleted before its caller read it; else its parent was gone.
        ({ message }: Error) => (message === `there is no session ${id}` ? id : null),
      ),
    );
    const deletion = await ledger.deleteSession("boss");
    const made = (await Promise.all(workers)).filter((id) => id !== null);
    const left = (await ledger.listSessions({ status: "all" })).map(({ id }) => id);
    expect([...deletion.sessions, ...left].toSorted()).toEqual(["boss", ...made].toSorted());
    expect(left).toEqual([]);
  });

  test("a deleted name and its turns' ids are free again", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await ledger.deleteSession("a");
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    expect(await thread(ledger, "a")).toEqual(["question of t1", "answer of t1"]);
  });

  test("deleted words are gone from the database's texts", async () => {
    const { ledger, database, where } = await open();
    const secret = "correct horse battery staple";
    await openSession(ledger, "a", {
      foundation: `system ${secret}`,
      task: secret,
      setupJson: JSON.stringify(secret),
      contextJson: JSON.stringify(secret),
    });
    const turn = await ledger.openTurn(
      newTurn("a", "t1", null, { messages: [counted(user(secret))] }),
    );
    await turn.append(call("t1", 1, { sent: [user(secret)], reply: user(secret.repeat(500)) }), {
      stateJson: JSON.stringify(secret),
    });
    await turn.close({ status: "completed", endMs: startMs });
    const made = newCompaction("a", "f1", "t1", { summarizedThroughTurnId: "t1", summary: secret });
    await compaction(ledger, { ...made, messages: [counted(user(secret))] });
    await openSession(ledger, "b");
    await run(ledger, "b", "b1");
    const onDisk = (): readonly string[] => (kind === "sqlite" ? bytesWith(where, secret) : []);
    expect(onDisk().length > 0).toBe(kind === "sqlite");
    await ledger.deleteSession("a");
    expect(await textsWith(database, "battery")).toEqual([]);
    expect(onDisk()).toEqual([]);
    expect(await thread(ledger, "b")).toHaveLength(2);
  });

  test("the sessions it asked for go with it, and those they asked for", async () => {
    const { ledger } = await open();
    await openSession(ledger, "boss");
    await run(ledger, "boss", "t1");
    await openSession(ledger, "worker", { parent: { sessionId: "boss", turnId: "t1" } });
    await run(ledger, "worker", "w1");
    await openSession(ledger, "helper", { parent: { sessionId: "worker" } });
    await openSession(ledger, "bystander");
    const { sessions, turns } = await ledger.deleteSession("boss");
    expect(sessions.toSorted()).toEqual(["boss", "helper", "worker"]);
    expect(turns).toBe(2);
    expect((await ledger.listSessions()).map(({ id }) => id)).toEqual(["bystander"]);
  });

  test("a fork is spared, with everything it stands on and nothing else", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2 t3");
    await ledger.forkSession({ id: "b", from: { turnId: "t2" } });
    await run(ledger, "b", "b1");
    const before = await thread(ledger, "b");
    expect(await ledger.deleteSession("a")).toEqual({
      sessions: ["a"],
      turns: 1,
      turnsKept: 2,
      notYetScrubbed: null,
    });
    expect(await thread(ledger, "b")).toEqual(before);
    expect(await turnIds(ledger, "b")).toEqual(["t1", "t2", "b1"]);
    expect(await ledger.findTurn("t3")).toBeNull();
    await run(ledger, "b", "b2");
    expect(await turnIds(ledger, "b")).toEqual(["t1", "t2", "b1", "b2"]);
  });

  test("what failed on the way to a fork is not spared: no session stands on it", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await fail(ledger, "a", "t2");
    await run(ledger, "a", "t3");
    await ledger.forkSession({ id: "b", from: { turnId: "t3" } });
    await ledger.deleteSession("a");
    expect(await ledger.findTurn("t2")).toBeNull();
    expect(await ledger.readMessages("t2")).toEqual([]);
    expect(await ledger.readCalls("t2")).toEqual([]);
    expect(await turnIds(ledger, "b")).toEqual(["t1", "t3"]);
  });

  test("the rest goes when the last fork goes", async () => {
    const { ledger, database } = await open();
    await openSession(ledger, "a", { foundation: "system" });
    await runAll(ledger, "a", "t1 t2 t3 t4");
    await ledger.forkSession({ id: "b", from: { turnId: "t2" } });
    await ledger.forkSession({ id: "c", from: { turnId: "t3" } });
    await run(ledger, "c", "c1");
    await ledger.forkSession({ id: "d", from: { sessionId: "c" } });
    await ledger.deleteSession("a");
    await ledger.deleteSession("c");
    expect(await turnIds(ledger, "d")).toEqual(["t1", "t2", "t3", "c1"]);
    expect(await ledger.deleteSession("d")).toMatchObject({ turns: 2 });
    expect(await ledger.findTurn("t3")).toBeNull();
    expect(await turnIds(ledger, "b")).toEqual(["t1", "t2"]);
    await ledger.deleteSession("b");
    expect(await rowsLeft(database)).toEqual({});
  });

  test("forks go with it where that is asked for, but not those it was forked from", async () => {
    const { ledger } = await open();
    await openWith(ledger, "root", "r1 r2");
    await ledger.forkSession({ id: "a", from: { turnId: "r1" } });
    await run(ledger, "a", "a1");
    await ledger.forkSession({ id: "b", from: { sessionId: "a" } });
    await run(ledger, "b", "b1");
    await ledger.forkSession({ id: "c", from: { sessionId: "b" } });
    const { sessions } = await ledger.deleteSession("a", { withForks: true });
    expect(sessions.toSorted()).toEqual(["a", "b", "c"]);
    expect(await turnIds(ledger, "root")).toEqual(["r1", "r2"]);
    expect(await ledger.findTurn("b1")).toBeNull();
  });

  test("a fork can be deleted and the original does not notice", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await ledger.forkSession({ id: "b", from: { turnId: "t1" } });
    await run(ledger, "b", "b1");
    expect(await ledger.deleteSession("b")).toMatchObject({ sessions: ["b"], turns: 1 });
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t2"]);
    expect(await ledger.findTurn("b1")).toBeNull();
  });

  test("a compacted thread of a fork is intact after the original is gone", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2 t3");
    await compactAfter(ledger, "a", "f1", "t3", {
      summarizedThroughTurnId: "t1",
      firstKeptTurnId: "t2",
    });
    await ledger.forkSession({ id: "b", from: { sessionId: "a" } });
    await run(ledger, "b", "b1");
    const before = await thread(ledger, "b");
    await ledger.deleteSession("a");
    expect(await thread(ledger, "b")).toEqual(before);
    expect(await thread(ledger, "b", { whole: true })).toHaveLength(8);
  });

  test("a session that was moved here stands on it, too", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await openSession(ledger, "b");
    await ledger.moveSession("b", "t1");
    await run(ledger, "b", "b1");
    await ledger.deleteSession("a");
    expect(await turnIds(ledger, "b")).toEqual(["t1", "b1"]);
    await ledger.deleteSession("b");
  });

  test("a session that runs a turn is not deleted, nor one whose worker does", async () => {
    const { ledger } = await open();
    await openSession(ledger, "boss");
    await run(ledger, "boss", "t1");
    await openSession(ledger, "worker", { parent: { sessionId: "boss" } });
    const turn = await openTurn(ledger, "worker", "w1");
    for (const id of ["worker", "boss"]) {
      expect(await refusal(ledger.deleteSession(id))).toMatchObject({
        code: "conflict",
        hint: "wait until its turn is closed, then delete it; nothing was deleted",
      });
    }
    expect(await thread(ledger, "boss")).toHaveLength(2);
    await turn.close({ status: "failed", endMs: startMs });
    await ledger.deleteSession("boss");
  });

  test("a session whose writer is gone is deleted with its unfinished turn", async () => {
    const { ledger, database, reopen, advance } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1") }));
    advance(leaseMs + 1);
    await (await reopen()).deleteSession("a");
    expect(await rowsLeft(database)).toEqual({});
    expect(await refusal(turn.append(call("t1", 2)))).toMatchObject({ code: "conflict" });
    expect(await rowsLeft(database)).toEqual({});
  });

  test("a foundation that others share stays until the last one goes", async () => {
    const { ledger } = await open();
    const { foundationHash } = await openSession(ledger, "a", { foundation: "shared" });
    await openSession(ledger, "b", { foundation: "shared" });
    await ledger.deleteSession("a");
    expect(await ledger.readContent(foundationHash ?? "")).toBe("shared");
    await ledger.deleteSession("b");
    expect(await ledger.readContent(foundationHash ?? "")).toBeNull();
  });
}

/** Apart from the record that something was deleted, which names no session. */
async function rowsLeft(database: Database): Promise<Readonly<Record<string, number>>> {
  const left: Record<string, number> = {};
  for (const table of tableNames) {
    const but = table === "events" ? " WHERE type <> 'session.deleted'" : "";
    const [row] = await database.query(`SELECT COUNT(*) AS count FROM ${table}${but}`);
    const count = Number(row?.["count"]);
    if (count > 0) left[table] = count;
  }
  return left;
}

/** Every column of every table that holds this word. */
async function textsWith(database: Database, word: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of tableNames) {
    for (const column of Object.keys(columnsOf(table))) {
      const rows = await database.query(
        `SELECT 1 AS found FROM ${table} WHERE CAST(${column} AS TEXT) LIKE ? LIMIT 1`,
        [`%${word}%`],
      );
      if (rows.length > 0) found.push(`${table}.${column}`);
    }
  }
  return found;
}

/** The files of an embedded database that hold these bytes. */
function bytesWith(file: string, secret: string): readonly string[] {
  return readdirSync(dirname(file)).filter(
    (name) =>
      name.startsWith(basename(file)) && readFileSync(join(dirname(file), name)).includes(secret),
  );
}
