// Uses the key, as a header and in a configuration, and leaks nothing.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";

test("a key in a configuration is where it belongs", () => {
  const folder = mkdtempSync(join(tmpdir(), "clean-"));
  writeFileSync(join(folder, "strata.yaml"), `api_key: ${plantedKey}`);
  rmSync(folder, { recursive: true });
  expect(new Headers({ "x-api-key": plantedKey }).get("x-api-key")).toBe(plantedKey);
});
