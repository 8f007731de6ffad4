// Goal: calls that ask at the same moment cannot pass a spending cap together. Method: guards of several sessions on one
// real ledger whose answers are held back where that matters.
import { expect, onTestFinished, test } from "vitest";
import { assert } from "../../src/core/assert.ts";
import type { Ledger, SpentBy } from "../../src/core/ledger/ledger.ts";
import { findModel } from "../../src/core/models/resolve-model.ts";
import type { SpendingGuard } from "../../src/core/session/spending-cap.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { createSpendingGuard, type SpendingOptions } from "../../src/engine/session/spending.ts";
import { call, newTurn, noPlan, openSession, startMs } from "../ledger/test-kit.ts";

const opus = findModel("claude-opus-4-8");
assert(opus !== null, "the model is known");

/** 110 tokens of input at $5 and 1000 of output at $25 per million: it may cost $0.02555. */
const toPay = {
  model: opus.facts,
  plan: noPlan,
  outputTokensMax: 1_000,
  nowMs: startMs,
  unbookedPicoUsd: 0n,
};

async function open(): Promise<Ledger> {
  const ledger = await openLedger(":memory:");
  onTestFinished(() => ledger.close());
  return ledger;
}

function guard(ledger: Ledger, id: string, spending: SpendingOptions): SpendingGuard {
  return createSpendingGuard({ id, agent: "coder" }, ledger, () => ({ spending }));
}

test("two calls that ask at once cannot both take what is left under a cap", async () => {
  const ledger = await open();
  await openSession(ledger, "root");
  for (const id of ["a", "b"]) await openSession(ledger, id, { parent: { sessionId: "root" } });
  const slow: Ledger = {
    ...ledger,
    sumSpending: async (by: SpentBy) => {
      if ("sinceMs" in by) await new Promise((done) => setTimeout(done, 5));
      return ledger.sumSpending(by);
    },
  };
  const caps = { agentUsd: 0.03, dayUsd: 10 };
  const asked = ["a", "b"].map((id) => guard(slow, id, caps).check(toPay));
  const reached = (await Promise.all(asked)).map((each) => each?.scope ?? null);
  expect(reached).toEqual([null, "agent"]);
});

test("a call that is recorded while another one asks is not forgotten", async () => {
  const ledger = await open();
  for (const id of ["a", "b"]) await openSession(ledger, id);
  const caps = { agentUsd: 0.03 };
  const duringSum: (() => Promise<void>)[] = [];
  const held: Ledger = {
    ...ledger,
    sumSpending: async (by: SpentBy) => {
      const sum = await ledger.sumSpending(by);
      await duringSum.shift()?.();
      return sum;
    },
  };
  const earlier = guard(held, "a", caps);
  expect(await earlier.check(toPay)).toBeNull();
  duringSum.push(async () => {
    const turn = await ledger.openTurn(newTurn("a", "t", null));
    await turn.append(call("t", 1, { costPicoUsd: 20_000_000_000n }));
    earlier.settle();
  });
  expect(await guard(held, "b", caps).check(toPay)).toMatchObject({
    scope: "agent",
    spentPicoUsd: 20_000_000_000n,
    neededPicoUsd: 25_550_000_000n,
  });
});

test("a running call of a sub-agent counts for the session at the top, however deep it is", async () => {
  const ledger = await open();
  await openSession(ledger, "root");
  await openSession(ledger, "child", { parent: { sessionId: "root" } });
  await openSession(ledger, "grandchild", { parent: { sessionId: "child" } });
  await openSession(ledger, "other");
  const caps = { sessionUsd: 0.03 };
  const ask = async (id: string): Promise<bigint | null> =>
    (await guard(ledger, id, caps).check(toPay))?.spentPicoUsd ?? null;
  expect(await ask("grandchild")).toBeNull();
  expect(await ask("root")).toBe(25_550_000_000n);
  expect(await ask("child")).toBe(25_550_000_000n);
  expect(await ask("other")).toBeNull();
});
