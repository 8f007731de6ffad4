// The guard while a worker keeps replacing a folder and a file by links that lead outside.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { ToolError } from "../../../core/tools/tool.ts";
import { openScope, type ScopedFiles } from "./scoped-files.ts";
import { isLeftover } from "./scoped-write.ts";

const runMs = 1000;

test.runIf(existsSync("/proc/self/fd"))(
  "a second of swaps: nothing outside is shown, made or changed, and what is inside is still served",
  async () => {
    const base = mkdtempSync(join(tmpdir(), "strata-swapped-"));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    const [root, outside] = [join(base, "workspace"), join(base, "outside")];
    for (const folder of [join(root, "swap"), outside]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(outside, "secret.txt"), "SECRET");
    writeFileSync(join(root, "swap/secret.txt"), "inside");
    const before = fingerprintOf(outside);
    const files = await openScope(root);
    const swapper = await startSwapper(root, outside);
    const tally = { served: 0, refused: 0, leaks: 0 };
    const endMs = performance.now() + runMs;
    await Promise.all([0, 1, 2].map((lane) => useFiles(files, lane, endMs, tally)));
    const swapCount = await swapper.stop();
    expect([tally.leaks, fingerprintOf(outside)]).toEqual([0, before]);
    expect(swapCount).toBeGreaterThan(10);
    expect(tally.served).toBeGreaterThan(0);
    expect(tally.refused).toBeGreaterThan(0);
    expect(readdirSync(join(root, "swap")).filter(isLeftover)).toEqual([]);
  },
);

interface Tally {
  served: number;
  refused: number;
  leaks: number;
}

async function useFiles(
  files: ScopedFiles,
  lane: number,
  endMs: number,
  tally: Tally,
): Promise<void> {
  for (let turn = lane; performance.now() < endMs; turn += 1) {
    try {
      if ((await operate(files, turn)).includes("SECRET")) tally.leaks += 1;
      tally.served += 1;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      tally.refused += 1;
    }
  }
}

async function operate(files: ScopedFiles, turn: number): Promise<string> {
  const path = turn % 2 === 0 ? "swap/secret.txt" : "flip.txt";
  switch (turn % 5) {
    case 0:
    case 1: {
      const file = await files.readFile(path, { bytesMax: 100 });
      return Buffer.from(file?.bytes ?? []).toString();
    }
    case 2:
      await files.writeFile(`swap/new${turn % 3}`, "inside");
      return "";
    case 3:
      await files.writeFile("swap/deep/er", "inside");
      return "";
    default:
      return (await files.list("swap")).map(({ size }) => (size === 6 ? "" : "?")).join();
  }
}

/** Includes the folder's times, so that files made there and removed again count. */
function fingerprintOf(folder: string): string {
  const { mtimeMs, ctimeMs, ino } = lstatSync(folder);
  const inside = readdirSync(folder).map((name) => {
    const path = join(folder, name);
    return [
      name,
      lstatSync(path).mtimeMs,
      lstatSync(path).isFile() ? readFileSync(path, "utf8") : "",
    ];
  });
  return JSON.stringify([mtimeMs, ctimeMs, ino, inside]);
}

async function startSwapper(root: string, outside: string): Promise<{ stop(): Promise<number> }> {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(swapperSource, { eval: true, workerData: { root, outside, cells } });
  const ended = new Promise<void>((resolve) => {
    worker.once("exit", () => resolve());
  });
  await new Promise((resolve) => worker.once("message", resolve));
  return {
    stop: async () => {
      Atomics.store(cells, 1, 1);
      await ended;
      return Atomics.load(cells, 0);
    },
  };
}

/** Writers may create a new folder while ours is away; it is removed. Ends with ours in its place. */
const swapperSource = `
const { renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } = require("node:fs");
const { parentPort, workerData: { root, outside, cells } } = require("node:worker_threads");
const [folder, real, file] = ["swap", "real", "flip.txt"].map((name) => root + "/" + name);
const attempt = (work) => { try { work(); } catch {} };
parentPort.postMessage("ready");
while (Atomics.load(cells, 1) === 0) {
  attempt(() => writeFileSync(file, "inside", { flag: "wx" }));
  attempt(() => renameSync(folder, real));
  attempt(() => {
    symlinkSync(outside, folder);
    Atomics.add(cells, 0, 1);
  });
  attempt(() => unlinkSync(file));
  attempt(() => symlinkSync(outside + "/secret.txt", file));
  attempt(() => unlinkSync(file));
  attempt(() => rmSync(folder, { recursive: true, force: true }));
  attempt(() => renameSync(real, folder));
}
`;
