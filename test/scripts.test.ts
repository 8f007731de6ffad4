// Goal: the repository's own commands behave. Method: run them as a person would, on this clone.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };

test("every npm script runs under Node 24, whatever Node the machine has", () => {
  const { stdout } = npm("exec", "--no", "-c", "node --version");
  expect(stdout.trim()).toBe(`v${packageJson.devDependencies.node}`);
  expect(process.versions.node.split(".")[0]).toBe("24");
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
    expect(stderr).toMatch(/^There is no bench called nothing\. There are: cli, /);
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

  test("is the last thing .ci/run does, after npm ci, the test command and the checks", () => {
    const script = readFileSync(".ci/run", "utf8");
    const places = ["npm ci", "npm test", "npm run check", "count-tests.ts"].map((part) =>
      script.indexOf(part),
    );
    expect(places.every((place, index) => place > (places[index - 1] ?? 0))).toBe(true);
  });
});

function npm(...args: string[]) {
  return run("npm", ...args);
}

function run(command: string, ...args: string[]) {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: "utf8" });
  return { stdout, stderr, status };
}
