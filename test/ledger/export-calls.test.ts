// Calls as lines for a warehouse.
import { expect, test } from "vitest";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { exportCalls } from "../../src/edge/stores/export-calls.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { gatewayCall } from "./gateway-kit.ts";
import { all } from "./test-kit.ts";

test("calls of a window are exported in order of time, as JSON lines and as CSV, without what is our own", async () => {
  const database = openSqlite({ file: ":memory:" });
  const ledger = await createLedger(database);
  await ledger.recordCalls([
    gatewayCall("b", 1, { startMs: 2000, user: '=SUM("A1"),x', costPicoUsd: 2n ** 60n }),
    gatewayCall("a", 1, { startMs: 1000, user: "ana", costPicoUsd: null }),
    gatewayCall("c", 1, { startMs: 3000 }),
  ]);
  const window = { startMs: 1000, endMs: 3000 };
  const [lines, table] = await database.snapshot(async (snapshot) => [
    await all(exportCalls(snapshot, window, "ndjson")),
    await all(exportCalls(snapshot, window, "csv")),
  ]);
  const calls: readonly Record<string, unknown>[] = (lines ?? []).map((line) => JSON.parse(line));
  expect(
    calls.map((call) => [call["session_id"], call["user_name"], call["cost_pico_usd"]]),
  ).toEqual([
    ["a", "ana", null],
    ["b", '=SUM("A1"),x', "1152921504606846976"],
  ]);
  expect(Object.keys(calls[0] ?? {})).not.toContain("plan_json");
  expect(table).toHaveLength(3);
  expect(table?.[0]).toMatch(/^turn_id,number,session_id,started_ms,/);
  expect(table?.[1]).toContain(",ana,");
  expect(table?.[2]).toContain(`,"'=SUM(""A1""),x",`);
  await ledger.close();
});
