// Goal: a secret that comes out of the code anywhere in the suite fails the suite, and the place is named; so does what a
// file leaves to the next one. Method: a run of the suite's own configuration, in a process of its own and with a secret
// of its own, on files that leak on purpose.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { findPlanted, plantedPassword, plantedToken, plantedUrl } from "../harness/planted-key.ts";

describe("a planted secret is found", () => {
  const ways: readonly (readonly [string, (secret: string) => string])[] = [
    ["as it is", (secret) => secret],
    ["in a URL", (secret) => `https://host/?key=${encodeURIComponent(secret)}&a=b`],
    ["in JSON in JSON", (secret) => JSON.stringify(JSON.stringify({ secret }))],
    ["in base64", (secret) => btoa(encodeURI(secret))],
    ["in base64 after one byte", (secret) => btoa(`:${encodeURI(secret)}`)],
    ["in base64 after two bytes", (secret) => btoa(`a:${encodeURI(secret)}`)],
    ["in base64 for URLs", (secret) => Buffer.from(`user:${secret}`).toString("base64url")],
    ["in hex", (secret) => Buffer.from(secret).toString("hex")],
    ["in lower case", (secret) => secret.toLowerCase()],
    ["by half", (secret) => `${secret.slice(0, 15)}…`],
  ];
  test.each(ways)("%s", (_way, write) => {
    for (const secret of [plantedPassword, plantedToken]) {
      expect(findPlanted(`before ${write(secret)} after`)).not.toBeNull();
    }
  });

  test("and is not repeated by who found it", () => {
    const found = findPlanted(`cannot reach ${plantedUrl}`);
    expect(found?.near).toMatch(/^"cannot reach postgres:\/\/ana:‹planted›%2F/);
    expect(findPlanted(JSON.stringify(found))).toBeNull();
  });
});

describe("a run of tests that pass and leak", () => {
  test("fails, and names every place", () => {
    const { status, lines } = runLeaks("in-tests.leak.ts", "in-runner.leak.ts");
    expect(status).toBe(1);
    expect(lines.filter((line) => / passed| failed/.test(line))).toEqual([
      "Test Files 1 failed | 1 passed (2)",
      "Tests 13 passed (13)",
    ]);
    expect(leaksIn(lines)).toEqual([
      "console: console.log",
      "stream in pieces: what a test process prints",
      "command in this process: standard error of a command",
      `process: standard output of ${printer}`,
      `process that is waited for: output of ${printer}`,
      `process that is waited for: output of ${printer}`,
      "process that fails: output of echo $PLANTED_ACCESS_TOKEN >&2; exit 1",
      "removed folder: ledger.db",
      "row: a row in SQLite",
      "error: an error",
      "error: an error",
      "answer and request: the address of a request",
      "answer and request: the body of a request",
      "answer and request: an answer of an HTTP server",
      // The last test before it was removed.
      "answer and request: page.html",
      // From console, the stream, the process that shares our output, and the name of a test.
      "run: what the test runner prints",
      "run: what the test runner prints",
      "run: what the test runner prints",
      "run: what the test runner prints",
      "run: metrics.txt",
      "run: report.json",
    ]);
  });

  test("passes where nothing leaks", () => {
    const { status, lines } = runLeaks("nothing.leak.ts");
    expect(lines).toContain("Tests 1 passed (1)");
    expect(status).toBe(0);
  });
});

test("a file that leaves something behind in its process fails, because the next file runs there too", () => {
  const { status, lines } = runLeaks("left-behind.leak.ts");
  expect(status).toBe(1);
  expect(lines).toContain("Tests 1 passed (1)");
  expect(lines).toContain(
    "Error: the tests left behind: the current folder, servers that listen, the global Math.random, the variable LEFT_BEHIND",
  );
});

const printer = "node -e console.log(process.env.PLANTED_ACCESS_TOKEN)";

/** "test: place" for each that is reported. */
function leaksIn(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => {
    const found = /^(\S.*?) \((?:plain|as base64)\)(?:, in or after "(.*?)")?: "/.exec(line);
    return found === null ? [] : [`${found[2] ?? "run"}: ${found[1]}`];
  });
}

interface Ran {
  readonly status: number | null;
  /** Without colours and folders. */
  readonly lines: readonly string[];
}

function runLeaks(...files: readonly string[]): Ran {
  const folder = mkdtempSync(join(tmpdir(), "strata-leaks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const words = ["--root", ".", "--config", "test/planted-leaks/vitest.config.ts"];
  const reports = [
    "--reporter=verbose",
    "--reporter=json",
    `--outputFile.json=${folder}/report.json`,
  ];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...words, ...reports, ...files],
    { encoding: "utf8", env: { ...process.env, PLANTED_WORD: "K3yUnd0r", TMPDIR: folder } },
  );
  const lines = stripVTControlCharacters(`${stdout}${stderr}`)
    .split("\n")
    .map((line) =>
      line
        .trim()
        .replaceAll(/ +/g, " ")
        .replaceAll(/\/\S+\//g, ""),
    );
  return { status, lines };
}
