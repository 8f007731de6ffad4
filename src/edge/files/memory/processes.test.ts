// Memory shared by processes that get killed: a write that was acknowledged holds for all.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryStore } from "./memory-store.ts";

let workspace = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "strata-memory-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(workspace, { recursive: true, force: true });
});

/** Runs lines of a module in another process, where `store` is the workspace's memory. */
function start(lines: string): ChildProcess {
  const source = `
    import { openMemoryStore } from ${JSON.stringify(new URL("memory-store.ts", import.meta.url).href)};
    const store = await openMemoryStore(${JSON.stringify(workspace)});
    ${lines}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  return child;
}

async function* linesOf(child: ChildProcess): AsyncGenerator<string> {
  if (child.stdout !== null) yield* createInterface({ input: child.stdout });
}

function onDisk(): readonly string[] {
  return readFileSync(join(workspace, ".strata", "MEMORY.md"), "utf8")
    .trimEnd()
    .split("\n");
}

test("CF-D concurrent writers: three processes lose nothing", async () => {
  const writers = [1, 2, 3].map((writer) =>
    start(
      `for (let n = 1; n <= 8; n += 1) await store.addEntry("MEMORY.md", "writer ${writer} entry " + n);`,
    ),
  );
  const statuses = await Promise.all(writers.map((child) => once(child, "exit")));
  expect(statuses.map(([status]: unknown[]) => status)).toEqual([0, 0, 0]);
  expect(new Set(onDisk()).size).toBe(24);
  expect(readdirSync(join(workspace, ".strata"))).toEqual(["MEMORY.md", "memory-journal"]);
});

test("CF-D crash-safe write: a writer killed at any time leaves a whole file with every acknowledged write", async () => {
  const accepted: string[] = [];
  for (let round = 1; round <= 4; round += 1) {
    const child = start(`for (let n = 1; ; n += 1) {
      const entry = "round ${round} entry " + n;
      await store.addEntry("MEMORY.md", entry);
      process.stdout.write(entry + "\\n");
    }`);
    for await (const entry of linesOf(child)) {
      accepted.push(entry);
      if (accepted.length % 5 === 0) child.kill("SIGKILL");
    }
  }
  const lines = onDisk();
  expect(accepted.filter((entry) => !lines.includes(entry))).toEqual([]);
  expect(lines.every((line) => /^round \d entry \d+$/.test(line))).toBe(true);
  const store = await openMemoryStore(workspace);
  expect(await store.addEntry("MEMORY.md", "after all")).toMatchObject({ kind: "written" });
});

test("a process that stops while it holds the lock blocks others only briefly, and cannot write when it goes on", async () => {
  const child = start(`
    const { holdLock } = await import(${JSON.stringify(new URL("folder-lock.ts", import.meta.url).href)});
    await store.addEntry("MEMORY.md", "first");
    const at = (name) => ${JSON.stringify(workspace)} + "/.strata/memory-journal/" + name;
    const folder = { self: at("."), at, check: async () => {}, sync: async () => {}, close: async () => {} };
    const lock = await holdLock(folder, { lifetimeMs: 300, waitMsMax: 1000 });
    await lock.stage("MEMORY.md", "overwritten\\n", 0o600);
    process.once("SIGCONT", () => {
      process.stdout.write("late " + lock.commit("MEMORY.md", at("../MEMORY.md")) + "\\n");
      process.exit(0);
    });
    setInterval(() => {}, 1000);
    process.stdout.write("held\\n");`);
  const said: string[] = [];
  const store = await openMemoryStore(workspace);
  for await (const line of linesOf(child)) {
    said.push(line);
    if (line !== "held") continue;
    child.kill("SIGSTOP");
    await store.addEntry("MEMORY.md", "second");
    child.kill("SIGCONT");
  }
  expect(said).toEqual(["held", "late false"]);
  expect(onDisk()).toEqual(["first", "second"]);
});
