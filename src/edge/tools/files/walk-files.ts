// The files below a folder in name order. Does not follow links, and counts what it skips.
import { namesInGlob, readGlob, type Glob, type GlobState } from "../../../core/tools/glob.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedEntry, ScopedFiles } from "../../files/guard/scoped-files.ts";
import { stateFolders } from "../../files/workspace-folders.ts";

export interface FoundFile {
  /** Relative to the workspace's root. */
  readonly path: string;
  readonly size: number;
}

export interface FilesToWalk {
  readonly folder: string;
  /** Matched relative to the folder. */
  readonly glob: Glob;
  /** Folder names that are skipped everywhere. */
  readonly foldersSkipped: ReadonlySet<string>;
  readonly entriesMax: number;
  readonly signal: AbortSignal;
}

/** What was skipped. Filled during the walk. */
export interface WalkNotes {
  readonly foldersSkipped: Set<string>;
  symlinkCount: number;
  /** Pipes, sockets and devices. */
  specialCount: number;
  /** Folders that vanished, changed or are not readable. */
  unreadableCount: number;
  /** Folders that are too deep. */
  deepCount: number;
  isCutShort: boolean;
}

/** Rarely searched on purpose: they hold more files than everything else, or old versions and results of the agent itself. */
const foldersRarelyMeant: readonly string[] = [".git", "node_modules", ...stateFolders];

/** Those that no pattern or path names. */
export function foldersToSkip(...asked: readonly string[]): ReadonlySet<string> {
  const names = new Set(asked.flatMap(namesInGlob));
  return new Set(foldersRarelyMeant.filter((name) => !names.has(name)));
}

export function openNotes(): WalkNotes {
  const counts = { symlinkCount: 0, specialCount: 0, unreadableCount: 0, deepCount: 0 };
  return { foldersSkipped: new Set(), ...counts, isCutShort: false };
}

/** With `isAnywhere`, a pattern without a slash matches at any depth. */
export function requireGlob(pattern: string, isAnywhere: boolean): Glob {
  const wanted = isAnywhere && !pattern.includes("/") ? `**/${pattern}` : pattern;
  const { glob, problem } = readGlob(wanted);
  if (glob !== null) return glob;
  throw new ToolError("validation_error", `the pattern ${problem}`);
}

/** Throws the signal's reason once aborted: the result so far would be incomplete. */
export async function* walkFiles(
  workspace: ScopedFiles,
  walk: FilesToWalk,
  notes: WalkNotes,
): AsyncGenerator<FoundFile> {
  const start = workspace.nameOf(walk.folder);
  const open: Level[] = [
    await openLevel(workspace, start === "." ? "" : start, walk.glob.start, null, notes),
  ];
  let seen = 0;
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const entry = level.entries[level.next];
    level.next += 1;
    if (entry === undefined) {
      open.pop();
      continue;
    }
    seen += 1;
    walk.signal.throwIfAborted();
    if (seen > walk.entriesMax) {
      notes.isCutShort = true;
      return;
    }
    const path = level.folder === "" ? entry.name : `${level.folder}/${entry.name}`;
    const state = walk.glob.step(level.state, entry.name);
    if (entry.kind === "symlink") notes.symlinkCount += 1;
    else if (entry.kind === "other") notes.specialCount += 1;
    else if (entry.kind === "file" && walk.glob.isMatch(state)) yield { path, size: entry.size };
    else if (entry.kind === "folder" && state.size > 0) {
      if (walk.foldersSkipped.has(entry.name)) notes.foldersSkipped.add(entry.name);
      else if (open.length < depthMax)
        open.push(await openLevel(workspace, path, state, level, notes));
      else notes.deepCount += 1;
    }
  }
}

/** What a result says about skipped parts. Empty if there are none. */
export function describeNotes(notes: WalkNotes): readonly string[] {
  const { foldersSkipped, symlinkCount, specialCount, unreadableCount, deepCount } = notes;
  return [
    ...(foldersSkipped.size === 0 ? [] : [`not looked into: ${[...foldersSkipped].join(", ")}`]),
    ...(symlinkCount === 0 ? [] : [`${symlinkCount} symbolic links not followed`]),
    ...(specialCount === 0 ? [] : [`${specialCount} pipes, sockets or devices passed over`]),
    ...(unreadableCount === 0 ? [] : [`${unreadableCount} folders could not be read`]),
    ...(deepCount === 0 ? [] : [`${deepCount} folders more than ${depthMax} deep not looked into`]),
    ...(notes.isCutShort ? ["too many entries: the rest was not looked at"] : []),
  ];
}

const depthMax = 64;

interface Level {
  readonly folder: string;
  readonly entries: readonly ScopedEntry[];
  readonly state: GlobState;
  next: number;
}

async function openLevel(
  workspace: ScopedFiles,
  folder: string,
  state: GlobState,
  parent: Level | null,
  notes: WalkNotes,
): Promise<Level> {
  try {
    return { folder, entries: await workspace.list(folder === "" ? "." : folder), state, next: 0 };
  } catch (error) {
    // The requested folder must exist. Folders below may vanish during the walk.
    if (parent === null || !(error instanceof ToolError)) throw error;
    notes.unreadableCount += 1;
    return { folder, entries: [], state, next: 0 };
  }
}
