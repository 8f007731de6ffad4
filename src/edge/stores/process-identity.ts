// Which process wrote something, and whether it can still be at work.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process, so that others can tell whether it is still there. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Machine, its boot and its process numbering: only there does the pid mean anything. */
  readonly place: string;
  /** When it began, in the system's own counting; a later process of the same pid began at another time. */
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

/** Where the system tells neither its boot nor its process numbering, a name and a number may be another machine's. */
export function isPlaceCertain({ place, started }: ProcessIdentity): boolean {
  return started !== null && place.split(" ").every((part) => part !== "");
}

/** True only where it is certain, if the place is. */
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
  /** Ended, and nobody has asked how yet. */
  readonly isDead: boolean;
}

/** Null where the system does not tell. */
function readStart(pid: number): Start | null {
  const text = tryRead(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field is the program's name, which may hold anything; those after it are plain.
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
