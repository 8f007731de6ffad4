// What was spent: by a session with its sub-agents, by an agent, since a time.
import { expect, test } from "vitest";
import type { OpenLedger } from "../stores.ts";
import { call, newTurn, openSession, startMs } from "../test-kit.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";

async function spend(
  ledger: Ledger,
  session: string,
  costPicoUsd: bigint,
  callMs = startMs,
): Promise<void> {
  const id = `turn of ${session}`;
  const turn = await ledger.openTurn(newTurn(session, id, null));
  await turn.append(call(id, 1, { costPicoUsd, startMs: callMs, endMs: callMs + 5 }));
  await turn.close({ status: "completed", endMs: callMs + 9 });
}

export function spendingContract(open: OpenLedger): void {
  test("a session spends with everything that its sub-agents started", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "root", { agent: "ana" });
    await openSession(ledger, "child", { agent: "ana", parent: { sessionId: "root" } });
    await openSession(ledger, "grandchild", { agent: "ben", parent: { sessionId: "child" } });
    await openSession(ledger, "other", { agent: "ana" });
    await spend(ledger, "root", 10n);
    await spend(ledger, "child", 200n, startMs + 1_000);
    await spend(ledger, "grandchild", 3_000n, startMs + 2_000);
    await spend(ledger, "other", 40_000n, startMs + 3_000);
    const other = await reopen();
    for (const sessionId of ["root", "child", "grandchild"]) {
      expect(await other.sumSpending({ sessionId })).toBe(3_210n);
    }
    expect(await other.sumSpending({ sessionId: "other" })).toBe(40_000n);
    expect(await other.sumSpending({ sessionId: "nobody" })).toBe(0n);
    expect(await other.sumSpending({ agent: "ana" })).toBe(40_210n);
    expect(await other.sumSpending({ agent: "ben" })).toBe(3_000n);
    expect(await other.sumSpending({ sinceMs: startMs })).toBe(43_210n);
    expect(await other.sumSpending({ sinceMs: startMs + 1_001 })).toBe(43_000n);
  });

  test("amounts are exact beyond what a number holds", async () => {
    const { ledger } = await open();
    const large = 9_007_199_254_740_993n;
    await openSession(ledger, "a", { agent: "ana" });
    await openSession(ledger, "b", { agent: "ana" });
    await spend(ledger, "a", large);
    await spend(ledger, "b", large);
    expect(await ledger.sumSpending({ agent: "ana" })).toBe(2n * large);
    expect(await ledger.sumSpending({ sinceMs: 0 })).toBe(2n * large);
  });
}
