// The folders of recordings behind --traces: DIR holds sessions/ and kv/, or is one of them.
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./report.ts";

export type TraceKind = "sessions" | "kv";

/** At least one is there, otherwise a UsageError says what is wrong with DIR. */
export function findTraces(dir: string): Partial<Record<TraceKind, string>> {
  if (!isFolder(dir)) throw new UsageError(`--traces ${dir}: there is no such folder`);
  const inside = ["sessions" as const, "kv" as const].filter((kind) => holdsTraces(dir, kind));
  const [first] = recordingsIn(dir);
  const own = first === undefined || inside.length > 0 ? undefined : kindOf(first);
  const found: Partial<Record<TraceKind, string>> =
    own === undefined
      ? Object.fromEntries(inside.map((kind) => [kind, join(dir, kind)]))
      : { [own]: dir };
  for (const folder of Object.values(found)) {
    if (recordingsIn(folder).some(hasRequests)) continue;
    throw new UsageError(`--traces ${dir}: the recordings in ${folder} hold no request`);
  }
  if (Object.keys(found).length > 0) return found;
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

/** Half of the recordings of a folder; sessions of one repository are never in both. */
export interface TraceHalf {
  readonly repositories: readonly string[];
  readonly files: readonly string[];
}

/**
 * Halves of about the same number of bytes; one half if there is one repository. Figures of both show whether a rule
 * fits only the sessions it was made for.
 */
export function splitByRepository(folder: string): readonly TraceHalf[] {
  const byName = new Map<string, { files: string[]; bytes: number }>();
  for (const file of recordingsIn(folder)) {
    const name = repositoryOf(file);
    const own = byName.get(name) ?? { files: [], bytes: 0 };
    own.files.push(file);
    own.bytes += statSync(file).size;
    byName.set(name, own);
  }
  const largestFirst = [...byName].toSorted(([, left], [, right]) => right.bytes - left.bytes);
  const halves = [0, 1].map(() => ({
    repositories: [] as string[],
    files: [] as string[],
    bytes: 0,
  }));
  for (const [name, { files, bytes }] of largestFirst) {
    const [smaller] = halves.toSorted((left, right) => left.bytes - right.bytes);
    smaller?.repositories.push(name);
    smaller?.files.push(...files);
    if (smaller !== undefined) smaller.bytes += bytes;
  }
  return halves.filter(({ files }) => files.length > 0);
}

/** A recording whose header names no repository is one of its own. */
function repositoryOf(file: string): string {
  return /"repo":\s*"([^"]*)"/.exec(startOf(file))?.[1] ?? file;
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
  const [, kind] = /"kind":\s*"(session|kvtrace)"/.exec(startOf(file)) ?? [];
  return kind === "session" ? "sessions" : kind === "kvtrace" ? "kv" : undefined;
}

/** Whether anything follows the header. */
function hasRequests(file: string): boolean {
  return /\n\s*\S/.test(startOf(file));
}

function startOf(file: string): string {
  const start = Buffer.alloc(64 * 1024);
  const descriptor = openSync(file, "r");
  const length = readSync(descriptor, start);
  closeSync(descriptor);
  return start.toString("utf8", 0, length);
}
