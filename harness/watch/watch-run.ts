// Runs once around every test run. Gives the run its own folder for temporary files, and at the end searches that
// folder, the runner's output and its files for planted secrets. The run fails if it finds one. What is slow to make and
// the same for all tests is kept for them: a database cluster, and the compiled code of programs.
import { chmodSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import { createOutputWatch, describeLeaks, noteLeak, takeLeaks } from "./outputs.ts";
import { plantedKey, plantedOpenaiKey, plantedToken } from "../planted-key.ts";
import { searchFiles } from "./search-files.ts";
import { before } from "./wrap.ts";

export function setup({ vitest }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "strata-"));
  // Root runs database servers as another user, who needs access.
  chmodSync(folder, 0o711);
  for (const name of ["TMPDIR", "TMP", "TEMP"]) process.env[name] = folder;
  // For tests that need a key, and to catch code that leaks the environment.
  process.env["PLANTED_KEY"] = plantedKey;
  process.env["PLANTED_OPENAI_KEY"] = plantedOpenaiKey;
  process.env["PLANTED_ACCESS_TOKEN"] = plantedToken;
  const template = mkdtempSync(join(tmpdir(), "strata-cluster-"));
  process.env["POSTGRES_TEMPLATE"] = template;
  process.env["NODE_COMPILE_CACHE"] ??= resolve("node_modules/.cache/compiled");
  for (const stream of [process.stdout, process.stderr]) {
    before(stream, "write", createOutputWatch("what the test runner prints"));
  }
  return () => {
    // Nothing of a test is in it.
    rmSync(template, { recursive: true, force: true });
    for (const path of [folder, ...filesOf(vitest.config.outputFile), ...snapshots()]) {
      for (const found of searchFiles(path)) noteLeak({ ...found, place: found.file });
    }
    const leaks = takeLeaks();
    if (leaks.length === 0) {
      rmSync(folder, { recursive: true, force: true });
      return;
    }
    // Set here too, because the runner's wait for teardown has a timeout.
    process.exitCode = 1;
    throw new Error(describeLeaks(leaks));
  };
}

function filesOf(outputFile: TestProject["vitest"]["config"]["outputFile"]): readonly string[] {
  if (outputFile === undefined) return [];
  return typeof outputFile === "string" ? [outputFile] : Object.values(outputFile);
}

function snapshots(): readonly string[] {
  return globSync(["src/**/*.snap", "test/**/*.snap"]);
}
