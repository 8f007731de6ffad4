// Runs of gateways: a process that was killed is found by the next one, once, with the time since which calls may be missing.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { newHolder } from "../../../src/edge/stores/ledger/lease-holder.ts";
import type { TestStore } from "../stores.ts";
import { startMs } from "../test-kit.ts";

export function gatewayRunsContract({ open }: TestStore): void {
  test("a run that ends says so, and is no gap", async () => {
    const { ledger, advance } = await open();
    const run = await ledger.openGatewayRun();
    advance(1000);
    await run.beat(0);
    advance(1000);
    await run.end(3);
    const next = await ledger.openGatewayRun();
    expect(await next.beat(0)).toEqual([]);
    expect(await ledger.readGatewayRuns()).toEqual([
      {
        id: next.id,
        startedMs: startMs + 2000,
        beatMs: startMs + 2000,
        endedMs: null,
        ending: "running",
        lostCount: 0,
      },
      {
        id: run.id,
        startedMs: startMs,
        beatMs: startMs + 2000,
        endedMs: startMs + 2000,
        ending: "closed",
        lostCount: 3,
      },
    ]);
  });

  test("a run whose process is gone is found at once, by one gateway only", async () => {
    const { ledger, database, reopen } = await open();
    const dead = await ledger.openGatewayRun();
    await dead.beat(2);
    const { pid } = spawnSync(process.execPath, ["-e", "0"]);
    const holder = newHolder().replace(`:${process.pid}:`, `:${pid}:`);
    await database.query("UPDATE gateway_runs SET holder = ? WHERE id = ?", [holder, dead.id]);
    const one = await ledger.openGatewayRun();
    const other = await (await reopen()).openGatewayRun();
    const found = [...(await one.beat(0)), ...(await other.beat(0))];
    expect(found).toMatchObject([
      { id: dead.id, ending: "killed", beatMs: startMs, lostCount: 2, endedMs: startMs },
    ]);
  });

  test("a run on another machine is dead after five minutes without a word", async () => {
    const { ledger, advance } = await open();
    const silent = await ledger.openGatewayRun();
    advance(300_000);
    const next = await ledger.openGatewayRun();
    expect(await next.beat(0)).toEqual([]);
    advance(1);
    expect(await next.beat(0)).toMatchObject([{ id: silent.id, beatMs: startMs }]);
    expect(await next.beat(0)).toEqual([]);
  });
}
