import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bashTool, type BashOptions } from "./bash-tool.ts";
import { createDispatcher } from "../dispatch/dispatcher.ts";
import { context, makeWorkspace, runOne, type TestWorkspace } from "../test-kit.ts";

let workspace: TestWorkspace;

beforeEach(async () => {
  workspace = await makeWorkspace();
});

afterEach(() => workspace.remove());

function bash(
  input: Record<string, unknown>,
  options: BashOptions = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  const { files } = workspace;
  const dispatcher = createDispatcher({ tools: [bashTool(files, options)], workspace: files });
  return runOne(dispatcher, "bash", input, { ...context, signal });
}

/** Waits for the end of the process whose id a command wrote into a file. */
async function isGone(name: string): Promise<boolean> {
  const pid = Number(readFileSync(join(workspace.root, name), "utf8"));
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    // A process that its parent has not collected still exists as a zombie.
    if (isZombie(pid)) return true;
    await sleep(20);
  }
  return false;
}

function isZombie(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && /\) Z /.test(readFileSync(file, "utf8"));
}

test("both streams and the exit status are in the result, in the workspace's folder", async () => {
  expect(await bash({ command: "pwd; echo oops >&2; exit 3" })).toBe(
    `error: ${workspace.root}\noops\n[failed: exit status 3]`,
  );
  expect(await bash({ command: "true" })).toBe("[exit status 0]");
  expect(await bash({ command: "printf x; kill -9 $$" })).toBe(
    "error: x\n[failed: ended by SIGKILL]",
  );
});

test("there is no input to wait for", async () => {
  expect(await bash({ command: "cat; read x || echo none" })).toBe("none\n[exit status 0]");
});

test("only allowed variables are seen, so no secrets", async () => {
  const env = { PATH: "/usr/bin:/bin", HOME: "/home/x", API_KEY: "sk-secret", LANG: "C" };
  const seen = await bash({ command: "env | cut -d= -f1 | sort | xargs" }, { env });
  expect(seen).toBe("HOME LANG PATH PWD SHLVL _\n[exit status 0]");
  const own = await bash({ command: "echo $API_KEY" }, { env, envAllowed: ["API_KEY"] });
  expect(own).toBe("sk-secret\n[exit status 0]");
});

test("a command that takes too long is ended with everything it started", async () => {
  const command = "echo begun; sleep 300 & echo $! > child; trap '' TERM; wait; sleep 300";
  expect(await bash({ command, timeout_seconds: 1 }, { killMs: 100 })).toBe(
    "error: timeout: the command was ended after 1 s. Until then:\nbegun\n",
  );
  expect(await isGone("child")).toBe(true);
});

test("a command is cancelled with everything it started", async () => {
  const command = "sleep 300 & echo $! > child; echo begun; touch ready; wait";
  const controller = new AbortController();
  const ran = bash({ command }, {}, controller.signal);
  while (!existsSync(join(workspace.root, "ready"))) await sleep(10);
  controller.abort();
  expect(await ran).toBe("error: cancelled: the command was cancelled. Until then:\nbegun\n");
  expect(await isGone("child")).toBe(true);
});

test("what is left in the background ends with the command, whether it holds the output or not", async () => {
  expect(await bash({ command: "sleep 300 & echo $! > child; echo done" })).toBe(
    "done\n[exit status 0; what still ran in the background was ended]",
  );
  expect(await isGone("child")).toBe(true);
  const quiet = "sleep 300 > /dev/null 2>&1 & echo $! > child; echo done";
  expect(await bash({ command: quiet })).toContain("what still ran in the background was ended");
  expect(await isGone("child")).toBe(true);
});

test("of output without end the beginning and the latest are kept, and memory stays bounded", async () => {
  const { files } = workspace;
  const tools = [bashTool(files, { outputBytesMax: 100_000 })];
  const limits = { outputBytesMax: 1_000_000 };
  const dispatcher = createDispatcher({ tools, workspace: files, limits });
  const text = await runOne(dispatcher, "bash", { command: "seq 1 3000000" });
  expect(text.startsWith("1\n2\n3\n")).toBe(true);
  expect(text).toMatch(
    /2999999\n3000000\n\[exit status 0; \d+ bytes of its output were not kept\]$/,
  );
  const gap = /\[(\d+) bytes of output were not kept\]/.exec(text);
  expect(Number(gap?.[1])).toBeGreaterThan(20_000_000);
  expect(text.length).toBeLessThan(101_000);
});

test("a process that left the group of the command is not reported as ended", async () => {
  // Holds the output open longer than the tool waits for it.
  const command = "setsid sleep 60 & echo $! > child; echo done";
  expect(await bash({ command })).toBe(
    "done\n[exit status 0; something it started left its process group and still runs]",
  );
  expect(endChild()).toBe(true);
  const late = "setsid sleep 60 & echo $! > child; sleep 300";
  expect(await bash({ command: late, timeout_seconds: 1 })).toBe(
    "error: timeout: the command was ended after 1 s; something it started left its process group and still runs. Until then:\n",
  );
  expect(endChild()).toBe(true);
});

/** True if it still ran. */
function endChild(): boolean {
  return process.kill(Number(readFileSync(join(workspace.root, "child"), "utf8")));
}

test("a command longer than the system takes is refused, counted in bytes", async () => {
  expect(await bash({ command: `echo ${"é".repeat(70_000)}` })).toBe(
    "error: validation_error: the command has 140005 bytes; 131071 are taken at most: write it to a file and run that",
  );
  const longest = `: ${"x".repeat(131_069)}`;
  expect(await bash({ command: longest })).toBe("[exit status 0]");
});

test("a command that is none, or that bash cannot be started for, is an error", async () => {
  expect(await bash({ command: "echo \0" })).toContain("error: validation_error");
  expect(await bash({ command: "no-such-program" })).toContain("[failed: exit status 127]");
  const nowhere = await bash({ command: "true" }, { env: { PATH: "/nowhere" } });
  expect(nowhere).toContain("error: execution_error: bash cannot be started (ENOENT)");
});
