// Forks: a new name for a turn. What came before it is shared, what comes after is each one's own.
import { expect, test } from "vitest";
import { leaseMs, type OpenLedger } from "../stores.ts";
import {
  all,
  call,
  fail,
  newTurn,
  open as openTurn,
  openSession,
  refusal,
  run,
  runAll,
  startMs,
  thread,
  turnIds,
  openWith,
} from "../test-kit.ts";

export function forksContract(open: OpenLedger): void {
  test("a fork points at any completed turn and shares what came before it (X-35)", async () => {
    const { ledger, advance } = await open();
    await openWith(ledger, "a", "t1 t2 t3");
    advance(50);
    const fork = await ledger.forkSession({ id: "b", from: { turnId: "t2" } });
    expect(fork).toMatchObject({
      id: "b",
      headTurnId: "t2",
      turnCount: 0,
      costPicoUsd: 0n,
      status: "active",
      createdMs: startMs + 50,
    });
    expect(await turnIds(ledger, "b")).toEqual(["t1", "t2"]);
    expect(await ledger.pointerHistory("b")).toEqual([
      { turnId: "t2", movedMs: startMs + 50, reason: "fork" },
    ]);
    expect((await ledger.stats()).rows).toMatchObject({ turns: 3, messages: 6 });
  });

  test("siblings are independent", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await ledger.forkSession({ id: "b", from: { turnId: "t1" } });
    await ledger.forkSession({ id: "c", from: { turnId: "t1" } });
    await run(ledger, "b", "b1");
    await run(ledger, "c", "c1");
    await run(ledger, "a", "t3");
    await fail(ledger, "b", "b2");
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t2", "t3"]);
    expect(await turnIds(ledger, "b")).toEqual(["t1", "b1"]);
    expect(await turnIds(ledger, "c")).toEqual(["t1", "c1"]);
    expect((await ledger.findSession("b"))?.costPicoUsd).toBe(2000n);
    expect((await ledger.findSession("c"))?.costPicoUsd).toBe(1000n);
  });

  test("siblings may run turns at the same time", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await ledger.forkSession({ id: "b", from: { sessionId: "a" } });
    const [left, right] = [await openTurn(ledger, "a", "l"), await openTurn(ledger, "b", "r")];
    await right.append(call("r", 1));
    await left.append(call("l", 1));
    await left.close({ status: "completed", endMs: startMs });
    await right.close({ status: "completed", endMs: startMs });
    expect(await turnIds(ledger, "a")).toEqual(["t1", "l"]);
    expect(await turnIds(ledger, "b")).toEqual(["t1", "r"]);
  });

  test("a thread over several branches is read in order", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "a1 a2 a3");
    await ledger.forkSession({ id: "b", from: { turnId: "a2" } });
    await fail(ledger, "b", "b1");
    await runAll(ledger, "b", "b2 b3");
    await ledger.forkSession({ id: "c", from: { sessionId: "b" } });
    await ledger.forkSession({ id: "d", from: { sessionId: "c" } });
    await run(ledger, "d", "d1");
    await ledger.forkSession({ id: "e", from: { turnId: "b2" } });
    await run(ledger, "e", "e1");
    expect(await turnIds(ledger, "d")).toEqual(["a1", "a2", "b2", "b3", "d1"]);
    expect(await turnIds(ledger, "e")).toEqual(["a1", "a2", "b2", "e1"]);
    expect(await thread(ledger, "e")).toEqual([
      "question of a1",
      "answer of a1",
      "question of a2",
      "answer of a2",
      "question of b2",
      "answer of b2",
      "question of e1",
      "answer of e1",
    ]);
    expect(await turnIds(ledger, { turnId: "b2" })).toEqual(["a1", "a2", "b2"]);
  });

  test("a fork takes over what the session was opened with, and the cache state of its head", async () => {
    const { ledger } = await open();
    await openSession(ledger, "boss");
    await openSession(ledger, "a", {
      agent: "reviewer",
      role: "worker",
      workspacePath: "/shop",
      personaId: "terse",
      foundation: "system",
      contextJson: '{"c":1.0}',
      setupJson: '{"s":1.0}',
      task: "once",
      parent: { sessionId: "boss" },
    });
    await run(ledger, "a", "t1");
    const turn = await openTurn(ledger, "a", "t2");
    await turn.append(call("t2", 1), { stateJson: '{"anchors":2}' });
    await turn.close({ status: "completed", endMs: startMs });
    const original = await ledger.findSession("a");
    const fork = await ledger.forkSession({ id: "b", from: { sessionId: "a" } });
    expect(fork).toMatchObject({
      agent: "reviewer",
      role: "worker",
      model: "claude",
      provider: "anthropic",
      workspacePath: "/shop",
      personaId: "terse",
      foundationHash: original?.foundationHash,
      contextJson: '{"c":1.0}',
      setupJson: '{"s":1.0}',
      parent: null,
      task: null,
    });
    expect(await ledger.readState("b")).toBe('{"anchors":2}');
    await ledger.forkSession({ id: "c", from: { turnId: "t1" } });
    expect(await ledger.readState("c")).toBeNull();
  });

  test("a fork may take over the settings of another session", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a", { agent: "first", foundation: "one" });
    await run(ledger, "a", "t1");
    await openSession(ledger, "z", { agent: "second", model: "opus", foundation: "two" });
    const fork = await ledger.forkSession({ id: "b", from: { turnId: "t1" }, like: "z" });
    expect(fork).toMatchObject({ agent: "second", model: "opus", headTurnId: "t1" });
    expect(await ledger.readContent(fork.foundationHash ?? "")).toBe("two");
  });

  test("a session without a turn can be forked, and both go their own way", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const fork = await ledger.forkSession({ id: "b", from: { sessionId: "a" } });
    expect(fork.headTurnId).toBeNull();
    await run(ledger, "b", "b1");
    await run(ledger, "a", "a1");
    expect(await turnIds(ledger, "a")).toEqual(["a1"]);
    expect(await turnIds(ledger, "b")).toEqual(["b1"]);
  });

  test("a session can be forked while its turn runs, up to its head", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await openTurn(ledger, "a", "t2");
    await ledger.forkSession({ id: "b", from: { sessionId: "a" } });
    await run(ledger, "b", "b1");
    await turn.append(call("t2", 1));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t2"]);
    expect(await turnIds(ledger, "b")).toEqual(["t1", "b1"]);
  });

  test("nothing is forked from a turn that is not completed; the hint names the one before", async () => {
    const { ledger, advance } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await fail(ledger, "a", "t2");
    expect(await refusal(ledger.forkSession({ id: "b", from: { turnId: "t2" } }))).toEqual({
      code: "conflict",
      message: "turn t2 is failed, so no session can point at it",
      hint: "use the turn before it, t1",
    });
    await openTurn(ledger, "a", "t3");
    expect(await refusal(ledger.forkSession({ id: "b", from: { turnId: "t3" } }))).toMatchObject({
      message: "turn t3 is pending, so no session can point at it",
    });
    advance(leaseMs + 1);
    await ledger.findUnfinished("a");
    expect(await refusal(ledger.moveSession("a", "t3"))).toMatchObject({
      message: "turn t3 is interrupted, so no session can point at it",
    });
    expect(await refusal(ledger.forkSession({ id: "b", from: { turnId: "t9" } }))).toMatchObject({
      code: "not-found",
    });
    expect(await ledger.findSession("b")).toBeNull();
  });

  test("a fork needs a name that is free", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await openSession(ledger, "b");
    const taken = ledger.forkSession({ id: "b", from: { sessionId: "a" } });
    expect(await refusal(taken)).toMatchObject({ code: "conflict" });
    expect((await ledger.findSession("b"))?.headTurnId).toBeNull();
  });

  test("a session can be pointed at an earlier turn and goes on from there; nothing is deleted", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2 t3");
    const moved = await ledger.moveSession("a", "t1");
    expect(moved).toMatchObject({ headTurnId: "t1", turnCount: 3, costPicoUsd: 3000n });
    expect(await turnIds(ledger, "a")).toEqual(["t1"]);
    await run(ledger, "a", "t4");
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t4"]);
    expect(await turnIds(ledger, { turnId: "t3" })).toEqual(["t1", "t2", "t3"]);
    await ledger.moveSession("a", "t3");
    await run(ledger, "a", "t5");
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t2", "t3", "t5"]);
    expect((await ledger.pointerHistory("a")).map(({ turnId }) => turnId)).toEqual([
      null,
      "t1",
      "t2",
      "t3",
      "t1",
      "t4",
      "t3",
      "t5",
    ]);
  });

  test("a session can be pointed at a turn of another session", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await openSession(ledger, "b");
    await run(ledger, "b", "b1");
    await ledger.moveSession("b", "t1");
    await run(ledger, "b", "b2");
    expect(await turnIds(ledger, "b")).toEqual(["t1", "b2"]);
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t2"]);
  });

  test("a session that runs a turn stays where it is", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    const turn = await openTurn(ledger, "a", "t3");
    expect(await refusal(ledger.moveSession("a", "t1"))).toMatchObject({ code: "conflict" });
    await turn.append(call("t3", 1));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t2", "t3"]);
  });

  test("a plan on the old pointer is refused after a move (X-35)", async () => {
    const { ledger, reopen } = await open();
    await openWith(ledger, "a", "t1 t2");
    await (await reopen()).moveSession("a", "t1");
    expect(await refusal(ledger.openTurn(newTurn("a", "t3", "t2")))).toMatchObject({
      code: "conflict",
      message: "session a has moved on: it points at t1, not at t2",
    });
  });

  test("a tree of 60 branches, each forked from the last, is read from root to leaf", async () => {
    const { ledger } = await open();
    await openSession(ledger, "s0");
    await run(ledger, "s0", "t0");
    const wanted = ["t0"];
    for (let depth = 1; depth <= 60; depth += 1) {
      await ledger.forkSession({ id: `s${depth}`, from: { sessionId: `s${depth - 1}` } });
      if (depth % 3 === 0) continue;
      await run(ledger, `s${depth}`, `t${depth}`);
      wanted.push(`t${depth}`);
    }
    expect(await turnIds(ledger, "s60")).toEqual(wanted);
    expect(await thread(ledger, "s60")).toHaveLength(wanted.length * 2);
  });

  test("a long thread is read page by page, in order and without gaps", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const ids = Array.from({ length: 150 }, (_, n) => `t${n}`);
    await runAll(ledger, "a", ids.join(" "));
    await ledger.forkSession({ id: "b", from: { turnId: "t99" } });
    await run(ledger, "b", "b1");
    expect(await turnIds(ledger, "a")).toEqual(ids);
    expect(await turnIds(ledger, "b")).toEqual([...ids.slice(0, 100), "b1"]);
    const messages = await all(ledger.readThread({ sessionId: "b" }));
    expect(messages.map(({ turnId, index }) => `${turnId} ${index}`)).toEqual(
      [...ids.slice(0, 100), "b1"].flatMap((id) => [`${id} 0`, `${id} 1`]),
    );
  });
}
