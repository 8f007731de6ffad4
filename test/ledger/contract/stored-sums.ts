// Sums that are stored by hour: late, deleted and re-priced calls, several processes, and what check finds.
import { expect, test } from "vitest";
import { analyses } from "../../../src/analytics/analyses.ts";
import { askLedger } from "../../../src/analytics/ask-ledger.ts";
import type { GatewayCall } from "../../../src/core/ledger/gateway-call.ts";
import { builtInCatalogue } from "../../../src/core/models/catalogue.ts";
import { catchUp } from "../../../src/edge/stores/rollups/catch-up.ts";
import type { Database } from "../../../src/edge/stores/sql/database.ts";
import { gatewayCall } from "../gateway-kit.ts";
import type { TestStore } from "../stores.ts";
import { all } from "../test-kit.ts";

const dayMs = Date.UTC(2026, 10, 18);
const nowMs = dayMs + 30 * 3_600_000;
const hourMs = 3_600_000;

function costing(id: string, startMs: number, costPicoUsd: bigint): GatewayCall {
  return gatewayCall(id, 1, { startMs, firstByteMs: null, endMs: startMs + 900, costPicoUsd });
}

async function costOf(database: Database, fromRawRows?: true): Promise<unknown> {
  const world = {
    nowMs,
    catalogue: builtInCatalogue,
    ...(fromRawRows === true && { fromRawRows }),
  };
  const query = { groupBy: "none", from: "2026-11-18", to: "2026-11-19" };
  const { data } = await askLedger(database, analyses.cost, query, world);
  return data.map((row) => "cost_usd" in row && row.cost_usd);
}

const dollar = 10n ** 12n;

export function storedSumsContract({ open }: TestStore): void {
  test("a late call counts at once, and in its hour's sums once they are made again", async () => {
    const { ledger, database } = await open();
    await ledger.recordCalls([
      costing("a", dayMs + 5, dollar),
      costing("b", dayMs + 9 * hourMs, dollar),
    ]);
    expect(await catchUp(database, { nowMs, holder: "one" })).toMatchObject({ isComplete: true });
    expect(await costOf(database)).toEqual(["2.000000"]);
    await ledger.recordCalls([costing("late", dayMs + 7, 5n * dollar)]);
    expect(await costOf(database)).toEqual(["7.000000"]);
    expect(await catchUp(database, { nowMs, holder: "one" })).toMatchObject({ hours: 1 });
    expect(await costOf(database)).toEqual(["7.000000"]);
    expect(await all(ledger.check())).toEqual([]);
  });

  test("a stored sum is what answers: changed behind the ledger's back, check says so", async () => {
    const { ledger, database, expectDamage } = await open();
    expectDamage();
    await ledger.recordCalls([costing("a", dayMs + 5, dollar)]);
    await catchUp(database, { nowMs, holder: "one" });
    await database.query(
      "UPDATE rollups SET cells = REPLACE(cells, ';=1000000;', ';=3000000;') WHERE cube = 'calls by is_warm'",
    );
    expect(await costOf(database)).toEqual(["3.000000"]);
    expect(await costOf(database, true)).toEqual(["1.000000"]);
    expect(await all(ledger.check())).toContain(
      "stored sums of calls by is_warm differ from their rows for the hour from 2026-11-18T00:00:00.000Z",
    );
  });

  test("a deleted session is in no sum, and its name nowhere", async () => {
    const { ledger, database } = await open();
    await ledger.recordCalls([costing("kept", dayMs, dollar), costing("secret", dayMs, dollar)]);
    await catchUp(database, { nowMs, holder: "one" });
    expect(await namesLike(database, "secret")).toBe(1);
    await ledger.deleteSession("secret");
    expect(await namesLike(database, "secret")).toBe(0);
    expect(await costOf(database)).toEqual(["1.000000"]);
    await catchUp(database, { nowMs, holder: "one" });
    expect(await costOf(database)).toEqual(["1.000000"]);
    expect(await all(ledger.check())).toEqual([]);
  });

  test("calls are priced again in a window, with their sessions, and only told with a dry run", async () => {
    const { ledger, database } = await open();
    await ledger.recordCalls([
      costing("a", dayMs, 9n * dollar),
      costing("b", dayMs + hourMs, dollar),
    ]);
    await catchUp(database, { nowMs, holder: "one" });
    const options = {
      fromMs: dayMs,
      toMs: dayMs + hourMs,
      priceOf: ({ usage }: { readonly usage: { readonly uncachedTokens: number } }) =>
        BigInt(usage.uncachedTokens) * (dollar / 10n),
    };
    const expected = {
      seen: 1,
      changed: 1,
      unpriced: 0,
      otherCount: 0,
      namedCount: 0,
      differencePicoUsd: -8n * dollar,
    };
    expect(await ledger.reprice({ ...options, isDry: true })).toEqual(expected);
    expect(await costOf(database)).toEqual(["10.000000"]);
    expect(await ledger.reprice(options)).toEqual(expected);
    expect(await costOf(database)).toEqual(["2.000000"]);
    expect(await ledger.reprice(options)).toMatchObject({ changed: 0, differencePicoUsd: 0n });
    await catchUp(database, { nowMs, holder: "one" });
    expect(await costOf(database)).toEqual(["2.000000"]);
    expect(await all(ledger.check())).toEqual([]);
  });

  test("costs that replies named stay, and those of another service tier are priced on it", async () => {
    const { ledger } = await open();
    const at = (id: string, more: Partial<GatewayCall>): GatewayCall =>
      gatewayCall(id, 1, { startMs: dayMs, firstByteMs: null, endMs: dayMs + 900, ...more });
    await ledger.recordCalls([
      at("usual", {}),
      at("named", { isCostNamed: true }),
      at("flexible", { serviceTier: "flex" }),
      at("router", { provider: "a router" }),
      at("through", { upstream: "a router" }),
    ]);
    const done = await ledger.reprice({
      fromMs: dayMs,
      toMs: dayMs + hourMs,
      priceOf: ({ serviceTier }) => (serviceTier === "flex" ? 2n : 4n),
      mayNameCosts: (provider) => provider === "a router",
    });
    expect(done).toMatchObject({ seen: 2, changed: 2, namedCount: 3 });
    const costs = ["usual", "named", "flexible", "router", "through"].map(async (id) => {
      const [call] = await ledger.readGatewayCalls(id);
      return [call?.costPicoUsd, call?.isCostNamed, call?.serviceTier];
    });
    expect(await Promise.all(costs)).toEqual([
      [4n, undefined, undefined],
      [1000n, true, undefined],
      [2n, undefined, "flex"],
      [1000n, undefined, undefined],
      [1000n, undefined, undefined],
    ]);
    expect(await all(ledger.check())).toEqual([]);
  });

  test("of two processes one stores sums, and nothing counts twice", async () => {
    const { ledger, database } = await open();
    const hours = Array.from({ length: 20 }, (_, hour) => hour);
    await ledger.recordCalls(
      hours.map((hour) => costing(`c${hour}`, dayMs + hour * hourMs, dollar)),
    );
    const small = { nowMs, callsPerBatch: 1 };
    await Promise.all(["one", "two"].map((holder) => catchUp(database, { ...small, holder })));
    await catchUp(database, { nowMs, holder: "three" });
    expect(await costOf(database)).toEqual(["20.000000"]);
    expect(await all(ledger.check())).toEqual([]);
  });
}

async function namesLike(database: Database, name: string): Promise<number> {
  const [row] = await database.query("SELECT COUNT(*) AS names FROM rollup_names WHERE name = ?", [
    name,
  ]);
  return Number(row?.["names"]);
}
