// Sessions: names for a place in the tree of turns, with what they were opened with.
import { expect, test } from "vitest";
import { hashContent } from "../../../src/core/hash.ts";
import type { OpenLedger } from "../stores.ts";
import {
  assistant,
  counted,
  all,
  call,
  fail,
  newSession,
  newTurn,
  open as openTurn,
  openSession,
  refusal,
  run,
  runAll,
  startMs,
  thread,
  user,
  compactAfter,
} from "../test-kit.ts";

export function sessionsContract(open: OpenLedger): void {
  test("a session is found by its name with all it was opened with (X-31)", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "boss");
    const made = await openSession(ledger, "review #1 – ünïcode 😀", {
      agent: "reviewer",
      role: "worker",
      parent: { sessionId: "boss", turnId: "t7", toolUseId: "toolu_9" },
      task: "review the change",
      workspacePath: "/shop",
      personaId: "terse",
      routingKey: "slack:ops:42",
      foundation: "You are a reviewer.",
      contextJson: '{"workspace":{"hash":"abc","version":3}}',
      setupJson: '{"padding":1.0}',
    });
    expect(made).toEqual({
      id: "review #1 – ünïcode 😀",
      origin: "engine",
      agent: "reviewer",
      role: "worker",
      model: "claude",
      provider: "anthropic",
      parent: { sessionId: "boss", turnId: "t7", toolUseId: "toolu_9" },
      task: "review the change",
      workspacePath: "/shop",
      personaId: "terse",
      routingKey: "slack:ops:42",
      foundationHash: hashContent("You are a reviewer."),
      contextJson: '{"workspace":{"hash":"abc","version":3}}',
      setupJson: '{"padding":1.0}',
      status: "active",
      headTurnId: null,
      openTurnId: null,
      turnCount: 0,
      costPicoUsd: 0n,
      createdMs: startMs,
      updatedMs: startMs,
    });
    const other = await reopen();
    expect(await other.findSession("review #1 – ünïcode 😀")).toEqual(made);
    expect(await other.listSessions({ routingKey: "slack:ops:42" })).toEqual([made]);
    expect(await other.listSessions({ routingKey: "slack:ops:43" })).toEqual([]);
  });

  test("what was not given of a session is null", async () => {
    const { ledger } = await open();
    expect(await openSession(ledger, "a")).toMatchObject({
      parent: null,
      task: null,
      workspacePath: null,
      personaId: null,
      foundationHash: null,
      contextJson: null,
      setupJson: null,
    });
    expect(await ledger.readState("a")).toBeNull();
  });

  test("a session that does not exist is null to who looks and an error to who works on it", async () => {
    const { ledger } = await open();
    expect(await ledger.findSession("nobody")).toBeNull();
    const wanted = { code: "not-found", message: "there is no session nobody" };
    expect(await refusal(ledger.pointerHistory("nobody"))).toMatchObject(wanted);
    expect(await refusal(ledger.readState("nobody"))).toMatchObject(wanted);
    expect(await refusal(ledger.deleteSession("nobody"))).toMatchObject(wanted);
    expect(await refusal(ledger.setStatus("nobody", "archived"))).toMatchObject(wanted);
    expect(await refusal(ledger.findUnfinished("nobody"))).toMatchObject(wanted);
    expect(await refusal(ledger.lockCompaction("nobody"))).toMatchObject(wanted);
    expect(await refusal(openTurn(ledger, "nobody", "t1"))).toMatchObject(wanted);
    expect(await refusal(all(ledger.readThread({ sessionId: "nobody" })))).toMatchObject(wanted);
  });

  test("one session has a name at a time; the second to ask for it gets a conflict", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a", { agent: "first" });
    expect(await refusal(openSession(await reopen(), "a", { agent: "second" }))).toEqual({
      code: "conflict",
      message: "session a already exists",
      hint: "choose another name, or continue that session",
    });
    expect((await ledger.findSession("a"))?.agent).toBe("first");
  });

  test.for([
    ["nothing", ""],
    ["a NUL", "a\u0000b"],
    ["a line break", "a\nb"],
    ["a delete character", "a\u007f"],
    ["300 characters", "x".repeat(300)],
    ["half a surrogate pair", "a\ud800"],
  ] as const)("%s cannot name a session, nor a fork", async ([, name]) => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    expect((await refusal(openSession(ledger, name))).code).toBe("input-invalid");
    expect((await refusal(ledger.forkSession({ id: name, from: { sessionId: "a" } }))).code).toBe(
      "input-invalid",
    );
    expect(await ledger.listSessions({ status: "all" })).toHaveLength(1);
  });

  test("sessions made by several nodes concurrently are all there", async () => {
    const { ledger, reopen } = await open();
    const nodes = [ledger, await reopen(), await reopen(), await reopen()];
    const names = nodes.flatMap((_, node) => Array.from({ length: 40 }, (__, n) => `${node}-${n}`));
    await Promise.all(
      nodes.flatMap((node, place) =>
        names.filter((name) => name.startsWith(`${place}-`)).map((name) => openSession(node, name)),
      ),
    );
    const found = await ledger.listSessions({ limit: 200 });
    expect(found.map(({ id }) => id).toSorted()).toEqual(names.toSorted());
  });

  test("sessions are listed the latest changed first, page by page", async () => {
    const { ledger, advance } = await open();
    for (const id of ["a", "b", "c", "d"]) {
      await openSession(ledger, id);
      advance(1000);
    }
    await run(ledger, "b", "t1");
    const first = await ledger.listSessions({ limit: 2 });
    expect(first.map(({ id }) => id)).toEqual(["b", "d"]);
    const last = first.at(-1);
    const before = { updatedMs: last?.updatedMs ?? 0, id: last?.id ?? "" };
    const second = await ledger.listSessions({ limit: 2, before });
    expect(second.map(({ id }) => id)).toEqual(["c", "a"]);
  });

  test("paging neither skips nor repeats sessions that were changed in the same millisecond", async () => {
    const { ledger } = await open();
    for (const id of ["e", "b", "d", "a", "c"]) await openSession(ledger, id);
    const seen: string[] = [];
    for (let page = await ledger.listSessions({ limit: 2 }); page.length > 0;) {
      seen.push(...page.map(({ id }) => id));
      const { id, updatedMs } = page.at(-1) ?? newestNever;
      page = await ledger.listSessions({ limit: 2, before: { id, updatedMs } });
    }
    expect(seen.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("50 sessions are listed unless more are asked for", async () => {
    const { ledger } = await open();
    for (let n = 1; n <= 52; n += 1) await openSession(ledger, `s${n}`);
    expect(await ledger.listSessions()).toHaveLength(50);
    expect(await ledger.listSessions({ limit: 60 })).toHaveLength(52);
  });

  test("sessions are listed by agent, by who asked for them, and by status", async () => {
    const { ledger } = await open();
    await openSession(ledger, "boss", { agent: "manager", role: "manager" });
    await openSession(ledger, "w1", { agent: "coder", parent: { sessionId: "boss" } });
    await openSession(ledger, "w2", { agent: "tester", parent: { sessionId: "boss" } });
    await ledger.setStatus("w2", "archived");
    const list = async (filter: Parameters<typeof ledger.listSessions>[0]): Promise<string[]> =>
      (await ledger.listSessions(filter)).map(({ id }) => id).toSorted();
    expect(await list({})).toEqual(["boss", "w1"]);
    expect(await list({ status: "all" })).toEqual(["boss", "w1", "w2"]);
    expect(await list({ status: "archived" })).toEqual(["w2"]);
    expect(await list({ agent: "manager" })).toEqual(["boss"]);
    expect(await list({ parentSessionId: "boss" })).toEqual(["w1"]);
    expect(await list({ parentSessionId: "boss", status: "all", agent: "tester" })).toEqual(["w2"]);
    expect(await list({ agent: "nobody" })).toEqual([]);
  });

  test("an archived session takes no turns until it is activated again", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    expect((await ledger.setStatus("a", "archived")).status).toBe("archived");
    expect(await refusal(ledger.openTurn(newTurn("a", "t1", null)))).toEqual({
      code: "conflict",
      message: "session a is archived",
      hint: "activate it first, or fork it",
    });
    expect(await ledger.findTurn("t1")).toBeNull();
    expect((await ledger.setStatus("a", "active")).status).toBe("active");
    await run(ledger, "a", "t1");
  });

  test("a session with a turn that is not closed cannot be archived", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    expect(await refusal(ledger.setStatus("a", "archived"))).toMatchObject({ code: "conflict" });
    await turn.close({ status: "failed", endMs: startMs });
    await ledger.setStatus("a", "archived");
  });

  test("the foundation of many sessions is kept once, and for each to the byte", async () => {
    const { ledger, database } = await open();
    const foundation = 'T0–T2: "tools" {"a":1.0}\r\n\t\u2028 日本語 😀 \\u0000';
    const first = await openSession(ledger, "a", { foundation });
    const second = await openSession(ledger, "b", { foundation });
    expect(second.foundationHash).toBe(first.foundationHash);
    expect(await ledger.readContent(first.foundationHash ?? "")).toBe(foundation);
    expect(await database.query("SELECT COUNT(*) AS count FROM contents")).toEqual([{ count: 1 }]);
    expect(await ledger.readContent("0".repeat(64))).toBeNull();
  });

  test("a foundation of a megabyte comes back whole", async () => {
    const { ledger } = await open();
    const foundation = "0123456789abcdé\n".repeat(65_536);
    const { foundationHash } = await openSession(ledger, "a", { foundation });
    expect((await ledger.readContent(foundationHash ?? "")) === foundation).toBe(true);
  });

  test("what a session knows of the cache is kept with a call, to the byte, until the next brings more", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1), {
      stateJson: '{"anchors":[1.0,12345678901234567890],"2":0,"1":0}',
    });
    await turn.append(call("t1", 2));
    expect(await (await reopen()).readState("a")).toBe(
      '{"anchors":[1.0,12345678901234567890],"2":0,"1":0}',
    );
    await turn.append(call("t1", 3), { stateJson: "{}" });
    expect(await ledger.readState("a")).toBe("{}");
  });

  test("every move of the pointer is in its history, in order, with its reason (X-34)", async () => {
    const { ledger, advance } = await open();
    await ledger.createSession(newSession("a"));
    advance(10);
    await run(ledger, "a", "t1");
    advance(10);
    await fail(ledger, "a", "t2");
    await run(ledger, "a", "t3");
    await compactAfter(ledger, "a", "f1", "t3", { summarizedThroughTurnId: "t1" });
    advance(10);
    await ledger.moveSession("a", "t1");
    expect(await ledger.pointerHistory("a")).toEqual([
      { turnId: null, movedMs: startMs, reason: "opened" },
      { turnId: "t1", movedMs: startMs + 10, reason: "turn" },
      { turnId: "t3", movedMs: startMs + 20, reason: "turn" },
      { turnId: "f1", movedMs: startMs + 200, reason: "fold" },
      { turnId: "t1", movedMs: startMs + 30, reason: "moved" },
    ]);
  });

  test("a session counts its completed turns and knows when it was last changed", async () => {
    const { ledger, advance } = await open();
    await openSession(ledger, "a");
    advance(5000);
    await runAll(ledger, "a", "t1 t2");
    await fail(ledger, "a", "t3");
    expect(await ledger.findSession("a")).toMatchObject({
      turnCount: 2,
      headTurnId: "t2",
      createdMs: startMs,
      updatedMs: startMs + 5000,
    });
  });

  test("a conversation that a session goes on from is its first turn, in the same commit", async () => {
    const { ledger } = await open();
    const messages = [counted(user("Earlier.")), counted(assistant("Yes."))];
    const { headTurnId, turnCount } = await openSession(ledger, "a", { messages });
    expect([headTurnId === null, turnCount]).toEqual([false, 1]);
    expect(headTurnId).not.toContain("a ");
    expect(await ledger.pointerHistory("a")).toMatchObject([
      { turnId: null, reason: "opened" },
      { turnId: headTurnId, reason: "turn" },
    ]);
    await run(ledger, "a", "t1");
    expect(await thread(ledger, "a")).toHaveLength(4);
  });

  test("a session is asked for by one that exists", async () => {
    const { ledger } = await open();
    const said = await refusal(openSession(ledger, "w", { parent: { sessionId: "nobody" } }));
    expect(said).toMatchObject({
      code: "not-found",
      message: "there is no session nobody, which starts w",
    });
    expect(await ledger.findSession("w")).toBeNull();
  });
}

const newestNever = { id: "", updatedMs: 0 };
