// Goal: a program that is stopped, kept waiting or cut off in the middle leaves nothing behind and says what happened.
// Method: the program in processes of its own, with signals, slow input, a full output and a real server.
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { makeExample } from "../../src/cli/test-kit.ts";
import { countWaiting, withClient } from "../../src/edge/stores/postgres/test-kit.ts";
import { expectOneError, runStrata, startStrata } from "../run-strata.ts";

let folder = "";
let ledgerFile = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-interrupted-"));
  ledgerFile = join(folder, "ledger.db");
  await makeExample(ledgerFile);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a full output is reported, and is no success", () => {
  const full = openSync("/dev/full", "w");
  const ended = runStrata(ledgerFile, ["sessions", "export", "build"], {
    stdio: ["ignore", full, "pipe"],
  });
  closeSync(full);
  expect(ended.status).toBe(8);
  expectOneError(ended, "the output cannot be written: ENOSPC", "free some disk space");
});

test("a restore from a slow program blocks no writer until everything is there", async () => {
  const lines = join(folder, "all.jsonl");
  const temporary = join(folder, "temporary");
  mkdirSync(temporary);
  runStrata(ledgerFile, ["ledger", "backup", lines]);
  const whole = readFileSync(lines);
  const other = join(folder, "other.db");
  const { child, ended } = startStrata(ledgerFile, ["ledger", "restore", "-", "--store", other], {
    TMPDIR: temporary,
  });
  child.stdin?.write(whole.subarray(0, 2000));
  while (readdirSync(temporary).length === 0) await wait(10);
  const writer = new DatabaseSync(other, { timeout: 0 });
  writer.exec("BEGIN IMMEDIATE; ROLLBACK");
  writer.close();
  child.stdin?.end(whole.subarray(2000));
  expect(await ended).toMatchObject({ status: 0, error: "" });
  expect(readdirSync(temporary)).toEqual([]);
  const again = join(folder, "again.jsonl");
  runStrata(ledgerFile, ["ledger", "backup", again, "--store", other]);
  expect(readFileSync(again).equals(whole)).toBe(true);
});

test("a restore that is stopped while it reads leaves nothing behind", async () => {
  const temporary = join(folder, "temporary");
  mkdirSync(temporary);
  const other = join(folder, "other.db");
  const { child, ended } = startStrata(ledgerFile, ["ledger", "restore", "-", "--store", other], {
    TMPDIR: temporary,
  });
  child.stdin?.write("{}\n");
  while (readdirSync(temporary).length === 0) await wait(10);
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ status: null, signal: "SIGTERM" });
  expect(readdirSync(temporary)).toEqual([]);
});

describe("a server", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
  });
  afterAll(() => server.stop());

  test("that is kept busy lets a backup be stopped, and nothing of it stays", async () => {
    const where = await server.createDatabase();
    await makeExample(where);
    const copies = join(folder, "copies");
    mkdirSync(copies);
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      await withClient(where, async (other) => {
        await other.query("BEGIN");
        await other.query("LOCK TABLE contents IN ACCESS EXCLUSIVE MODE");
        const words = ["ledger", "backup", join(copies, "copy.jsonl"), "--store", where];
        const { child, ended } = startStrata(ledgerFile, words);
        while (readdirSync(copies).length === 0) await wait(10);
        expect(readdirSync(copies)).toEqual([expect.stringMatching(/^\.copy\.jsonl\..*\.part$/)]);
        child.kill(signal);
        expect(await ended).toMatchObject({ status: null, signal });
        expect(readdirSync(copies)).toEqual([]);
        await other.query("ROLLBACK");
      });
    }
  });

  test("that does not wait for its disk, and one that is waited for, is a warning beside the answer", async () => {
    const where = await server.createDatabase();
    await makeExample(where);
    const told = runStrata(ledgerFile, ["sessions", "show", "build", "--store", where]);
    expect(told.status).toBe(0);
    expect(told.out).toContain("turn-3");
    expectOneError(told, "strata: warning: the ledger strata_", "set fsync = on");
    const running = await withClient(where, async (other) => {
      other.on("error", () => {});
      await other.query("BEGIN");
      await other.query("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE");
      const started = startStrata(ledgerFile, ["ledger", "stats", "--store", where]);
      await withClient(where, async (watcher) => {
        while ((await countWaiting(watcher)) === 0) await wait(10);
      });
      await server.restart("immediate", 300);
      return started;
    });
    const ended = await running.ended;
    expect(ended.status).toBe(0);
    expect(ended.out).toMatch(/^turns +6$/m);
    expect(ended.error).toMatch(/strata: warning: .*; operations wait up to 30 s\n/);
  });
});
