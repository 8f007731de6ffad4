// The lock on compacting a session: one holder at a time, alive or replaced.
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { leaseMs, type OpenLedger } from "../../stores.ts";
import {
  newCompaction,
  open as openTurn,
  openSession,
  refusal,
  run,
  startMs,
  thread,
  openWith,
} from "../../test-kit.ts";

export function compactionLocksContract(open: OpenLedger): void {
  test("one holder has the lock at a time; the others get none (N-26)", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const other = await reopen();
    const lock = await ledger.lockCompaction("a");
    expect(lock).toMatchObject({ sessionId: "a" });
    expect(await ledger.lockCompaction("a")).toBeNull();
    expect(await other.lockCompaction("a")).toBeNull();
    await lock?.release();
    expect(await other.lockCompaction("a")).not.toBeNull();
  });

  test("a lock lasts as long as its holder asked for, and as a lease where it did not (N-02)", async () => {
    const { ledger, reopen, advance } = await open();
    for (const id of ["short", "long"]) await openSession(ledger, id);
    await ledger.lockCompaction("short");
    await ledger.lockCompaction("long", { lockMs: 3 * leaseMs });
    const other = await reopen();
    advance(leaseMs + 1);
    expect(await other.lockCompaction("short")).not.toBeNull();
    expect(await other.lockCompaction("long")).toBeNull();
    advance(2 * leaseMs);
    expect(await other.lockCompaction("long")).not.toBeNull();
  });

  test("of many that ask concurrently one gets it", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const nodes = [ledger, await reopen(), await reopen()];
    const asked = Array.from({ length: 12 }, (_, n) =>
      (nodes[n % 3] ?? ledger).lockCompaction("a"),
    );
    const locks = await Promise.all(asked);
    expect(locks.filter((lock) => lock !== null)).toHaveLength(1);
  });

  test("a compaction that comes to nothing keeps what was learned, while the lock is held and no turn runs", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const lock = await ledger.lockCompaction("a");
    if (lock === null) throw new Error("the lock is taken");
    await lock.giveUp('{"learned":1}');
    expect(await (await reopen()).readState("a")).toBe('{"learned":1}');
    const turn = await openTurn(ledger, "a", "t2");
    expect(await refusal(lock.giveUp('{"learned":2}'))).toMatchObject({ code: "conflict" });
    await turn.close({ status: "failed", endMs: startMs });
    advance(leaseMs + 1);
    await (await reopen()).lockCompaction("a");
    expect(await refusal(lock.giveUp('{"learned":3}'))).toMatchObject({ code: "conflict" });
    expect(await ledger.readState("a")).toBe('{"learned":1}');
  });

  test("sessions are locked apart, and a lock stops no turn", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await openSession(ledger, "b");
    await ledger.lockCompaction("a");
    expect(await ledger.lockCompaction("b")).not.toBeNull();
    await run(ledger, "a", "t1");
  });

  test("each holder has a greater token than the one before", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const first = await ledger.lockCompaction("a");
    await first?.release();
    const second = await (await reopen()).lockCompaction("a");
    expect(second?.token).toBeGreaterThan(first?.token ?? Infinity);
  });

  test("a lock whose holder is gone is taken over, and the old holder cannot commit, nor release it", async () => {
    const { ledger, reopen, advance } = await open();
    await openWith(ledger, "a", "t1 t2");
    const old = await ledger.lockCompaction("a");
    advance(leaseMs + 1);
    const other = await reopen();
    const lock = await other.lockCompaction("a");
    expect(lock).not.toBeNull();
    const made = newCompaction("a", "f1", "t2", { summarizedThroughTurnId: "t1" });
    expect(old && (await refusal(old.commit(made)))).toEqual({
      code: "conflict",
      message: "the lock on compacting session a was lost",
      hint: "compact again later",
    });
    await old?.release();
    expect(await ledger.lockCompaction("a")).toBeNull();
    await lock?.commit(made);
    await lock?.release();
    expect(await thread(ledger, "a")).toHaveLength(3);
  });

  test("a holder that lost the lock cannot compact under its running turn either", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const old = await ledger.lockCompaction("a");
    advance(leaseMs + 1);
    const turn = await openTurn(ledger, "a", "t2");
    await (await reopen()).lockCompaction("a");
    const made = newCompaction("a", "f1", "t1", { summarizedThroughTurnId: "t1" });
    expect(old && (await refusal(turn.compact(made, old)))).toMatchObject({
      code: "conflict",
      message: "the lock on compacting session a was lost",
    });
    expect(await ledger.findTurn("f1")).toBeNull();
    expect(turn.parentTurnId).toBe("t1");
    await turn.close({ status: "failed", endMs: startMs });
  });

  test("a lock that was released can be released again, and commits nothing", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const lock = await ledger.lockCompaction("a");
    await lock?.release();
    await lock?.release();
    const made = newCompaction("a", "f1", "t1", { summarizedThroughTurnId: "t1" });
    expect(lock && (await refusal(lock.commit(made)))).toMatchObject({ code: "conflict" });
  });

  test("stale locks are dropped and counted; fresh ones survive (N-26)", async () => {
    const { ledger, advance } = await open();
    for (const id of ["a", "b", "c"]) await openSession(ledger, id);
    await ledger.lockCompaction("a");
    await ledger.lockCompaction("b");
    advance(3 * leaseMs);
    const fresh = await ledger.lockCompaction("c");
    expect(await ledger.dropStaleLocks(10 * leaseMs)).toBe(0);
    expect(await ledger.dropStaleLocks(leaseMs)).toBe(2);
    expect(await ledger.dropStaleLocks(leaseMs)).toBe(0);
    expect(await ledger.lockCompaction("c")).toBeNull();
    expect(await ledger.lockCompaction("a")).not.toBeNull();
    await fresh?.release();
    expect(await ledger.dropStaleLocks(0)).toBe(0);
  });

  test("whose lock was dropped cannot commit", async () => {
    const { ledger, advance } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const lock = await ledger.lockCompaction("a");
    advance(3 * leaseMs);
    expect(await ledger.dropStaleLocks(leaseMs)).toBe(1);
    const made = newCompaction("a", "f1", "t1", { summarizedThroughTurnId: "t1" });
    expect(lock && (await refusal(lock.commit(made)))).toMatchObject({ code: "conflict" });
  });

  test("a slow compaction keeps its lock by its heartbeat", async () => {
    const { reopen, database } = await open();
    const own = { leaseMs: 450, clock: "database" } as const;
    const [ledger, other] = [await reopen(own), await reopen(own)];
    await openSession(ledger, "a");
    const lock = await ledger.lockCompaction("a");
    const readExpiry = async (): Promise<number> => {
      const [row] = await database.query("SELECT expires_ms AS ms FROM compaction_locks_v1");
      return Number(row?.["ms"]);
    };
    const firstMs = await readExpiry();
    // When it was renewed so often, its first time is over.
    while ((await readExpiry()) < firstMs + own.leaseMs) await wait(10);
    expect(await other.lockCompaction("a")).toBeNull();
    await lock?.release();
    expect(await other.lockCompaction("a")).not.toBeNull();
  });

  test("operators see who holds which lock since when (N-26)", async () => {
    const { ledger, database } = await open();
    await openSession(ledger, "a");
    await openSession(ledger, "b");
    await (await ledger.lockCompaction("b"))?.release();
    await ledger.lockCompaction("a");
    const rows = await database.query(
      "SELECT session_id, locked_at, holder FROM compaction_locks_v1 WHERE holder IS NOT NULL",
    );
    expect(rows).toEqual([
      { session_id: "a", locked_at: startMs, holder: expect.stringMatching(/^first:/) },
    ]);
  });
}
