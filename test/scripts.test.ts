// Goal: the repository's own commands behave. Method: run them as a person would, on this clone.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { slowFiles } from "../harness/slow-first.ts";
import packageJson from "../package.json" with { type: "json" };

test("every npm script runs under Node 24, whatever Node the machine has", () => {
  const { stdout } = npm("exec", "--no", "-c", "node --version");
  expect(stdout.trim()).toBe(`v${packageJson.devDependencies.node}`);
  expect(process.versions.node.split(".")[0]).toBe("24");
});

test("every test file that is to run first exists", () => {
  expect(slowFiles.length).toBeGreaterThan(0);
  expect(slowFiles.filter((file) => !existsSync(file))).toEqual([]);
});

describe("the harness", () => {
  test.each(["bench", "torture"])("lists what %s can run", (kind) => {
    const { stdout, status } = npm("run", "-s", kind, "--", "list");
    expect(status).toBe(0);
    expect(stdout).toContain(`npm run -s ${kind} -- NAME [--traces DIR] [--json]`);
    expect(stdout).toContain(kind === "bench" ? "\ncli: " : "\nmessages: ");
  });

  test("prints exactly one object with --json, and exits 0 when every check holds", () => {
    const { stdout, status } = npm(
      "run",
      "-s",
      "torture",
      "--",
      "messages",
      "--count",
      "50",
      "--json",
    );
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      name: "messages",
      figures: { messages: 50, seed: 1, characters: expect.any(Number) },
      checks: [{ name: "messages that break a promise", value: 0, limit: "= 0", ok: true }],
    });
  });

  test("names the ones there are when asked for one there is not", () => {
    const { stderr, status } = npm("run", "-s", "bench", "--", "nothing");
    expect(status).toBe(2);
    expect(stderr).toMatch(/^There is no bench called nothing\. There are: analytics, cli, /);
  });

  test("refuses an option it does not know", () => {
    const { stderr, status } = npm("run", "-s", "bench", "--", "cli", "--jsno");
    expect(status).toBe(2);
    expect(stderr).toContain("--jsno");
  });
});

describe("the last line of .ci/run", () => {
  test.each([
    [
      { numPassedTests: 7, numFailedTests: 0, numFailedTestSuites: 0, success: true },
      "7 passed, 0 failed",
      0,
    ],
    [
      { numPassedTests: 6, numFailedTests: 1, numFailedTestSuites: 1, success: false },
      "6 passed, 1 failed",
      1,
    ],
    [
      { numPassedTests: 6, numFailedTests: 0, numFailedTestSuites: 2, success: false },
      "6 passed, 2 failed",
      1,
    ],
    [
      { numPassedTests: 0, numFailedTests: 0, numFailedTestSuites: 0, success: true },
      "0 passed, 0 failed",
      1,
    ],
  ])("comes from the runner's report: %j", (report, line, expectedStatus) => {
    const folder = mkdtempSync(join(tmpdir(), "strata-report-"));
    const file = join(folder, "report.json");
    writeFileSync(file, JSON.stringify(report));
    const { stdout, status } = run("node", "scripts/count-tests.ts", file);
    rmSync(folder, { recursive: true });
    expect({ stdout, status }).toEqual({ stdout: `${line}\n`, status: expectedStatus });
  });

  test("stands below the names of what failed", () => {
    const folder = mkdtempSync(join(tmpdir(), "strata-report-"));
    const file = join(folder, "report.json");
    const failure = {
      fullName: "adds up",
      status: "failed",
      failureMessages: ["expected 1 to be 2"],
    };
    const report = {
      numPassedTests: 6,
      numFailedTests: 1,
      numFailedTestSuites: 2,
      success: false,
      testResults: [
        { name: "sum.test.ts", status: "failed", message: "", assertionResults: [failure] },
        { name: "gone.test.ts", status: "failed", message: "no file", assertionResults: [] },
      ],
    };
    writeFileSync(file, JSON.stringify(report));
    const { stdout } = run("node", "scripts/count-tests.ts", file);
    rmSync(folder, { recursive: true });
    expect(stdout.split("\n")).toEqual([
      "failed: sum.test.ts > adds up",
      "expected 1 to be 2",
      "failed: gone.test.ts: no file",
      "6 passed, 1 failed",
      "",
    ]);
  });

  test("says so when the runner died before it could report", () => {
    const { stdout, status } = run("node", "scripts/count-tests.ts", "no-such-report.json");
    expect({ stdout, status }).toEqual({ stdout: "0 passed, 1 failed\n", status: 1 });
  });

  test.each([
    ["everything works", "exit 0", "exit 0", "3 passed, 0 failed", 0],
    ["a test fails", "exit 1", "exit 0", "3 passed, 1 failed", 1],
    ["a check fails", "exit 0", "exit 1", "3 passed, 0 failed", 1],
  ])("and the exit status tell when %s", (_name, testing, checking, line, expectedStatus) => {
    const clone = mkdtempSync(join(tmpdir(), "strata-ci-"));
    for (const folder of [".ci", "scripts", "node_modules/.bin", "bin"]) {
      mkdirSync(join(clone, folder), { recursive: true });
    }
    copyFileSync(".ci/run", join(clone, ".ci/run"));
    copyFileSync("scripts/count-tests.ts", join(clone, "scripts/count-tests.ts"));
    symlinkSync(process.execPath, join(clone, "node_modules/.bin/node"));
    const failed = line.endsWith(" 0 failed") ? 0 : 1;
    const report = JSON.stringify({
      numPassedTests: 3,
      numFailedTests: failed,
      numFailedTestSuites: 0,
      success: failed === 0,
    });
    // Stands in for npm, which would install and test the whole project once more.
    const npmScript = `#!/usr/bin/env bash
for word in "$@"; do
  case $word in --outputFile.json=*) printf '%s' '${report}' > "\${word#*=}" ;; esac
done
if [ "$1" = test ]; then ${testing}; fi
if [ "$1" = run ]; then ${checking}; fi
`;
    writeFileSync(join(clone, "bin/npm"), npmScript, { mode: 0o755 });
    const { stdout, status } = spawnSync("bash", [join(clone, ".ci/run")], {
      cwd: clone,
      encoding: "utf8",
      env: { ...process.env, PATH: `${join(clone, "bin")}:${process.env["PATH"]}` },
    });
    rmSync(clone, { recursive: true });
    expect({ last: stdout.trimEnd().split("\n").at(-1), status }).toEqual({
      last: line,
      status: expectedStatus,
    });
  });
});

function npm(...args: string[]) {
  return run("npm", ...args);
}

function run(command: string, ...args: string[]) {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: "utf8" });
  return { stdout, stderr, status };
}
