// What a test file must not leave behind: the next file runs in the same process.
import { setTimeout as wait } from "node:timers/promises";

/** By name. What differs after a file was left behind by it. */
type ProcessState = ReadonlyMap<string, unknown>;

export function describeProcess(): ProcessState {
  const open = process.getActiveResourcesInfo();
  const count = (kind: string): number => open.filter((each) => each === kind).length;
  return new Map<string, unknown>([
    ["the current folder", process.cwd()],
    ["the mask of new files", process.umask()],
    ...[...ends].map(([name, kind]) => [name, count(kind)] as const),
    ...Object.entries(process.env).map(([name, value]) => [`the variable ${name}`, value] as const),
    ...Object.entries(replaceable).map(([name, get]) => [`the global ${name}`, get()] as const),
    ...["uncaughtException", "unhandledRejection"].map(
      (event) => [`listeners for ${event}`, process.listenerCount(event)] as const,
    ),
  ]);
}

/** Node's words for what is closed a moment after a test has said so. */
const ends = new Map([
  ["servers that listen", "TCPServerWrap"],
  ["programs that run", "ProcessWrap"],
]);

const replaceable = {
  Date: () => Date,
  fetch: () => fetch,
  setTimeout: () => setTimeout,
  setInterval: () => setInterval,
  setImmediate: () => setImmediate,
  "Math.random": () => Math.random,
};

/** What was left behind since `before`. Servers and programs that are about to end were not. */
export async function findLeftovers(before: ProcessState): Promise<readonly string[]> {
  for (const endMs = performance.now() + endMsMax; ; await wait(5)) {
    const after = describeProcess();
    const names = new Set([...before.keys(), ...after.keys()]);
    const left = [...names].filter((name) => before.get(name) !== after.get(name));
    const isEnding = left.length > 0 && left.every((name) => ends.has(name));
    if (!isEnding || performance.now() > endMs) return left;
  }
}

const endMsMax = 5000;
