// Goal: every benchmark takes --traces alike, and none is judged by the speed of the machine.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { atLeast, atMost, below, exactly } from "../../harness/report.ts";
import { findTraces, splitByRepository, traceFolder } from "../../harness/traces.ts";

const root = mkdtempSync(join(tmpdir(), "strata-traces-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const header = '{"kind":"session","format":"ctx-trace/1","id":"s"}\n';
const session = `${header}{"kind":"request"}\n`;
const kvTrace = '{"kind":"kvtrace","format":"ctx-kv/1","id":"k"}\n{"kind":"request"}\n';

function sessionOf(repo: string, bytes: number): string {
  return `{"kind":"session","repo":"${repo}"}\n`.padEnd(bytes, "x");
}

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
  const headers = folderOf("headers", { "sessions/a.jsonl": header, "sessions/b.jsonl": header });
  expect(() => findTraces(headers)).toThrow(/the recordings in .*sessions hold no request/);
  const kv = folderOf("only-kv", { "kv/a.jsonl": kvTrace });
  expect(() => traceFolder(kv, "sessions")).toThrow(/holds no sessions\//);
  expect(() => traceFolder(undefined, "kv")).toThrow(/give --traces DIR with kv\/ in it/);
});

test("halves are of about the same size, and sessions of one repository are in one half", () => {
  const folder = folderOf("repositories", {
    "a1.jsonl": sessionOf("a", 600),
    "a2.jsonl": sessionOf("a", 600),
    "b.jsonl": sessionOf("b", 900),
    "c.jsonl": sessionOf("c", 200),
    "unnamed.jsonl": session,
  });
  const halves = splitByRepository(folder).map(({ repositories, files }) => ({
    repositories,
    files: files.map((file) => file.slice(folder.length + 1)),
  }));
  expect(halves).toEqual([
    { repositories: ["a"], files: ["a1.jsonl", "a2.jsonl"] },
    {
      repositories: ["b", "c", join(folder, "unnamed.jsonl")],
      files: ["b.jsonl", "c.jsonl", "unnamed.jsonl"],
    },
  ]);
  expect(splitByRepository(folderOf("one", { "a.jsonl": sessionOf("a", 100) }))).toHaveLength(1);
});

test("a check of nothing fails: a number that is none is no measurement", () => {
  for (const value of [null, NaN, Infinity, -Infinity]) {
    for (const check of [atMost, atLeast, below, exactly]) {
      expect(check("x", value, 1)).toMatchObject({ value: null, ok: false });
    }
  }
});

test("a command with a wrong folder ends with one line and 2, also where the benchmark needs none", () => {
  for (const name of ["replay", "plan", "tokens"]) {
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
