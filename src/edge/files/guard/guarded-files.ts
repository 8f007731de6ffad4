// Files inside a scope that no tool may touch: what the live configuration reads, and the ledger. Found by inode, so that
// hard links count, and by place where the file does not exist yet.
import { lstat, readlink, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { ToolError } from "../../../core/tools/tool.ts";
import { isSameName, spell } from "./scoped-path.ts";

export interface GuardedFiles {
  /** Throws a `ToolError` for a guarded file. */
  refuseFile(stats: Identity, path: string): Promise<void>;
  /** Throws a `ToolError` if a guarded file would appear under this name. */
  refuseNew(folder: Identity, name: string, path: string): Promise<void>;
}

/** What makes two names the same file. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** `paths` are absolute; links in them are followed, and they need not exist. */
export function createGuardedFiles(
  paths: () => readonly string[],
  nowMs: () => number = () => performance.now(),
): GuardedFiles {
  let kept: { readonly atMs: number; readonly ids: Promise<ReadonlySet<string>> } | null = null;
  const known = (): Promise<ReadonlySet<string>> => {
    if (kept === null || nowMs() - kept.atMs > keptMs)
      kept = { atMs: nowMs(), ids: idsOf(paths()) };
    return kept.ids;
  };
  return {
    refuseFile: async (stats, path) => {
      if ((await known()).has(idOf(stats))) throw refused(path);
    },
    refuseNew: async (folder, name, path) => {
      for (const each of paths()) {
        const place = await followLinks(each);
        if (!isSameName(name, basename(place))) continue;
        const parent = await stat(dirname(place), { bigint: true }).catch(() => null);
        if (parent !== null && idOf(parent) === idOf(folder)) throw refused(path);
      }
    },
  };
}

/** A search over many files asks for each of them. A file that is replaced is known again after this time. */
const keptMs = 100;

async function idsOf(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const all = await Promise.all(
    paths.map((path) => stat(path, { bigint: true }).catch(() => null)),
  );
  return new Set(all.filter((stats) => stats !== null).map(idOf));
}

function idOf({ dev, ino }: Identity): string {
  return `${dev}:${ino}`;
}

/** Where a file would appear that is written through the path, also behind a link that leads nowhere yet. */
async function followLinks(path: string): Promise<string> {
  let place = path;
  for (let step = 0; step < linksMax; step += 1) {
    const stats = await lstat(place).catch(() => null);
    if (stats?.isSymbolicLink() !== true) return place;
    place = resolve(dirname(place), await readlink(place).catch(() => "."));
  }
  return place;
}

/** As many as Linux follows. */
const linksMax = 40;

function refused(path: string): ToolError {
  return new ToolError(
    "permission_denied",
    `${spell(path)} is a file of Strata itself, its configuration or its ledger; tools neither read nor write it`,
  );
}
