// A process that gives hostile inputs to one door after another. The run watches it, and kills it where it hangs.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { findPlanted } from "../../harness/planted-key.ts";
import { createRandom, type Random } from "../../harness/random-message.ts";
import { makeCanary } from "./canary.ts";
import { judgeError, judgeRefusal, textsOf, type Door, type Fault, type OpenDoor } from "./door.ts";
import {
  hangMs,
  type Chunk,
  type ChunkTally,
  type WorkerMessage,
  type WorkerTask,
} from "./messages.ts";

const task: WorkerTask = JSON.parse(process.argv[2] ?? "{}");
const state = openSync(task.stateFile, "w");
const bytes = Buffer.alloc(8);
let current = { door: "", number: -1 };

function mark(door: string, number: number): void {
  current = { door, number };
  bytes.writeDoubleLE(number);
  writeSync(state, bytes, 0, 8, 0);
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}

function report(kind: Fault["kind"], detail: string): void {
  send({ type: "fault", fault: { ...current, kind, detail } });
}

for (const event of ["unhandledRejection", "uncaughtException"] as const) {
  process.on(event, (error: unknown) => report("crash", `${event}: ${textsOf(error).join("; ")}`));
}

mark("", -1);
const canary = makeCanary(task.base);
process.chdir(canary.current);
process.env["HOME"] = canary.home;
const { doors } = (await import(task.module)) as { doors: readonly Door[] };
/** Whether the open door was reset since it was opened. */
let isReset = false;
let opened: { readonly door: Door; readonly inside: OpenDoor } | null = null;

async function openDoor(name: string): Promise<{ door: Door; inside: OpenDoor }> {
  if (opened?.door.name === name) return opened;
  await opened?.inside.close?.();
  const door = doors.find((each) => each.name === name);
  if (door === undefined) throw new Error(`there is no door ${name}`);
  const folder = join(task.base, "doors", name.replaceAll(" ", "-"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  opened = { door, inside: await door.open(folder) };
  isReset = false;
  return opened;
}

async function runChunk({ door: name, from, to, skip }: Chunk): Promise<ChunkTally> {
  mark(name, -1);
  const { door, inside } = await openDoor(name);
  const { block = 1 } = door;
  const tally = { inputs: 0, accepted: 0, refused: 0, slowestMs: 0, slow: [] as number[] };
  for (let number = from; number < to; number += 1) {
    mark(name, number);
    if (number % block === 0 || !isReset) await inside.reset?.();
    isReset = true;
    tally.inputs += 1;
    if (skip.includes(number)) continue;
    const nowMs = to - from === 1 ? readOwnMs : () => performance.now();
    const startMs = nowMs();
    const isAccepted = await attempt(inside, number, createRandom(seedOf(name, number)));
    const ms = nowMs() - startMs;
    tally[isAccepted ? "accepted" : "refused"] += 1;
    tally.slowestMs = Math.max(tally.slowestMs, ms);
    if (ms > hangMs) tally.slow.push(number);
    const touched = door.block === undefined ? null : canary.look();
    if (touched !== null) report("outside", touched);
    // Lets rejections without a handler come up near their input. Doors without effects have no promises.
    if (door.block !== undefined || number % 32 === 0) await setImmediate();
  }
  await setImmediate();
  const touched = canary.compare();
  if (touched !== null) report("outside", touched);
  return tally;
}

/** Without the time for which this thread waited for a processor, where the system tells it: another program had it. */
function readOwnMs(): number {
  try {
    const [, waitedNs] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
    return performance.now() - Number(waitedNs) / 1e6;
  } catch {
    return performance.now();
  }
}

async function attempt(inside: OpenDoor, number: number, random: Random): Promise<boolean> {
  try {
    const made = inside.attempt(random, number);
    const outcome = made instanceof Promise ? await made : made;
    outcome.outputs.forEach(search);
    for (const refusal of outcome.refusals ?? []) {
      const fault = judgeRefusal(refusal);
      if (fault !== null) report(fault.kind, fault.detail);
    }
    return outcome.isAccepted;
  } catch (error) {
    textsOf(error).forEach(search);
    const fault = judgeError(error);
    if (fault !== null) report(fault.kind, fault.detail);
    return false;
  }
}

function search(output: string): void {
  const found = findPlanted(output);
  if (found !== null) report("key", `${found.form}: ${found.near}`);
}

/** Every input has a seed of its own, so that it can be made alone. */
function seedOf(name: string, number: number): number {
  let hash = 2166136261 ^ task.seed;
  for (const character of name) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
  return Math.imul(hash ^ number, 2654435761) >>> 0;
}

process.on("message", (chunk: Chunk) => {
  void runChunk(chunk).then(
    (tally) => send({ type: "done", ...tally }),
    (error: unknown) => {
      report(
        "crash",
        `the door itself failed: ${error instanceof Error ? error.stack : String(error)}`,
      );
      process.exit(1);
    },
  );
});
process.on("disconnect", () => {
  closeSync(state);
  process.exit(0);
});
send({ type: "ready" });
