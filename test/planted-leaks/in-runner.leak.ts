// What only the whole run shows: names of tests, and what is left on the disk.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";

test(`a name with ${plantedKey}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "left-"));
  writeFileSync(join(folder, "metrics.txt"), `calls_total{key="${plantedKey}"} 1\n`);
  expect(folder).not.toBe("");
});
