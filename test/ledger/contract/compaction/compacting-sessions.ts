// Compaction: what a compaction may do and when, also while a turn runs.
import { expect, test } from "vitest";
import type { CompactionLock, Ledger } from "../../../../src/core/ledger/ledger.ts";
import type { OpenLedger } from "../../stores.ts";
import {
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
  startMs,
  thread,
  turnIds,
  openWith,
  compactAfter,
} from "../../test-kit.ts";
import { newEvent } from "../new-event.ts";

export function compactionContract(open: OpenLedger): void {
  test("a compaction is recorded once, and another one under its name is refused", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    const made = newCompaction("a", "f1", "t2", { summarizedThroughTurnId: "t1" });
    await compaction(ledger, made);
    await compaction(ledger, made);
    const other = newCompaction("a", "f1", "t2", {
      summarizedThroughTurnId: "t2",
      summary: "other",
    });
    expect(await refusal(compaction(ledger, other))).toMatchObject({ code: "conflict" });
    expect(await ledger.readCompactions("a")).toHaveLength(1);
  });

  test("a compaction in the first turn of a fork from a compaction is on its thread", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    const turn = await openTurn(ledger, "a", "t3");
    const lock = await needLock(ledger, "a");
    await turn.compact(newCompaction("a", "f1", "t2", { summarizedThroughTurnId: "t1" }), lock);
    await lock.release();
    await turn.close({ status: "failed", endMs: startMs });
    await ledger.forkSession({ id: "b", from: { turnId: "f1" } });
    const first = await openTurn(ledger, "b", "b1");
    const second = await needLock(ledger, "b");
    await first.compact(newCompaction("b", "f2", "f1", { summarizedThroughTurnId: "t2" }), second);
    await second.release();
    await first.close({ status: "completed", endMs: startMs });
    expect(await turnIds(ledger, "b")).toEqual(["t1", "t2", "f1", "f2", "b1"]);
  });

  test("a compaction while a turn runs goes before that turn", async () => {
    const { ledger, reopen } = await open();
    await openWith(ledger, "a", "t1 t2");
    const turn = await openTurn(ledger, "a", "t3");
    await turn.append(call("t3", 1, { reply: asks("u1") }));
    const lock = await needLock(ledger, "a");
    await turn.compact(
      newCompaction("a", "f1", "t2", { summarizedThroughTurnId: "t1", firstKeptTurnId: "t2" }),
      lock,
    );
    await lock.release();
    expect(turn.parentTurnId).toBe("f1");
    expect(await ledger.findSession("a")).toMatchObject({ headTurnId: "f1", openTurnId: "t3" });
    await turn.answer([counted(answers("u1", "ok"))]);
    await turn.append(call("t3", 2, { sent: [answers("u1", "ok")] }));
    await turn.close({ status: "completed", endMs: startMs });
    const other = await reopen();
    expect(await thread(other, "a")).toEqual([
      "summary of f1",
      "question of t2",
      "answer of t2",
      "question of t3",
      "?u1",
      "!u1 ok",
      "answer of t3",
    ]);
    expect(await turnIds(other, "a")).toEqual(["t1", "t2", "f1", "t3"]);
    expect(
      (await ledger.pointerHistory("a")).map(({ turnId, reason }) => `${turnId} ${reason}`),
    ).toEqual(["null opened", "t1 turn", "t2 turn", "f1 fold", "t3 turn"]);
  });

  test("a running turn may be compacted twice, and may fail after that", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await fail(ledger, "a", "t3");
    const turn = await openTurn(ledger, "a", "t4");
    const lock = await needLock(ledger, "a");
    await turn.compact(
      newCompaction("a", "f1", "t2", { summarizedThroughTurnId: "t1", firstKeptTurnId: "t2" }),
      lock,
    );
    await turn.compact(newCompaction("a", "f2", "f1", { summarizedThroughTurnId: "t2" }), lock);
    await lock.release();
    await turn.close({ status: "failed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["summary of f2"]);
    await run(ledger, "a", "t5");
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t2", "f1", "f2", "t5"]);
  });

  test("a turn is resumed after a compaction before it, where the compaction put it", async () => {
    const { ledger, reopen } = await open();
    await openWith(ledger, "a", "t1 t2");
    const turn = await openTurn(ledger, "a", "t3");
    const lock = await needLock(ledger, "a");
    await turn.compact(newCompaction("a", "f1", "t2", { summarizedThroughTurnId: "t2" }), lock);
    await lock.release();
    await turn.release();
    const again = await (await reopen()).resumeTurn("a");
    expect(again.parentTurnId).toBe("f1");
    await again.append(call("t3", 1));
    await again.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["summary of f1", "question of t3", "answer of t3"]);
  });

  test("a compaction that names another head, or comes while a turn runs, is refused", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    const lock = await needLock(ledger, "a");
    const stale = newCompaction("a", "f1", "t1", { summarizedThroughTurnId: "t1" });
    expect(await refusal(lock.commit(stale))).toMatchObject({ code: "conflict" });
    const turn = await openTurn(ledger, "a", "t3");
    const busy = newCompaction("a", "f1", "t2", { summarizedThroughTurnId: "t1" });
    expect(await refusal(lock.commit(busy))).toMatchObject({ code: "conflict" });
    await turn.close({ status: "failed", endMs: startMs });
    await lock.commit(busy);
    await lock.release();
    expect(await ledger.readCompactions("a")).toHaveLength(1);
  });

  test("a turn cannot go on from before a compaction", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await compactAfter(ledger, "a", "f1", "t1", { summarizedThroughTurnId: "t1" });
    expect(await refusal(ledger.openTurn(newTurn("a", "t2", "t1")))).toMatchObject({
      code: "conflict",
    });
  });

  test.for(["nowhere", "other"])(
    "a compaction cannot keep or summarise turns that are not on its thread: %s",
    async (turnId) => {
      const { ledger } = await open();
      await openWith(ledger, "a", "t1 t2");
      await openSession(ledger, "b");
      await run(ledger, "b", "other");
      for (const details of [
        { summarizedThroughTurnId: "t1", firstKeptTurnId: turnId },
        { summarizedThroughTurnId: turnId, firstKeptTurnId: "t2" },
        { summarizedThroughTurnId: turnId },
      ]) {
        const refused = await refusal(compaction(ledger, newCompaction("a", "f1", "t2", details)));
        expect(refused.code).toBe("input-invalid");
        const lock = await needLock(ledger, "a");
        const turn = await openTurn(ledger, "a", "t3");
        const inTurn = await refusal(turn.compact(newCompaction("a", "f1", "t2", details), lock));
        expect(inTurn.code).toBe("input-invalid");
        await turn.close({ status: "failed", endMs: startMs });
        await lock.release();
        await ledger.deleteSession("a");
        await openWith(ledger, "a", "t1 t2");
      }
      expect(await thread(ledger, "a")).toHaveLength(4);
    },
  );

  test("the same compaction twice is one compaction, and its cost is in the bill once", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    const made = newCompaction("a", "f1", "t2", { summarizedThroughTurnId: "t1" });
    const lock = await needLock(ledger, "a");
    await lock.commit(made);
    await lock.commit(made).catch(() => {});
    await lock.release();
    expect(await ledger.readCompactions("a")).toHaveLength(1);
    expect((await ledger.findSession("a"))?.costPicoUsd).toBe(2077n);
    expect(await ledger.pointerHistory("a")).toHaveLength(4);
  });

  test("a compaction, its turn, the pointer, its history and events are one write", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    const known = newEvent("a", 1);
    await ledger.appendEvents([known]);
    const lock = await needLock(ledger, "a");
    const before = await ledger.findSession("a");
    const made = newCompaction("a", "f1", "t2", { summarizedThroughTurnId: "t1" });
    expect(await refusal(lock.commit(made, [newEvent("a", 2), known]))).toMatchObject({
      code: "conflict",
    });
    expect(await ledger.findSession("a")).toEqual(before);
    expect(await ledger.findTurn("f1")).toBeNull();
    expect(await ledger.readCompactions("a")).toEqual([]);
    expect(await ledger.pointerHistory("a")).toHaveLength(3);
    expect((await ledger.stats()).rows).toMatchObject({ events: 1, compactions_v1: 0 });
    await lock.commit(made, [newEvent("a", 2)]);
    await lock.release();
    expect((await ledger.stats()).rows).toMatchObject({ events: 2, compactions_v1: 1 });
  });
}

async function needLock(ledger: Ledger, sessionId: string): Promise<CompactionLock> {
  const lock = await ledger.lockCompaction(sessionId);
  if (lock === null) throw new Error("the lock is taken");
  return lock;
}
