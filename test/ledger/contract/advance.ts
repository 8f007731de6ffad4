// Who watches is told when a session's pointer moved: here, and from any other process on the store.
import { setTimeout as wait } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { OpenLedger } from "../stores.ts";
import {
  each,
  fail,
  compaction,
  lines,
  newCompaction,
  openSession,
  run,
  runAll,
} from "../test-kit.ts";

export function advanceContract(open: OpenLedger): void {
  test("whoever watches hears of turns, folds and moves of this process", async () => {
    const { ledger } = await open();
    const { heard, stop } = watch(ledger, "watched");
    await openSession(ledger, "watched");
    await run(ledger, "watched", "t1");
    await vi.waitFor(() => expect(heard).toHaveLength(1), soon);
    await compaction(
      ledger,
      newCompaction("watched", "f1", "t1", { summarizedThroughTurnId: "t1" }),
    );
    await vi.waitFor(() => expect(heard).toHaveLength(2), soon);
    await ledger.moveSession("watched", "t1");
    await vi.waitFor(() => expect(heard).toHaveLength(3), soon);
    stop();
    await run(ledger, "watched", "t2");
    await wait(50);
    expect(heard).toHaveLength(3);
  });

  test("a failed turn moves no pointer", async () => {
    const { ledger } = await open();
    const { heard, stop } = watch(ledger, "quiet");
    await openSession(ledger, "quiet");
    await fail(ledger, "quiet", "t1");
    await wait(50);
    stop();
    expect(heard).toEqual([]);
  });

  test("other processes hear of it within a second", async () => {
    const { ledger, reopen } = await open();
    const other = await reopen();
    await openSession(ledger, "a – ü");
    const { heard, stop } = watch(other, "a – ü");
    await run(ledger, "a – ü", "t1");
    await vi.waitFor(() => expect(heard).toHaveLength(1), soon);
    await run(ledger, "a – ü", "t2");
    await vi.waitFor(() => expect(heard).toHaveLength(2), soon);
    stop();
  });

  test("nothing is missed after a session was deleted", async () => {
    const { ledger, reopen } = await open();
    const other = await reopen();
    await openSession(ledger, "stays");
    await openSession(ledger, "goes");
    await runAll(ledger, "goes", "g1 g2 g3");
    const { heard, stop } = watch(other, "stays");
    await other.deleteSession("goes");
    await wait(250);
    await run(ledger, "stays", "t1");
    await vi.waitFor(() => expect(heard).toHaveLength(1), soon);
    stop();
  });

  test("an import is told, too", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const written = await lines(ledger, "a");
    await ledger.deleteSession("a");
    const { heard, stop } = watch(ledger, "imported");
    await ledger.importSession(each(written), "imported");
    await vi.waitFor(() => expect(heard).toHaveLength(1), soon);
    stop();
  });
}

const soon = { timeout: 1000, interval: 5 };

/** Of one session: others may be told late. */
function watch(
  ledger: Ledger,
  sessionId: string,
): { readonly heard: readonly string[]; readonly stop: () => void } {
  const heard: string[] = [];
  const stop = ledger.onAdvance((id) => {
    if (id === sessionId) heard.push(id);
  });
  return { heard, stop };
}
