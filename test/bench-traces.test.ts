// Goal: every benchmark takes --traces alike, and none is judged by the speed of the machine.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findTraces, traceFolder } from "../harness/traces.ts";

const root = mkdtempSync(join(tmpdir(), "strata-traces-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const session = '{"kind":"session","format":"ctx-trace/1","id":"s"}\n';
const kvTrace = '{"kind":"kvtrace","format":"ctx-kv/1","id":"k"}\n';

function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

test("the folder of both kinds of recordings, and each of the two, is understood", () => {
  const both = folderOf("both", { "sessions/a.jsonl": session, "kv/a.jsonl": kvTrace });
  expect(findTraces(both)).toEqual({ sessions: join(both, "sessions"), kv: join(both, "kv") });
  expect(findTraces(join(both, "sessions"))).toEqual({ sessions: join(both, "sessions") });
  expect(findTraces(join(both, "kv"))).toEqual({ kv: join(both, "kv") });
});

test("a folder that is missing, empty, or of other things is refused with what to give", () => {
  const other = folderOf("other", { "sessions/a.jsonl": "{}\n", "notes.txt": "x" });
  const swapped = folderOf("swapped", { "sessions/a.jsonl": kvTrace });
  expect(() => findTraces(join(root, "missing"))).toThrow(/there is no such folder/);
  for (const folder of [folderOf("empty", {}), other, swapped]) {
    expect(() => findTraces(folder)).toThrow(/holds no recordings: give the folder with sessions/);
  }
  const kv = folderOf("only-kv", { "kv/a.jsonl": kvTrace });
  expect(() => traceFolder(kv, "sessions")).toThrow(/holds no sessions\//);
  expect(() => traceFolder(undefined, "kv")).toThrow(/give --traces DIR with kv\/ in it/);
});

test("a command with a wrong folder ends with one line and 2, also where the benchmark needs none", () => {
  for (const name of ["replay", "plan"]) {
    const words = ["harness/run.ts", "bench", name, "--traces", join(root, "missing")];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe(`--traces ${join(root, "missing")}: there is no such folder\n`);
  }
});

test("no check of a benchmark compares a time with a number: each has a baseline in the same run", () => {
  const files = globSync("bench/**/*.ts");
  expect(files.length).toBeGreaterThan(10);
  const checks = files.flatMap((file) =>
    [
      ...readFileSync(file, "utf8").matchAll(/\b(?:atMost|atLeast|below)\(\s*(["`][^"`]*["`])/g),
    ].map(([, name = ""]) => `${file} ${name}`),
  );
  expect(checks.length).toBeGreaterThan(30);
  expect(checks.filter((name) => /\bms\b|\bseconds\b|\/s\b/.test(name))).toEqual([]);
});
