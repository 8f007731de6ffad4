// The folders of recordings behind --traces: DIR holds sessions/ and kv/, or is one of them.
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./report.ts";

export type TraceKind = "sessions" | "kv";

/** At least one is there, otherwise a UsageError says what is wrong with DIR. */
export function findTraces(dir: string): Partial<Record<TraceKind, string>> {
  if (!isFolder(dir)) throw new UsageError(`--traces ${dir}: there is no such folder`);
  const inside = ["sessions" as const, "kv" as const].filter((kind) => holdsTraces(dir, kind));
  if (inside.length > 0) return Object.fromEntries(inside.map((kind) => [kind, join(dir, kind)]));
  const [first] = recordingsIn(dir);
  const kind = first === undefined ? undefined : kindOf(first);
  if (kind !== undefined) return { [kind]: dir };
  throw new UsageError(
    `--traces ${dir} holds no recordings: give the folder with sessions/ (ctx-trace/1) and kv/ (ctx-kv/1), or one of the two`,
  );
}

/** The folder of one kind; a UsageError without it. */
export function traceFolder(traces: string | undefined, kind: TraceKind): string {
  if (traces === undefined) throw new UsageError(`give --traces DIR with ${kind}/ in it`);
  const folder = findTraces(traces)[kind];
  if (folder === undefined) throw new UsageError(`--traces ${traces} holds no ${kind}/`);
  return folder;
}

export function recordingsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl"))
    .toSorted()
    .map((file) => join(folder, file));
}

/** One line of a recording; a UsageError if it is not JSON. */
export function parseTraceLine(line: string, file: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new UsageError(`${file} is no recording: a line is not JSON`);
  }
}

function holdsTraces(dir: string, kind: TraceKind): boolean {
  const folder = join(dir, kind);
  const [first] = isFolder(folder) ? recordingsIn(folder) : [];
  return first !== undefined && kindOf(first) === kind;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** By the start of the file: the header names the format. */
function kindOf(file: string): TraceKind | undefined {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const start = Buffer.alloc(64 * 1024);
  const descriptor = openSync(file, "r");
  const length = readSync(descriptor, start);
  closeSync(descriptor);
  const [, kind] = /"kind":\s*"(session|kvtrace)"/.exec(start.toString("utf8", 0, length)) ?? [];
  return kind === "session" ? "sessions" : kind === "kvtrace" ? "kv" : undefined;
}
