// Goal: what waits is in the ledger: it outlives its process, and any process that works on the session takes it, once.
// Method: two engines on one store, each with its own connection, as two processes have it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { createRandom } from "../../harness/random-message.ts";
import { before } from "../../harness/watch/wrap.ts";
import { messagesFrom } from "../../src/core/assembly/thread.ts";
import type { Ledger } from "../../src/index.ts";
import { openQueueTally, playRound } from "../../torture/queue/round.ts";
import { isQueued, saidIn, setUp, type Scene } from "./test-kit.ts";

let server: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), "strata-queue-"));

beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(["sqlite", "postgres"] as const)("on %s", (kind) => {
  let count = 0;
  const makeStore = async (): Promise<string> =>
    kind === "sqlite" ? join(folder, `${(count += 1)}.db`) : server.createDatabase();

  /** Two processes with the same session, which has one turn. */
  const setUpTwo = async (): Promise<readonly [Scene, Scene]> => {
    const store = await makeStore();
    const one = await setUp({ store });
    await one.session.run("One.").result;
    return [one, await setUp({ store })];
  };

  test("X-36: a session that another process works on queues the message, and runs it afterwards", async () => {
    const [one, other] = await setUpTwo();
    const first = one.session.run("Hold on.");
    await one.held();
    const second = other.session.run("Two.", { id: "t2" });
    await isQueued(second);
    expect(await one.engine.ledger.findQueued("t2")).toMatchObject({ status: "waiting" });
    one.letGo();
    expect(await second.result).toMatchObject({ end: "done", turnId: "t2" });
    expect((await first.result).end).toBe("done");
    expect(await saidIn(one.engine.ledger)).toEqual(["One.", "Hold on.", "Two."]);
    // The first process has an older session in its hands, and goes on from the ledger's.
    expect((await one.session.run("Three.").result).end).toBe("done");
    expect(await saidIn(one.engine.ledger)).toEqual(["One.", "Hold on.", "Two.", "Three."]);
  });

  test("X-36: messages of two processes run in the order they came, each once, and both callers get the results", async () => {
    const [one, other] = await setUpTwo();
    const first = one.session.run("Hold on.");
    await one.held();
    const second = other.session.run("Two.");
    await isQueued(second);
    const third = one.session.run("Three.");
    await isQueued(third);
    const fourth = other.session.run("Four.");
    await isQueued(fourth);
    one.letGo();
    const runs = await Promise.all([first, second, third, fourth].map(({ result }) => result));
    expect(runs.map(({ end }) => end)).toEqual(["done", "done", "done", "done"]);
    expect(runs.map(({ turnId }) => turnId)).toEqual(
      [first, second, third, fourth].map(({ turnId }) => turnId),
    );
    const said = runs.map(({ messages: [message] }) => message?.content[0]);
    expect(said).toMatchObject(["Hold on.", "Two.", "Three.", "Four."].map((text) => ({ text })));
    expect(await saidIn(one.engine.ledger)).toEqual([
      "One.",
      "Hold on.",
      "Two.",
      "Three.",
      "Four.",
    ]);
  });

  test("X-36: what a process left waiting runs before the first new message, or without one", async () => {
    const [{ engine, session }] = await setUpTwo();
    await leave(engine.ledger, "t2", "Two.");
    await leave(engine.ledger, "t3", "Three.");
    expect((await session.run("Four.").result).end).toBe("done");
    expect(await saidIn(engine.ledger)).toEqual(["One.", "Two.", "Three.", "Four."]);
    await leave(engine.ledger, "t5", "Five.");
    await leave(engine.ledger, "t6", "Six.");
    const handles = await session.runWaiting();
    expect(handles.map(({ turnId }) => turnId)).toEqual(["t5", "t6"]);
    for (const { result } of handles) expect((await result).end).toBe("done");
    expect((await saidIn(engine.ledger)).slice(4)).toEqual(["Five.", "Six."]);
  });

  /** Both processes wait for one message: one of them has its turn, which holds, and the other one follows it. */
  const setUpFollower = async () => {
    const [one, other] = await setUpTwo();
    await leave(one.engine.ledger, "t2", "Hold on.");
    readTogether(one.engine.ledger, other.engine.ledger);
    const [[ofOne], [ofOther]] = await Promise.all([
      one.session.runWaiting(),
      other.session.runWaiting(),
    ]);
    const first = await Promise.race([one, other].map((scene) => scene.held().then(() => scene)));
    if (ofOne === undefined || ofOther === undefined) throw new Error("a process has no handle");
    return first === one
      ? { first: one, second: other, runs: ofOne, follows: ofOther }
      : { first: other, second: one, runs: ofOther, follows: ofOne };
  };

  test("the caller whose message another process ran gets the same result", async () => {
    const { first, runs, follows } = await setUpFollower();
    first.letGo();
    const { session: known, unsaid: _, ...ran } = await runs.result;
    const { session: read, startMs, durationMs, ...followed } = await follows.result;
    expect(ran).toMatchObject({ end: "done", turnId: "t2", toolCalls: [{ name: "hold" }] });
    // The ledger has the time when the turn was open.
    expect(startMs + durationMs).toBe(ran.startMs + ran.durationMs);
    const { startMs: _startMs, durationMs: _durationMs, ...same } = ran;
    // Only the process that makes a call knows what it lost.
    const calls = ran.calls.map(({ miss: _miss, ...call }) => call);
    expect(followed).toEqual({ ...same, calls });
    expect(read.headTurnId).toBe("t2");
    expect(messagesFrom(read.thread, 0)).toHaveLength(8);
    expect(messagesFrom(read.thread, 0)).toEqual(messagesFrom(known.thread, 0));
  });

  test("a caller can stop waiting for a turn of another process, which goes on", async () => {
    const { first, second, runs, follows } = await setUpFollower();
    await new Promise<void>((follow) => before(second.engine.ledger, "findTurn", () => follow()));
    follows.abort();
    await expect(follows.result).rejects.toMatchObject({
      code: "conflict",
      message: "the message could not be withdrawn: turn t2 of another process has it, and goes on",
    });
    first.letGo();
    expect(await runs.result).toMatchObject({ end: "done", turnId: "t2" });
    expect(await saidIn(first.engine.ledger)).toEqual(["One.", "Hold on."]);
  });

  test("the queue is read once for each turn of another process, however long that takes", async () => {
    const [one, other] = await setUpTwo();
    const first = one.session.run("Hold on.");
    await one.held();
    let reads = 0;
    before(other.engine.ledger, "readQueue", () => (reads += 1));
    const second = other.session.run("Two.");
    await isQueued(second);
    await new Promise<void>((enough) => {
      let polls = 0;
      before(other.engine.ledger, "findUnfinished", () => (polls += 1) === 4 && enough());
    });
    // The other one looked for room in the queue.
    expect(reads).toBe(2);
    one.letGo();
    expect((await second.result).end).toBe("done");
    expect((await first.result).end).toBe("done");
    expect(reads).toBe(3);
  });

  test("a message that cannot be read is dropped, and does not stop those behind it", async () => {
    const [{ engine, session }] = await setUpTwo();
    const item = { sessionId: "s", mode: "follow-up", model: null, queuedMs: 0 } as const;
    await engine.ledger.enqueue({
      ...item,
      id: "t2",
      eventJson: '{"content":" ","source":"human"}',
    });
    expect((await session.run("Three.").result).end).toBe("done");
    expect(await engine.ledger.findQueued("t2")).toMatchObject({
      status: "dropped",
      reason: "it cannot be read: an event from human has no content",
    });
  });

  // One percent of `npm run -s torture -- queue`.
  test("X-36: processes with queued messages are killed, and no message is lost or run twice", async () => {
    const tally = openQueueTally();
    const store = await makeStore();
    const random = createRandom(1);
    await playRound({ kind, store, number: 1, speakers: 2, kills: 2, random, tally });
    expect(tally).toMatchObject({ kills: 2, lost: 0, twice: 0, misled: 0, problems: [] });
    expect(tally.accepted).toBeGreaterThan(0);
  });
});

/** None goes on with the queue before all have read it once: the first turn takes its message out of it. */
function readTogether(...ledgers: readonly Ledger[]): void {
  const all = Promise.withResolvers<void>();
  let missing = ledgers.length;
  for (const ledger of ledgers) {
    const original = { ...ledger };
    let isRead = false;
    const readQueue: Ledger["readQueue"] = async (sessionId) => {
      const items = await original.readQueue(sessionId);
      if (!isRead) missing -= 1;
      isRead = true;
      if (missing === 0) all.resolve();
      await all.promise;
      return items;
    };
    Object.assign(ledger, { readQueue });
  }
}

/** As a process does that queues a message and dies. */
async function leave(ledger: Ledger, id: string, text: string): Promise<void> {
  const eventJson = JSON.stringify({ content: text, source: "human" });
  const item = { id, sessionId: "s", mode: "follow-up", eventJson, model: null } as const;
  await ledger.enqueue({ ...item, queuedMs: 0 });
}
