// Goal: what the gateway saw is in the ledger, or counted as lost, whatever happens to the ledger, the thread or the process.
// Method: real ledgers in a folder, real threads, real processes; each fault is made where it happens in the world.
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startPostgres } from "../../harness/postgres.ts";
import { block, gatewayCall } from "../ledger/gateway-kit.ts";
import { all, startMs } from "../ledger/test-kit.ts";
import { describeLoss } from "../../src/gateway/record/recording-loss.ts";
import { inLedger, newFolder, recorderOn, watchThreads } from "./kit.ts";

const soon = { batchMs: 20, retryMs: 20, retryMsMax: 50 };

test("calls are in the ledger after a flush, to the pico-dollar, and a clean end is no gap", async () => {
  const store = join(newFolder(), "ledger.db");
  const { recorder, losses, problems } = recorderOn(store, { limits: soon });
  for (let number = 1; number <= 1200; number += 1) {
    recorder.take(gatewayCall(`c${number % 7}`, number, { costPicoUsd: BigInt(number) }));
  }
  await recorder.flush();
  expect(recorder.stats()).toEqual({
    recordedCount: 1200,
    repeatedCount: 0,
    waitingCount: 0,
    lostCount: 0,
    problem: null,
    log: null,
  });
  await recorder.close();
  await inLedger(store, async (ledger) => {
    const found = await ledger.listSessions({ origin: "gateway" });
    expect(found.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n)).toBe(720_600n);
    expect(await ledger.readGatewayRuns()).toMatchObject([{ ending: "closed", lostCount: 0 }]);
  });
  const next = recorderOn(store, { limits: soon });
  next.recorder.take(gatewayCall("later", 1));
  await next.recorder.flush();
  expect([losses, problems, next.losses, next.problems]).toEqual([[], [], [], []]);
});

test("while the ledger cannot be opened calls wait, and are written once it can", async () => {
  const folder = newFolder();
  const inTheWay = join(folder, "data");
  writeFileSync(inTheWay, "a file where a folder must be");
  const { recorder, losses, toldOf } = recorderOn(join(inTheWay, "ledger.db"), { limits: soon });
  recorder.take(gatewayCall("a", 1));
  expect(await toldOf("not recorded")).toMatch(/^calls are not recorded, traffic goes on: /);
  recorder.take(gatewayCall("a", 2));
  expect(recorder.stats()).toMatchObject({ recordedCount: 0, waitingCount: 2 });
  expect(recorder.stats().problem).not.toBeNull();
  rmSync(inTheWay);
  await recorder.flush();
  await toldOf("recorded again");
  expect(recorder.stats()).toMatchObject({ recordedCount: 2, lostCount: 0, problem: null });
  expect(losses).toEqual([]);
});

test("while it cannot be opened for too long, the oldest calls are lost, and the gap is told with the recovery", async () => {
  const folder = newFolder();
  const inTheWay = join(folder, "data");
  const store = join(inTheWay, "ledger.db");
  writeFileSync(inTheWay, "a file where a folder must be");
  const limits = { ...soon, waitingCallsMax: 3 };
  const { recorder, losses, toldOf } = recorderOn(store, { limits });
  await toldOf("not recorded");
  for (let number = 1; number <= 5; number += 1) recorder.take(gatewayCall("a", number));
  expect(recorder.stats()).toMatchObject({ waitingCount: 3, lostCount: 2 });
  expect(losses).toEqual([]);
  rmSync(inTheWay);
  await recorder.flush();
  await recorder.close();
  const loss = {
    cause: "store failed",
    lostCount: 2,
    fromMs: startMs + 1900,
    untilMs: startMs + 2900,
  };
  expect(losses).toMatchObject([loss]);
  expect(losses.map(describeLoss).join()).toMatch(
    /^2 calls are missing in the ledger, ended between 2026-11-16T00:00:01.900Z and 2026-11-16T00:00:02.900Z: it could not be written \(/,
  );
  await inLedger(store, async (ledger) => {
    expect((await ledger.readGatewayCalls("a")).map(({ id }) => id)).toEqual(["a-3", "a-4", "a-5"]);
    const [run] = await ledger.readGatewayRuns();
    expect(run).toMatchObject({ lostCount: 2 });
    const events = await all(ledger.readEvents({ types: ["gateway.calls_lost"] }));
    expect(events).toMatchObject([
      {
        sessionId: run?.id,
        payload: { cause: "store_failed", lost_call_count: 2, from: "2026-11-16T00:00:01.900Z" },
      },
    ]);
  });
});

test("calls that come faster than they can be written are lost and counted, the newest stay", async () => {
  const store = join(newFolder(), "ledger.db");
  const { recorder, nextLoss } = recorderOn(store, { limits: { ...soon, waitingCallsMax: 10 } });
  const told = nextLoss();
  for (let number = 1; number <= 25; number += 1) recorder.take(gatewayCall("a", number));
  await recorder.flush();
  const { recordedCount, lostCount } = recorder.stats();
  expect([recordedCount, lostCount]).toEqual([10, 15]);
  expect(await told).toMatchObject({ cause: "queue full", lostCount: 15, problem: null });
});

test("a call that no ledger can take, or that cannot be handed over, takes no other with it", async () => {
  const store = join(newFolder(), "ledger.db");
  const { recorder, losses } = recorderOn(store, { limits: soon });
  recorder.take(gatewayCall("a", 1));
  recorder.take(gatewayCall("a", 2, { keptBlocks: -1 }));
  recorder.take(gatewayCall("a", 3, { notes: [(() => "") as unknown as string] }));
  recorder.take(gatewayCall("a", 4));
  await recorder.flush();
  await recorder.close();
  expect(recorder.stats()).toMatchObject({ recordedCount: 2, lostCount: 2 });
  expect(losses).toMatchObject([
    { cause: "not storable", lostCount: 1, problem: "it cannot be handed to another thread" },
    { cause: "not storable", lostCount: 1, problem: "its keptBlocks is -1" },
  ]);
});

test("when the thread dies in the middle, another one goes on, and no call is lost or stored twice", async () => {
  const { threads, firstThread } = watchThreads();
  const store = join(newFolder(), "ledger.db");
  const { recorder, toldOf, losses } = recorderOn(store, { limits: soon });
  for (let number = 1; number <= 300; number += 1) recorder.take(gatewayCall("a", number));
  await (await firstThread).terminate();
  await toldOf("died");
  for (let number = 301; number <= 400; number += 1) recorder.take(gatewayCall("a", number));
  await recorder.flush();
  await recorder.close();
  expect(threads).toHaveLength(2);
  const { recordedCount, repeatedCount, lostCount } = recorder.stats();
  expect([recordedCount + repeatedCount, lostCount]).toEqual([400, 0]);
  expect(losses).toEqual([]);
  await inLedger(store, async (ledger) => {
    expect(await ledger.findSession("a")).toMatchObject({ costPicoUsd: 400_000n });
    expect(await ledger.readGatewayRuns()).toHaveLength(1);
  });
});

test("while another process locks the ledger, nothing waits for it but the calls", async () => {
  const store = join(newFolder(), "ledger.db");
  const { recorder, losses, problems } = recorderOn(store, { limits: soon });
  recorder.take(gatewayCall("a", 1));
  await recorder.flush();
  const other = new DatabaseSync(store);
  other.exec("BEGIN IMMEDIATE");
  for (let number = 2; number <= 30; number += 1) {
    recorder.take(gatewayCall("a", number));
    await wait(10);
  }
  expect(recorder.stats()).toMatchObject({ recordedCount: 1, waitingCount: 29 });
  other.exec("ROLLBACK");
  other.close();
  await recorder.flush();
  expect(recorder.stats()).toMatchObject({ recordedCount: 30, lostCount: 0 });
  expect([losses, problems]).toEqual([[], []]);
});

test("a server's ledger is written by the same thread", async () => {
  const server = await startPostgres({ fsync: false });
  onTestFinished(() => server.stop());
  const store = await server.createDatabase();
  const { recorder, losses } = recorderOn(store, { limits: soon });
  for (let number = 1; number <= 200; number += 1) {
    recorder.take(gatewayCall(`c${number % 5}`, number, { addedBlocks: [block(`u${number}`)] }));
  }
  await recorder.flush();
  await recorder.close();
  expect([recorder.stats().recordedCount, losses]).toEqual([200, []]);
  await inLedger(store, async (ledger) => {
    expect(await ledger.listSessions({ origin: "gateway" })).toHaveLength(5);
    expect(await ledger.readGatewayRuns()).toMatchObject([{ ending: "closed" }]);
  });
});

test("the end does not wait for a ledger that never comes; what it could not write is told", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "data"), "a file where a folder must be");
  const { recorder, losses } = recorderOn(join(folder, "data", "ledger.db"), { limits: soon });
  recorder.take(gatewayCall("a", 1));
  await recorder.close();
  recorder.take(gatewayCall("a", 2));
  expect(losses).toMatchObject([{ cause: "store failed", lostCount: 1 }]);
  expect(recorder.stats()).toMatchObject({ waitingCount: 0, lostCount: 2 });
});

test("on a disk that takes no more, the process goes on and counts", async () => {
  const store = join(newFolder(), "ledger.db");
  // No file may grow above 1,200 KB, as if the disk were full.
  const script = join(import.meta.dirname, "record-until.child.ts");
  const command = 'ulimit -f 1200; exec "$0" "$1" "$2" full';
  const child = spawn("bash", ["-c", command, process.execPath, script, store], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: unknown[] = [];
  for await (const line of createInterface(child.stdout)) said.push(JSON.parse(line));
  const [stats, ...losses] = said;
  expect(stats).toMatchObject({ problem: expect.stringContaining("ledger.db") });
  expect(losses).toMatchObject([{ cause: "store failed" }]);
  await inLedger(store, async (ledger) => {
    expect(await all(ledger.check())).toEqual([]);
    expect(await ledger.readGatewayRuns()).toMatchObject([{ ending: "running" }]);
  });
});

test("kill -9 loses at most the last second, and the next start reports the gap", async () => {
  const store = join(newFolder(), "ledger.db");
  const script = join(import.meta.dirname, "record-until.child.ts");
  const child = spawn(process.execPath, [script, store, "killed"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const taken: { readonly id: string; readonly endMs: number }[] = [];
  let killedMs = 0;
  for await (const line of createInterface(child.stdout)) {
    taken.push(JSON.parse(line) as (typeof taken)[number]);
    if (taken.length === 250) {
      killedMs = Date.now();
      child.kill("SIGKILL");
    }
  }
  const next = recorderOn(store, { limits: soon });
  const loss = await next.nextLoss();
  await next.recorder.close();
  expect(loss).toMatchObject({ cause: "killed" });
  expect(describeLoss(loss)).toMatch(
    /^the gateway was killed between .*: calls that ended then may be missing/,
  );
  await inLedger(store, async (ledger) => {
    const kept = new Set((await ledger.readGatewayCalls("a")).map(({ id }) => id));
    const missing = taken.filter(({ id }) => !kept.has(id));
    expect(kept.size).toBeGreaterThan(0);
    expect(missing.filter(({ endMs }) => endMs < killedMs - 1000)).toEqual([]);
    // All that is missing ended within the gap.
    expect(missing.filter(({ endMs }) => endMs < loss.fromMs - 1000)).toEqual([]);
    expect(await ledger.readGatewayRuns()).toMatchObject([
      { ending: "closed" },
      { ending: "killed" },
    ]);
    const events = await all(ledger.readEvents({ types: ["gateway.calls_lost"] }));
    expect(events).toMatchObject([{ payload: { cause: "killed" } }]);
  });
});
