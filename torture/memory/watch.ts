// Checks a workspace continuously: the file is one complete version with all accepted entries, and no lock stays.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { checkText } from "./entry.ts";
import type { WriterEvent } from "./writer-task.ts";

export interface Account {
  /** Entries whose writes were acknowledged. */
  readonly accepted: Set<string>;
  /** Entries of writes without a known outcome. */
  readonly tried: Set<string>;
  /** Versions replaced by an accepted write; no second write may replace the same version. */
  readonly replaced: Set<string>;
  readonly problems: string[];
  /** Pids of running processes that are about to write. */
  readonly waiting: Set<number>;
  writes: number;
  refused: number;
  isFull: boolean;
}

export function openAccount(): Account {
  return {
    accepted: new Set(),
    tried: new Set(),
    replaced: new Set(),
    problems: [],
    waiting: new Set(),
    writes: 0,
    refused: 0,
    isFull: false,
  };
}

export function noteEvent(account: Account, pid: number, event: WriterEvent): void {
  if (event.at === "try") account.waiting.add(pid);
  else account.waiting.delete(pid);
  switch (event.at) {
    case "try":
      if (event.entry !== null) account.tried.add(event.entry);
      return;
    case "done":
      account.writes += 1;
      if (event.entry !== null) account.accepted.add(event.entry);
      if (account.replaced.has(event.before) && event.before !== event.after) {
        account.problems.push(`two accepted writes replaced the same version`);
      }
      account.replaced.add(event.before);
      return;
    case "refused":
      account.refused += 1;
      return;
    case "full":
      account.isFull = true;
      return;
    case "problem":
      account.problems.push(`a writer gave up: ${event.message}`);
      return;
    case "ready":
  }
}

export interface Look {
  readonly torn: string | null;
  readonly lost: readonly string[];
  readonly strays: readonly string[];
}

/** The file must contain every entry accepted before it is read. */
export function lookAt(workspace: string, account: Account): Look {
  const due = [...account.accepted];
  const { entries, problem } = checkText(readText(join(workspace, ".strata", "MEMORY.md")));
  const there = new Set(entries);
  return {
    torn: problem,
    lost: due.filter((entry) => !there.has(entry)),
    strays: entries.filter((entry) => !account.tried.has(entry)),
  };
}

export interface Watched {
  looks: number;
  torn: number;
  lost: number;
  lockMsMax: number;
  locksSeen: number;
}

/** Until `isOver`. */
export async function watch(
  workspace: string,
  account: Account,
  watched: Watched,
  isOver: () => boolean,
): Promise<void> {
  let lock = { token: "", sinceMs: 0 };
  while (!isOver()) {
    const { torn, lost } = lookAt(workspace, account);
    watched.looks += 1;
    if (torn !== null) watched.torn += 1;
    if (lost.length > 0) watched.lost += 1;
    const token = tokenOf(workspace);
    const holder = holderPid(workspace);
    const now = performance.now();
    // A lock matters only if another writer waits for it.
    const isWanted = [...account.waiting].some((pid) => pid !== holder);
    if (token !== "" && token === lock.token && isWanted) {
      watched.lockMsMax = Math.max(watched.lockMsMax, now - lock.sinceMs);
    } else {
      if (token !== "" && token !== lock.token) watched.locksSeen += 1;
      lock = { token, sinceMs: now };
    }
    await wait(2);
  }
}

/** The pid of the lock holder for both kinds of stores; null if unknown or not held. */
export function holderPid(workspace: string): number | null {
  const token = tokenOf(workspace);
  const own = readText(
    join(workspace, ".strata", "memory-journal", "lock", token || "-", "holder.json"),
  );
  const [, pid] = /"pid":(\d+)/.exec(own) ?? [];
  const found = Number(pid ?? readText(join(workspace, ".strata", "lock")));
  return found > 0 ? found : null;
}

function tokenOf(workspace: string): string {
  try {
    return readdirSync(join(workspace, ".strata", "memory-journal", "lock"))[0] ?? "";
  } catch {
    return "";
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
