// Calls as lines for a warehouse.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { expect, onTestFinished, test } from "vitest";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { exportCalls } from "../../src/edge/stores/export-calls.ts";
import { exportParquet } from "../../src/edge/stores/export-parquet.ts";
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

test("a Parquet file has the same calls, with money and times as whole numbers", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "strata-parquet-")), "calls.parquet");
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  const database = openSqlite({ file: ":memory:" });
  const ledger = await createLedger(database);
  await ledger.recordCalls([
    gatewayCall("b", 1, { startMs: 2000, user: "bo", costPicoUsd: 2n ** 60n }),
    gatewayCall("a", 1, { startMs: 1000, user: "ana", costPicoUsd: null }),
    gatewayCall("c", 1, { startMs: 3000 }),
  ]);
  const parquet = await import("hyparquet-writer");
  const count = await database.snapshot((snapshot) =>
    exportParquet(snapshot, { startMs: 1000, endMs: 3000 }, { file, parquet }),
  );
  const bytes = readFileSync(file);
  const rows = await parquetReadObjects({
    file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
  });
  expect(count).toBe(2);
  expect(
    rows.map((row) => [
      row["session_id"],
      row["user_name"],
      row["started_ms"],
      row["cost_pico_usd"],
    ]),
  ).toEqual([
    ["a", "ana", 1000n, null],
    ["b", "bo", 2000n, 2n ** 60n],
  ]);
  expect(rows[0]).not.toHaveProperty("plan_json");
  await ledger.close();
});
