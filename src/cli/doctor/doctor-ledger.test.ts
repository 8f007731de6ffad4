import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrations } from "../../edge/stores/sql/migrations.ts";
import { makeExample, strata as run } from "../test-kit.ts";

const current = migrations.length;

let folder = "";
let ledgerFile = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-doctor-"));
  ledgerFile = join(folder, "ledger.db");
  await makeExample(ledgerFile);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function ledgerOf(env: Readonly<Record<string, string>>): Promise<unknown> {
  const { findings } = JSON.parse((await run(env, "doctor", "--json")).out);
  return findings.find(({ name }: { name: string }) => name === "ledger");
}

describe("strata doctor", () => {
  test("tells where the ledger is and whether it can be used", async () => {
    expect(await ledgerOf({ STRATA_STORE: ledgerFile })).toEqual({
      name: "ledger",
      state: "ok",
      detail: `${ledgerFile} (from STRATA_STORE), schema ${current}, can be written`,
    });
    expect(await ledgerOf({ STRATA_DATA_DIR: join(folder, "data") })).toMatchObject({
      state: "ok",
      detail: expect.stringContaining("created when first needed"),
    });
    writeFileSync(join(folder, "text"), "these are words, not pages");
    expect(await ledgerOf({ STRATA_STORE: join(folder, "text") })).toMatchObject({
      state: "failed",
      detail: expect.stringContaining("is not a SQLite database"),
    });
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  test("looks at the ledger that strata.yaml names, and reports a broken configuration", async () => {
    const config = join(folder, "doctor.yaml");
    writeFileSync(config, `ledger: { store: "${ledgerFile}" }\n`);
    expect(await ledgerOf({ STRATA_CONFIG: config })).toEqual({
      name: "ledger",
      state: "ok",
      detail: `${ledgerFile} (from ledger.store in the configuration), schema ${current}, can be written`,
    });
    writeFileSync(config, "ledgr: {}\n");
    expect(await ledgerOf({ STRATA_CONFIG: config })).toMatchObject({
      state: "failed",
      detail: expect.stringContaining("ledgr is not a setting; did you mean ledger?"),
    });
  });
});
