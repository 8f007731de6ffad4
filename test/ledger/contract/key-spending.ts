// What the gateway's own keys have spent: exact, once per call, by day, and for good.
import { expect, test } from "vitest";
import type { GatewayCall } from "../../../src/core/ledger/gateway-call.ts";
import { dumpLedger } from "../../../src/edge/stores/dump-ledger.ts";
import { createLedger } from "../../../src/edge/stores/ledger/create-ledger.ts";
import { restoreLedger } from "../../../src/edge/stores/restore-ledger.ts";
import { migrations } from "../../../src/edge/stores/sql/migrations.ts";
import { picoUsdMax } from "../../../src/edge/stores/sql/sums.ts";
import { gatewayCall } from "../gateway-kit.ts";
import type { TestStore } from "../stores.ts";
import { all, each } from "../test-kit.ts";

const monthMs = Date.UTC(2026, 10, 1);
const dayMs = Date.UTC(2026, 10, 19);
const since = { dayMs, monthMs };

function spent(id: string, startMs: number, costPicoUsd: bigint | null, key = "ana"): GatewayCall {
  return gatewayCall(id, 1, { startMs, endMs: startMs + 900, costPicoUsd, gatewayKey: key });
}

export function keySpendingContract({ open, blank, connect }: TestStore): void {
  test("calls that kept a cache warm are listed with what they cost, from a time on", async () => {
    const { ledger } = await open();
    const warming = (id: string, startMs: number, cost: bigint | null): GatewayCall => ({
      ...spent(id, startMs, cost),
      clientCostPicoUsd: 0n,
      plainCostPicoUsd: 0n,
      purpose: "keep_warm",
    });
    await ledger.recordCalls([
      warming("early", dayMs - 1, 3n),
      warming("warm", dayMs, 5n),
      warming("unknown", dayMs + 9, null),
      { ...spent("free", dayMs, 0n), clientCostPicoUsd: 0n, plainCostPicoUsd: 0n },
    ]);
    const listed = await ledger.listWarming(dayMs);
    expect(listed.toSorted((left, right) => (left.callId < right.callId ? -1 : 1))).toEqual([
      { callId: "unknown-1", costPicoUsd: null },
      { callId: "warm-1", costPicoUsd: 5n },
    ]);
  });

  test("a key's calls are summed by the day on which they were sent, to the pico-dollar", async () => {
    const { ledger } = await open();
    expect(await ledger.sumKeySpending(since)).toEqual([]);
    await ledger.recordCalls([
      spent("a", monthMs - 1, 1n),
      spent("b", monthMs, 20n),
      spent("c", dayMs - 1, 300n),
      spent("d", dayMs, 9_007_199_254_740_993n),
      spent("e", dayMs + 5, null),
      spent("f", dayMs + 5, 7n, "ben"),
      gatewayCall("g", 1, { startMs: dayMs }),
    ]);
    expect(await ledger.sumKeySpending(since)).toEqual([
      {
        gatewayKey: "ana",
        dayPicoUsd: 9_007_199_254_740_993n,
        monthPicoUsd: 9_007_199_254_741_313n,
        totalPicoUsd: 9_007_199_254_741_314n,
      },
      { gatewayKey: "ben", dayPicoUsd: 7n, monthPicoUsd: 7n, totalPicoUsd: 7n },
    ]);
  });

  test("a call that is recorded again costs once, and a deleted conversation gives nothing back", async () => {
    const { ledger } = await open();
    const call = spent("a", dayMs, 10n);
    await ledger.recordCalls([call, call]);
    await ledger.recordCalls([call, spent("b", dayMs, 5n)]);
    await ledger.deleteSession("a");
    expect(await ledger.sumKeySpending(since)).toMatchObject([{ totalPicoUsd: 15n }]);
  });

  test("several nodes that record at once lose nothing, and no sum overflows", async () => {
    const { ledger } = await open();
    await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        ledger.recordCalls([spent(`a${at}`, dayMs, 1n), spent(`b${at}`, dayMs, 1n, "ben")]),
      ),
    );
    await ledger.recordCalls([spent("c", dayMs, picoUsdMax, "ben")]);
    expect(await ledger.sumKeySpending(since)).toMatchObject([
      { gatewayKey: "ana", dayPicoUsd: 8n },
      { gatewayKey: "ben", dayPicoUsd: picoUsdMax },
    ]);
  });

  test("an imported session cannot bring any", async () => {
    const { ledger } = await open();
    await ledger.recordCalls([spent("a", dayMs, 10n)]);
    const lines = await all(ledger.exportSession("a"));
    const row = { gateway_key: "ana", day_ms: dayMs, cost_pico_usd: "-10" };
    const forged = [...lines.slice(0, -1), JSON.stringify({ key_spending: row })];
    expect(lines.join("")).not.toContain("key_spending");
    await expect(ledger.importSession(each(forged), { as: "b" })).rejects.toThrow(
      "holds key_spending, which belongs to no session",
    );
  });

  test("a backup brings it along", async () => {
    const { ledger, database } = await open();
    await ledger.recordCalls([spent("a", dayMs, 10n)]);
    const dump = await database.snapshot((snapshot) => all(dumpLedger(snapshot)));
    const target = await connect(await blank());
    const restored = await createLedger(target);
    await restoreLedger(target, migrations.length, each(dump));
    expect(await restored.sumKeySpending(since)).toMatchObject([
      { gatewayKey: "ana", dayPicoUsd: 10n },
    ]);
    await restored.close();
  });
}
