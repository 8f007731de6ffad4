// Leases: one writer per session. A writer that lost its session to another one cannot write to it any more.
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Ledger, OpenTurn } from "../../../src/core/ledger/ledger.ts";
import { leaseMs, type OpenLedger } from "../stores.ts";
import {
  answers,
  asks,
  assistant,
  call,
  counted,
  newCompaction,
  newTurn,
  open as openTurn,
  openSession,
  refusal,
  run,
  startMs,
  thread,
  wordsOf,
  user,
} from "../test-kit.ts";

export function leasesContract(open: OpenLedger): void {
  test("a second writer learns who works on the session, and on what", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    await openTurn(ledger, "a", "t1");
    const said = await refusal((await reopen()).openTurn(newTurn("a", "t2", null)));
    expect(said.code).toBe("conflict");
    expect(said.message).toMatch(/^session a is busy: first:\w+ runs turn t1$/);
    expect(said.hint).toBe("wait until that turn is closed, or fork the session");
  });

  test("of many concurrent writers one gets the session, and the thread does not fork (X-35)", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t0");
    const nodes = [ledger, await reopen(), await reopen(), await reopen()];
    const tries = Array.from({ length: 24 }, (_, n) => {
      const node = nodes[n % nodes.length] ?? ledger;
      return node.openTurn(newTurn("a", `n${n}`, "t0"));
    });
    const results = await Promise.allSettled(tries);
    const won = results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(won).toHaveLength(1);
    const [turn] = won;
    await turn?.append(call(turn.id, 1));
    await turn?.close({ status: "completed", endMs: startMs });
    expect(await ledger.findSession("a")).toMatchObject({ headTurnId: turn?.id, turnCount: 2 });
    expect((await ledger.stats()).rows).toMatchObject({ turns: 2, branches: 1 });
  });

  test("several nodes that take turns in one session write one thread (X-35)", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const nodes = [ledger, await reopen(), await reopen()];
    let made = 0;
    const work = nodes.map(async (node, place) => {
      for (let n = 0; n < 4;) {
        const head = (await node.findSession("a"))?.headTurnId ?? null;
        const id = `n${place}-${n}`;
        const turn = await node.openTurn(newTurn("a", id, head)).catch(() => null);
        if (turn === null) {
          await wait(1);
          continue;
        }
        await turn.append(call(id, 1));
        await turn.close({ status: "completed", endMs: startMs + (made += 1) });
        n += 1;
      }
    });
    await Promise.all(work);
    const history = await ledger.pointerHistory("a");
    expect(history).toHaveLength(13);
    expect(await thread(ledger, "a")).toEqual(
      history.slice(1).flatMap(({ turnId }) => [`question of ${turnId}`, `answer of ${turnId}`]),
    );
  });

  test("a turn whose holder is alive is not unfinished, and cannot be resumed or abandoned", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    advance(leaseMs - 1);
    const other = await reopen();
    expect(await other.findUnfinished("a")).toBeNull();
    expect(await refusal(other.resumeTurn("a"))).toMatchObject({ code: "conflict" });
    expect(await refusal(other.abandonTurn("a"))).toMatchObject({ code: "conflict" });
    await turn.append(call("t1", 1));
    await turn.close({ status: "completed", endMs: startMs });
  });

  test("a session without an open turn has nothing unfinished", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    expect(await ledger.findUnfinished("a")).toBeNull();
    expect(await refusal(ledger.resumeTurn("a"))).toEqual({
      code: "conflict",
      message: "session a has no open turn",
      hint: "open a new turn",
    });
    expect(await refusal(ledger.abandonTurn("a"))).toMatchObject({ code: "conflict" });
  });

  test("a turn whose holder is gone is marked interrupted, with everything it had", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1", "u2") }));
    await turn.answer([counted(answers("u1", "one"))]);
    advance(leaseMs + 1);

    const other = await reopen();
    expect(await refusal(other.openTurn(newTurn("a", "t2", null)))).toEqual({
      code: "conflict",
      message: "turn t1 of session a was interrupted",
      hint: "resume it or abandon it first",
    });
    const unfinished = await other.findUnfinished("a");
    expect(unfinished?.turn).toMatchObject({ id: "t1", status: "interrupted", callCount: 1 });
    expect(unfinished?.calls.map(({ number }) => number)).toEqual([1]);
    expect(
      unfinished?.messages.map(({ message, callNumber }) => [wordsOf(message), callNumber]),
    ).toEqual([
      ["question of t1", 1],
      ["?u1 ?u2", 1],
      ["!u1 one", 2],
    ]);
    expect(await other.findUnfinished("a")).toEqual(unfinished);
  });

  test("a resumed turn goes on with the right call, what was staged, and what has no answer yet", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t0");
    const lost = await openTurn(ledger, "a", "t1");
    await lost.append(call("t1", 1, { reply: asks("u1", "u2") }));
    await lost.answer([counted(answers("u1", "one"))]);
    advance(leaseMs + 1);

    const turn = await (await reopen()).resumeTurn("a");
    expect(turn).toMatchObject({ id: "t1", sessionId: "a", parentTurnId: "t0" });
    expect(await ledger.findTurn("t1")).toMatchObject({ status: "pending" });
    expect(await refusal(turn.close({ status: "completed", endMs: startMs }))).toMatchObject({
      message: "turn t1 cannot be completed: tool use u2 has no answer",
    });
    await turn.answer([counted(answers("u2", "two"))]);
    await turn.append(call("t1", 2, { sent: [answers("u1", "one"), answers("u2", "two")] }));
    await turn.close({ status: "completed", endMs: startMs });
    expect((await thread(ledger, "a")).slice(2)).toEqual([
      "question of t1",
      "?u1 ?u2",
      "!u1 one",
      "!u2 two",
      "answer of t1",
    ]);
    expect((await ledger.findSession("a"))?.costPicoUsd).toBe(3000n);
  });

  test("a call that was recorded before the crash may be recorded again by who resumes", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const lost = await openTurn(ledger, "a", "t1");
    await lost.append(call("t1", 1));
    advance(leaseMs + 1);
    const turn = await (await reopen()).resumeTurn("a");
    await turn.append(call("t1", 1));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["question of t1", "answer of t1"]);
    expect((await ledger.findSession("a"))?.costPicoUsd).toBe(1000n);
  });

  test("what a failed call was about to send is sent by who resumes, and recorded once", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const lost = await openTurn(ledger, "a", "t1");
    await lost.append(call("t1", 1, { status: "failed", stopReason: null, reply: null }));
    advance(leaseMs + 1);
    const turn = await (await reopen()).resumeTurn("a");
    await turn.append(call("t1", 2, { sent: [user("question of t1")] }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["question of t1", "answer of t1"]);
  });

  test("a turn that was interrupted before its first call is resumed with what it was to send", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    await openTurn(ledger, "a", "t1");
    advance(leaseMs + 1);
    const turn = await (await reopen()).resumeTurn("a");
    await turn.append(call("t1", 1));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["question of t1", "answer of t1"]);
  });

  test("of two that resume concurrently one gets the turn", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    await openTurn(ledger, "a", "t1");
    advance(leaseMs + 1);
    const nodes = [await reopen(), await reopen(), await reopen()];
    const results = await Promise.allSettled(nodes.map((node) => node.resumeTurn("a")));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("that holds for two in the same process, too", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const opened = await Promise.allSettled([
      ledger.openTurn(newTurn("a", "t1", null)),
      ledger.openTurn(newTurn("a", "t1", null)),
    ]);
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    advance(leaseMs + 1);
    const other = await reopen();
    const results = await Promise.allSettled([other.resumeTurn("a"), other.resumeTurn("a")]);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("an abandoned turn is failed, its tools are cancelled, and its calls stay in the bill", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const lost = await openTurn(ledger, "a", "t1");
    await lost.append(call("t1", 1, { reply: asks("u1") }));
    advance(leaseMs + 1);
    const other = await reopen();
    await other.abandonTurn("a");
    expect(await other.findTurn("t1")).toMatchObject({ status: "failed", endReason: "abandoned" });
    expect(await other.readToolCalls("t1")).toMatchObject([{ status: "cancelled" }]);
    expect(await other.findSession("a")).toMatchObject({
      costPicoUsd: 1000n,
      openTurnId: null,
      headTurnId: null,
    });
    await run(other, "a", "t2");
    expect(await thread(ledger, "a")).toEqual(["question of t2", "answer of t2"]);
  });

  test("a turn that is released may be taken immediately", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1));
    await turn.release();
    expect(await ledger.findTurn("t1")).toMatchObject({ status: "interrupted" });
    expect(await refusal(turn.append(call("t1", 2)))).toMatchObject({ code: "conflict" });
    const again = await (await reopen()).resumeTurn("a");
    await again.append(call("t1", 2, { reply: assistant("more") }));
    await again.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["question of t1", "answer of t1", "more"]);
  });

  const takeOvers: Readonly<Record<string, (other: Ledger) => Promise<unknown>>> = {
    "resumed it": (other) => other.resumeTurn("a"),
    "abandoned it": (other) => other.abandonTurn("a"),
    "looked at it as unfinished": (other) => other.findUnfinished("a"),
  };
  const writes: Readonly<Record<string, (turn: OpenTurn) => Promise<void>>> = {
    append: (turn) => turn.append(call("t1", 2), { stateJson: '{"late":true}' }),
    answer: (turn) => turn.answer([counted(answers("u1", "late"))]),
    "close as completed": (turn) => turn.close({ status: "completed", endMs: 1 }),
    "close as failed": (turn) => turn.close({ status: "failed", endMs: 1 }),
    release: (turn) => turn.release(),
  };
  for (const [how, takeOver] of Object.entries(takeOvers)) {
    test.for(Object.entries(writes))(
      `after another process ${how}, the old holder's %s is refused and leaves nothing`,
      async ([what, write]) => {
        const { ledger, reopen, advance } = await open();
        await openSession(ledger, "a");
        await run(ledger, "a", "t0");
        const old = await openTurn(ledger, "a", "t1");
        const reply = what === "close as completed" ? assistant("done") : asks("u1");
        await old.append(call("t1", 1, { reply }));
        advance(leaseMs + 1);
        const other = await reopen();
        await takeOver(other);
        const before = await everything(other);
        // A release of what is interrupted already asks for nothing that is not so.
        const said = (await refusal(write(old))).code;
        expect(what === "release" ? "conflict" : said).toBe("conflict");
        expect(await everything(other)).toEqual(before);
      },
    );
  }

  test("the old holder's compaction is refused after a take-over and leaves nothing", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t0");
    const old = await openTurn(ledger, "a", "t1");
    advance(leaseMs + 1);
    const other = await reopen();
    await other.resumeTurn("a");
    const lock = await ledger.lockCompaction("a");
    const made = newCompaction("a", "f1", "t0", { summarizedThroughTurnId: "t0" });
    expect(lock).not.toBeNull();
    if (lock === null) return;
    expect(await refusal(old.compact(made, lock))).toMatchObject({ code: "conflict" });
    expect(await ledger.findTurn("f1")).toBeNull();
    expect(await ledger.readCompactions("a")).toEqual([]);
  });

  test("every write is a sign of life", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    const other = await reopen();
    for (let number = 1; number <= 3; number += 1) {
      advance(leaseMs - 1);
      const sent = number === 1 ? [user("question of t1")] : [answers(`u${number - 1}`, "ok")];
      await turn.append(call("t1", number, { sent, reply: asks(`u${number}`) }));
      advance(leaseMs - 1);
      await turn.answer([counted(answers(`u${number}`, "ok"))]);
      expect(await other.findUnfinished("a")).toBeNull();
    }
  });

  test("a slow turn keeps its lease without writing, by the database's own clock", async () => {
    const { reopen, database } = await open();
    const own = { leaseMs: 450, clock: "database" } as const;
    const [ledger, other] = [await reopen(own), await reopen(own)];
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    const readExpiry = async (): Promise<number> => {
      const [row] = await database.query("SELECT lease_expires_ms AS ms FROM sessions");
      return Number(row?.["ms"]);
    };
    const firstMs = await readExpiry();
    // When it was renewed so often, its first time is over.
    while ((await readExpiry()) < firstMs + own.leaseMs) await wait(10);
    expect(await other.findUnfinished("a")).toBeNull();
    await turn.append(call("t1", 1));
    await turn.close({ status: "completed", endMs: startMs });
  });

  test("a writer that is gone loses its lease by the database's own clock", async () => {
    const { reopen, database } = await open();
    const own = { leaseMs, clock: "database" } as const;
    const [gone, other] = [await reopen(own), await reopen(own)];
    await openSession(gone, "a");
    await openTurn(gone, "a", "t1");
    await gone.close();
    expect(await other.findUnfinished("a")).toBeNull();
    const hours = [2 * leaseMs];
    await database.query("UPDATE sessions SET lease_expires_ms = lease_expires_ms - ?", hours);
    expect((await other.findUnfinished("a"))?.turn.status).toBe("interrupted");
  });

  test("a lease that seems to last for days is of a clock that was wrong", async () => {
    const { ledger, database } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await database.query("UPDATE sessions SET lease_expires_ms = lease_expires_ms + 86400000");
    expect((await ledger.findUnfinished("a"))?.turn.id).toBe("t1");
    expect(await refusal(turn.close({ status: "completed", endMs: startMs }))).toMatchObject({
      code: "conflict",
    });
    await ledger.abandonTurn("a");
  });
}

async function everything(ledger: Ledger): Promise<unknown> {
  return {
    session: await ledger.findSession("a"),
    state: await ledger.readState("a"),
    moves: await ledger.pointerHistory("a"),
    turn: await ledger.findTurn("t1"),
    messages: await ledger.readMessages("t1"),
    calls: await ledger.readCalls("t1"),
    tools: await ledger.readToolCalls("t1"),
    rows: (await ledger.stats()).rows,
  };
}
