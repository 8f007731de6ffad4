import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePrivate } from "./open-sqlite.ts";

test("folders on the way are made, for their user alone", () => {
  const folder = mkdtempSync(join(tmpdir(), "strata-private-"));
  try {
    const file = join(folder, "one", "two", "ledger.db");
    makePrivate(file);
    makePrivate(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "one")).mode & 0o777).toBe(0o700);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a place where no folder can be made is an error without a wait", () => {
  expect(() => makePrivate("/proc/nowhere/at/all/ledger.db")).toThrow("cannot be created");
});
