// Where memory lives in a workspace: one folder, for reading and for writing.
import { lstat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { memoryBytesMax, memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { openRoot } from "../guard/open-root.ts";
import { isOther, unlessMissing } from "../guard/scoped-failure.ts";
import type { ScopeRoot } from "../guard/scoped-folder.ts";
import { withFolder, type HeldFolder } from "./held-folder.ts";
import { isMoving } from "./move-marker.ts";

export type MemoryFolder = ".strata" | ".metis";

export interface MemoryPlace {
  readonly folder: MemoryFolder;
  /** Memory files in the other folder, which are not read. */
  readonly ignored: readonly string[];
}

/** The workspace must exist. `~` is the home folder. */
export function openMemoryRoot(workspacePath: string): Promise<ScopeRoot> {
  const expanded = /^~(?=$|[\\/])/.test(workspacePath)
    ? join(homedir(), workspacePath.slice(1))
    : workspacePath;
  return openRoot(resolve(expanded));
}

/**
 * `.strata`, unless only `.metis` exists. If both exist, the one with memory: other things live in these
 * folders too, and creating one of them must not hide memory. During a move, memory is still in the old folder.
 */
export async function findMemoryPlace(root: ScopeRoot): Promise<MemoryPlace> {
  const own = await filesIn(root, ".strata");
  if (own !== null && own.length > 0) {
    const other = (await filesIn(root, ".metis").catch(() => null)) ?? [];
    // Checked last: if the move ended meanwhile, everything is in its new place.
    if (other.length > 0 && (await isMoving(root))) return { folder: ".metis", ignored: [] };
    return { folder: ".strata", ignored: other.map((file) => `.metis/${file}`) };
  }
  const seed = await filesIn(root, ".metis");
  if (seed !== null && (seed.length > 0 || own === null)) return { folder: ".metis", ignored: [] };
  if (own === null) await requireFree(root, ".strata");
  return { folder: ".strata", ignored: [] };
}

/** Null if there is no such folder. */
async function filesIn(root: ScopeRoot, name: MemoryFolder): Promise<readonly MemoryFile[] | null> {
  return withFolder(root, [name], false, async (folder) => {
    if (folder === null) return null;
    const found: MemoryFile[] = [];
    for (const file of memoryFiles) {
      if ((await lstat(folder.at(file)).catch(unlessMissing)) !== null) found.push(file);
    }
    return found;
  });
}

/** A missing folder can be created, unless a file has its name. */
async function requireFree(root: ScopeRoot, name: MemoryFolder): Promise<void> {
  await withFolder(root, [], false, async (workspace) => {
    const there = workspace === null ? null : await lstat(workspace.at(name)).catch(unlessMissing);
    if (there !== null && !there.isDirectory()) throw isOther(name, "file");
  });
}

/** Null if the file is missing. Refuses non-text: writing it back would change it. */
export async function readMemoryText(
  folder: HeldFolder | null,
  path: string,
  file: MemoryFile,
): Promise<string | null> {
  if (folder === null) return null;
  const content = await folder.read(file, memoryBytesMax);
  if (content === null) return null;
  if (content.size > memoryBytesMax) {
    throw unusable(`${path} has ${content.size} bytes, far more than memory may hold`);
  }
  try {
    return utf8.decode(content.bytes);
  } catch (cause) {
    throw unusable(`${path} is not UTF-8 text`, cause);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function unusable(message: string, cause?: unknown): ToolError {
  return new ToolError("execution_error", `${message}; correct it by hand`, {
    cause,
    isUserVisible: true,
  });
}
