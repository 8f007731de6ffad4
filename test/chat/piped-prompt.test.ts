// Goal: `-p` in a shell. Method: the program in a process of its own, behind pipes of bash, with the simulated agent.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram, type Ended } from "../run-strata.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-piped-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function shell(line: string): Ended {
  const env = { HOME: folder, STRATA_DATA_DIR: folder, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" };
  const strata = `"${process.execPath}" src/cli/main.ts`;
  const command = line.replaceAll("strata", strata);
  return runProgram(join(folder, "ledger.db"), "bash", ["-c", command], { env });
}

test("piped input follows the prompt", () => {
  const { out } = shell(`printf 'one\\ntwo\\n' | strata chat -p "Review this" --json`);
  const events: Record<string, unknown>[] = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.find(({ type }) => type === "said")).toEqual({
    type: "said",
    text: "Review this\n\none\ntwo\n",
  });
});

test("a reader that closes early ends the program without an error", () => {
  const { out, error } = shell(
    `strata chat -p "What is here?" --json < /dev/null | head -n 1; echo "status \${PIPESTATUS[0]}"`,
  );
  expect(out).toMatch(/^\{"type":"notice".*\}\nstatus 0\n$/);
  expect(error).not.toMatch(/EPIPE|at .*:\d+:\d+/);
});

test("an empty prompt is refused with a hint", () => {
  const { status, error } = shell(`strata chat -p "" < /dev/null`);
  expect(status).toBe(2);
  expect(error).toBe("strata: the prompt is empty\n  give one: strata chat -p PROMPT\n");
});
