// Compactions inside a turn: where one turn alone is too large, it is kept from one of its messages on.
import { expect, test } from "vitest";
import type { NewCompaction } from "../../../../src/core/ledger/compaction-record.ts";
import type { CompactionLock, Ledger, OpenTurn } from "../../../../src/core/ledger/ledger.ts";
import { leaseMs, type OpenLedger } from "../../stores.ts";
import {
  all,
  answers,
  assistant,
  asks,
  call,
  counted,
  each,
  compaction,
  lines,
  newCompaction,
  open as openTurn,
  openSession,
  refusal,
  run,
  startMs,
  thread,
  turnIds,
} from "../../test-kit.ts";
import { newEvent } from "../new-event.ts";

export function compactionInTurnContract(open: OpenLedger): void {
  test("a completed turn may be kept from one of its messages on", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await close(await work(ledger, "t2", 2), 2);
    await compaction(ledger, keptFrom("f1", "t2", "t2", 3));
    await run(ledger, "a", "t3");
    expect(await thread(await reopen(), "a")).toEqual([
      "summary of f1",
      "?u2",
      "!u2 ok",
      "answer of t2",
      "question of t3",
      "answer of t3",
    ]);
    expect(await thread(ledger, "a", { whole: true })).toHaveLength(10);
  });

  test("a running turn may be kept from one of its messages on, and reads so while it runs", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await work(ledger, "t2", 2);
    await compactionHere(ledger, turn, keptFrom("f1", "t1", "t2", 3));
    const shown = ["summary of f1", "?u2", "!u2 ok"];
    expect(await thread(ledger, { turnId: "t2" })).toEqual(shown);
    expect(await thread(ledger, "a")).toEqual(["summary of f1"]);
    await close(turn, 2);
    expect(await thread(await reopen(), "a")).toEqual([...shown, "answer of t2"]);
    expect(await turnIds(ledger, "a")).toEqual(["t1", "f1", "t2"]);
  });

  test("a compaction that covers all of a running turn leaves nothing to send, also for a process that takes it over", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const turn = await work(ledger, "t1", 1);
    await compactionHere(ledger, turn, keptFrom("f1", null, "t1", 3));
    expect(await thread(ledger, { turnId: "t1" })).toEqual(["summary of f1"]);
    await turn.append(call("t1", 2, { sent: [], reply: asks("u2") }));
    await turn.answer([counted(answers("u2", "ok"))]);
    await compactionHere(ledger, turn, keptFrom("f2", "f1", "t1", 5));
    advance(leaseMs + 1);
    const other = await reopen();
    await other.findUnfinished("a");
    const resumed = await other.resumeTurn("a");
    await resumed.append(call("t1", 3, { sent: [] }));
    await resumed.close({ status: "completed", endMs: startMs + 100 });
    expect(await thread(other, "a")).toEqual(["summary of f2", "answer of t1"]);
    expect(await all(other.check())).toEqual([]);
  });

  test("a compaction that covers all of a running turn leaves nothing to send after a reply that broke off", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await work(ledger, "t1", 1);
    const sent = [answers("u1", "ok")];
    await turn.append(call("t1", 2, { sent, status: "partial", reply: assistant("I") }));
    await compactionHere(ledger, turn, keptFrom("f1", null, "t1", 3));
    await turn.append(call("t1", 3, { sent: [] }));
    await turn.close({ status: "completed", endMs: startMs + 100 });
    expect(await thread(ledger, "a")).toEqual(["summary of f1", "answer of t1"]);
  });

  test("an open turn that is named is read as far as it came, and a failed one is not", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await work(ledger, "t2", 1);
    const before = ["question of t1", "answer of t1"];
    expect(await thread(ledger, { turnId: "t2" })).toEqual([
      ...before,
      "question of t2",
      "?u1",
      "!u1 ok",
    ]);
    await turn.close({ status: "failed", endMs: startMs });
    expect(await thread(ledger, { turnId: "t2" })).toEqual(before);
  });

  test("the first turn of a session may compact itself", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const turn = await work(ledger, "t1", 2);
    await compactionHere(ledger, turn, keptFrom("f1", null, "t1", 3));
    await close(turn, 2);
    await run(ledger, "a", "t2");
    expect(await thread(await reopen(), "a")).toEqual([
      "summary of f1",
      "?u2",
      "!u2 ok",
      "answer of t1",
      "question of t2",
      "answer of t2",
    ]);
    expect(await turnIds(ledger, "a")).toEqual(["f1", "t1", "t2"]);
  });

  test("a running turn may compact itself twice, and be taken over after that", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await work(ledger, "t2", 3);
    await compactionHere(ledger, turn, keptFrom("f1", "t1", "t2", 3));
    await compactionHere(ledger, turn, keptFrom("f2", "f1", "t2", 5));
    await turn.release();
    const node = await reopen();
    const again = await node.resumeTurn("a");
    expect(again.parentTurnId).toBe("f2");
    expect(await thread(node, { turnId: "t2" })).toEqual(["summary of f2", "?u3", "!u3 ok"]);
    await close(again, 3);
    await run(node, "a", "t3");
    await compaction(node, keptFrom("f3", "t3", "t3", 1));
    expect(await thread(ledger, "a")).toEqual(["summary of f3", "answer of t3"]);
  });

  test.for(["failed", "abandoned"])(
    "of a turn that compacted itself and %s, the summary stands and what follows comes after it",
    async (how) => {
      const { ledger } = await open();
      await openSession(ledger, "a");
      await run(ledger, "a", "t1");
      const turn = await work(ledger, "t2", 2);
      await compactionHere(ledger, turn, keptFrom("f1", "t1", "t2", 3));
      if (how === "failed") await turn.close({ status: "failed", endMs: startMs });
      else {
        await turn.release();
        await ledger.abandonTurn("a");
      }
      expect(await thread(ledger, "a")).toEqual(["summary of f1"]);
      await run(ledger, "a", "t3");
      const after = ["summary of f1", "question of t3", "answer of t3"];
      expect(await thread(ledger, "a")).toEqual(after);
      expect(await thread(ledger, "a", { whole: true })).toEqual([
        "question of t1",
        "answer of t1",
        "question of t3",
        "answer of t3",
      ]);
      await ledger.forkSession({ id: "b", from: { turnId: "f1" } });
      await run(ledger, "b", "b1");
      expect(await thread(ledger, "b")).toEqual([
        "summary of f1",
        "question of b1",
        "answer of b1",
      ]);
      await ledger.deleteSession("a");
      expect(await thread(ledger, "b")).toHaveLength(3);
      expect((await ledger.findCompaction({ sessionId: "b" }))?.firstKeptTurnId).toBeNull();
    },
  );

  test("a fork from the compaction of a turn reads its summary, also when the turn is gone or elsewhere", async () => {
    const { ledger, empty } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await work(ledger, "t2", 2);
    await compactionHere(ledger, turn, keptFrom("f1", "t1", "t2", 3));
    await close(turn, 2);
    await ledger.forkSession({ id: "b", from: { turnId: "f1" } });
    await run(ledger, "b", "b1");
    await ledger.forkSession({ id: "c", from: { sessionId: "a" } });
    const shown = ["summary of f1", "question of b1", "answer of b1"];
    expect(await thread(ledger, "b")).toEqual(shown);
    const kept = ["summary of f1", "?u2", "!u2 ok", "answer of t2"];
    expect(await thread(ledger, "c")).toEqual(kept);
    const written = await lines(ledger, "b");
    await ledger.deleteSession("a");
    expect(await thread(ledger, "c")).toEqual(kept);
    await ledger.deleteSession("c");
    expect(await ledger.findTurn("t2")).toBeNull();
    expect(await thread(ledger, "b")).toEqual(shown);
    await empty();
    await ledger.importSession(each(written), { isTrusted: true });
    expect(await thread(ledger, "b")).toEqual(shown);
    expect(await lines(ledger, "b")).toEqual(written);
  });

  test("a session that was compacted inside its turns is the same after an export and an import", async () => {
    const { ledger, empty } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await work(ledger, "t2", 2);
    await compactionHere(ledger, turn, keptFrom("f1", "t1", "t2", 3));
    await close(turn, 2);
    const written = await lines(ledger, "a");
    const shown = await thread(ledger, "a");
    await empty();
    await ledger.importSession(each(written), { isTrusted: true });
    expect(await thread(ledger, "a")).toEqual(shown);
    expect(await lines(ledger, "a")).toEqual(written);
  });

  test("compaction, row, turn, state and events of a running turn are one transaction, and twice is once", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await work(ledger, "t2", 1);
    const lock = await needLock(ledger);
    const made = { ...keptFrom("f1", "t1", "t2", 1), stateJson: '{"after":"fold"}' };
    const known = newEvent("a", 1);
    await ledger.appendEvents([known]);
    const before = await ledger.findSession("a");
    expect(await refusal(turn.compact(made, lock, [newEvent("a", 2), known]))).toMatchObject({
      code: "conflict",
    });
    expect(await ledger.findSession("a")).toEqual(before);
    expect(await ledger.findTurn("f1")).toBeNull();
    expect(await ledger.readState("a")).toBeNull();
    await turn.compact(made, lock, [newEvent("a", 2)]);
    await turn.compact(made, lock, [newEvent("a", 2)]);
    await lock.release();
    expect(await ledger.readState("a")).toBe('{"after":"fold"}');
    expect((await ledger.stats()).rows).toMatchObject({ events: 2, compactions_v1: 1 });
    expect((await ledger.findSession("a"))?.costPicoUsd).toBe((before?.costPicoUsd ?? 0n) + 77n);
    await turn.close({ status: "failed", endMs: startMs });
  });

  test("a holder that lost the lock or the lease cannot compact a running turn", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const turn = await work(ledger, "t1", 2);
    const lock = await needLock(ledger);
    await lock.release();
    const made = keptFrom("f1", null, "t1", 3);
    expect(await refusal(turn.compact(made, lock))).toMatchObject({ code: "conflict" });
    advance(4_000_000);
    const other = await reopen();
    await other.findUnfinished("a");
    const again = await other.resumeTurn("a");
    expect(await refusal(compactionHere(ledger, turn, made))).toMatchObject({ code: "conflict" });
    await compactionHere(other, again, made);
    await close(again, 2);
    expect(await thread(ledger, "a")).toHaveLength(4);
  });

  test("a tool use that never got a result forbids no cut after the conversation went on", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await work(ledger, "t1", 1);
    await turn.append(call("t1", 2, { sent: [answers("u1", "ok")], reply: asks("") }));
    await turn.append(call("t1", 3, { sent: [], reply: asks("u3") }));
    await turn.answer([counted(answers("u3", "ok"))]);
    await compactionHere(ledger, turn, keptFrom("f1", null, "t1", 4));
    expect(await thread(ledger, { turnId: "t1" })).toEqual(["summary of f1", "?u3", "!u3 ok"]);
    await turn.close({ status: "failed", endMs: startMs });
  });

  test.for<[string, Partial<NewCompaction["details"]>]>([
    ["after the end", { firstKeptIndex: 6 }],
    ["before the beginning", { firstKeptIndex: -1 }],
    ["between two messages", { firstKeptIndex: 1.5 }],
    ["of no turn", { firstKeptTurnId: null, summarizedThroughTurnId: "t1" }],
    ["between a tool use and its answer", { firstKeptIndex: 2 }],
    ["after a tool use without an answer", { firstKeptIndex: 5 }],
    ["of a turn it hides", { firstKeptTurnId: null, firstKeptIndex: 0 }],
    ["of a turn that runs and is not kept", { firstKeptTurnId: "t1", firstKeptIndex: 0 }],
  ])("a compaction cannot keep from a message %s", async ([_where, details]) => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await work(ledger, "t2", 1);
    await turn.append(call("t2", 2, { sent: [answers("u1", "ok")], reply: asks("u2") }));
    await turn.answer([]);
    await turn.append(call("t2", 3, { sent: [], reply: asks("u3"), status: "partial" }));
    const made = keptFrom("f1", "t1", "t2", 3);
    const odd = { ...made, details: { ...made.details, ...details } };
    expect(await refusal(compactionHere(ledger, turn, odd))).toMatchObject({
      code: "input-invalid",
    });
    await compactionHere(ledger, turn, made);
    expect(await thread(ledger, { turnId: "t2" })).toEqual(["summary of f1", "?u2"]);
    await turn.close({ status: "failed", endMs: startMs });
  });
}

/** A turn of `a` that has called and answered so many tools: a question, then `?u1`, `!u1 ok` and so on. */
async function work(ledger: Ledger, id: string, tools: number): Promise<OpenTurn> {
  const turn = await openTurn(ledger, "a", id);
  for (let number = 1; number <= tools; number += 1) {
    const sent = number === 1 ? {} : { sent: [answers(`u${number - 1}`, "ok")] };
    await turn.append(call(id, number, { ...sent, reply: asks(`u${number}`) }));
    await turn.answer([counted(answers(`u${number}`, "ok"))]);
  }
  return turn;
}

async function close(turn: OpenTurn, tools: number): Promise<void> {
  await turn.append(call(turn.id, tools + 1, { sent: [answers(`u${tools}`, "ok")] }));
  await turn.close({ status: "completed", endMs: startMs + 100 });
}

function keptFrom(
  id: string,
  parentTurnId: string | null,
  turnId: string,
  firstKeptIndex: number,
): NewCompaction {
  const details = { summarizedThroughTurnId: turnId, firstKeptTurnId: turnId, firstKeptIndex };
  return newCompaction("a", id, parentTurnId, details);
}

async function compactionHere(ledger: Ledger, turn: OpenTurn, made: NewCompaction): Promise<void> {
  const lock = await needLock(ledger);
  try {
    await turn.compact(made, lock);
  } finally {
    await lock.release();
  }
}

async function needLock(ledger: Ledger): Promise<CompactionLock> {
  const lock = await ledger.lockCompaction("a");
  if (lock === null) throw new Error("the lock is taken");
  return lock;
}
