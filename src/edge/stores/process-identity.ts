// Identifies the process that wrote something, and whether it may still be running.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Enough about a process to check later whether it still runs. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Machine, boot and process namespace. The pid is only meaningful there. */
  readonly place: string;
  /** The start time in the system's own units. A later process with the same pid has another. */
  readonly started: string | null;
}

export function identifySelf(): ProcessIdentity {
  self ??= {
    pid: process.pid,
    place: [
      hostname(),
      tryRead(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
      tryRead(() => readlinkSync("/proc/self/ns/pid")),
    ].join(" "),
    started: readStart(process.pid)?.started ?? null,
  };
  return self;
}

/** Without boot id or process namespace, name and number may belong to another machine. */
export function isPlaceCertain({ place, started }: ProcessIdentity): boolean {
  return started !== null && place.split(" ").every((part) => part !== "");
}

/** True only if it is certain, given a certain place. */
export function isGone(holder: ProcessIdentity, { place }: ProcessIdentity): boolean {
  if (holder.place !== place) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
  const there = readStart(holder.pid);
  if (there === null || holder.started === null) return false;
  return there.isDead || there.started !== holder.started;
}

let self: ProcessIdentity | null = null;

interface Start {
  readonly started: string;
  /** Ended, but not yet collected by its parent. */
  readonly isDead: boolean;
}

/** Null if the system does not say. */
function readStart(pid: number): Start | null {
  const text = tryRead(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field is the program's name, which may contain anything. The later ones are plain.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, started] = [fields[0], fields[19]];
  if (state === undefined || started === undefined) return null;
  return { started, isDead: state === "Z" || state === "X" };
}

function tryRead(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
