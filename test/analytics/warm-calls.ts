// What questions say about calls without a turn, on every store.
import { expect, test } from "vitest";
import type { AnalysisName } from "../../src/analytics/analysis-names.ts";
import { noUsage } from "../../src/core/message/usage.ts";
import type { TestStore } from "../ledger/stores.ts";
import { gatewayCall } from "../ledger/gateway-kit.ts";
import { loneCall, startMs } from "../ledger/test-kit.ts";
import { ask } from "./every-question.ts";
import { writeScene } from "./scene.ts";

export function warmCallsContract(store: TestStore): void {
  test("calls that kept a cache warm are in the cost, and not among the calls, the hits or the savings", async () => {
    const { ledger, database } = await store.open();
    await writeScene(ledger);
    const model = "claude-sonnet-4-6";
    const usage = { ...noUsage, cacheReadTokens: 1200 };
    const paid = { model, usage, costPicoUsd: 360_000_000n, startMs: startMs + 150 };
    const before = await ask(database, "savings", { groupBy: "session" });
    await ledger.recordCall(loneCall("a", "w1", paid));
    const answer = async (name: AnalysisName, groupBy?: string): Promise<object | undefined> =>
      (await ask(database, name, groupBy === undefined ? {} : { groupBy })).data[0];
    const cost = { cost_usd: "0.011698", warm_cost_usd: "0.000360" };
    expect(await answer("cost", "session")).toMatchObject({
      ...cost,
      session: "a",
      call_count: 5,
      cached_input_tokens: 2500,
      warm_call_count: 1,
    });
    expect(await answer("sessions")).toMatchObject({ ...cost, session: "a", call_count: 5 });
    expect(await answer("cache_effectiveness")).toMatchObject({
      model,
      call_count: 5,
      hit_rate: 2500 / 4800,
    });
    const [was, is] = [before.data[0], await answer("savings", "session")].map(savedOf) as [
      Record<string, unknown>,
      Record<string, unknown>,
    ];
    expect(is["cost_usd"]).toBe(was["cost_usd"]);
    expect(Number(was["saved_usd"]) - Number(is["saved_usd"])).toBeCloseTo(0.00036, 9);
    expect(is["compared_call_count"]).toBe(was["compared_call_count"]);
  });
}

/** A store's own calls, and those of a gateway, which keeps caches of clients warm. */
export function gatewayWarmCallsContract(store: TestStore): void {
  test("calls by which the gateway kept a client's cache warm are counted as such, apart from the client's", async () => {
    const { ledger, database } = await store.open();
    const usage = { ...noUsage, cacheReadTokens: 1200 };
    const own = { costPicoUsd: 360_000_000n, clientCostPicoUsd: 0n, plainCostPicoUsd: 0n };
    const warming = { ...own, usage, purpose: "keep_warm", policy: "adaptive" } as const;
    await ledger.recordCalls([
      gatewayCall("warmed", 1, { usage, costPicoUsd: 500_000_000n }),
      gatewayCall("warmed", 2, warming),
      // A free call of a client is none.
      gatewayCall("warmed", 3, { ...own, usage, costPicoUsd: 0n }),
    ]);
    const { data } = await ask(database, "cost", { groupBy: "session" });
    expect(data).toMatchObject([
      {
        session: "warmed",
        call_count: 2,
        cost_usd: "0.000860",
        warm_call_count: 1,
        warm_cost_usd: "0.000360",
      },
    ]);
    const purposes = (await ledger.readGatewayCalls("warmed")).map(({ purpose }) => purpose);
    expect(purposes).toEqual([undefined, "keep_warm", undefined]);
  });
}

function savedOf(row: object | undefined): unknown {
  return JSON.parse(JSON.stringify(row)).no_cache;
}
