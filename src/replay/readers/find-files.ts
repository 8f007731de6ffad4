// Finds files that may contain a recording.
import { messageOf } from "../../core/strata-error.ts";
import { readdir, realpath, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { findSessions } from "./opencode/opencode-storage.ts";

export type FoundFile =
  | {
      readonly type: "file";
      readonly path: string;
      readonly bytes: number;
      /** If the path is a folder with the messages of one session: where the folders of their parts are. */
      readonly partsIn?: string;
    }
  | { readonly type: "unusable"; readonly path: string; readonly reason: string };

const extensions = [".jsonl", ".ndjson", ".json"];

/**
 * Searches folders recursively in code-unit order. A file that the user names can have any extension. A file
 * reached again through links or overlapping paths is found once.
 */
export async function findFiles(paths: readonly string[]): Promise<FoundFile[]> {
  const seen = new Set<string>();
  const found: FoundFile[] = [];
  for (const path of paths) await visit(path, "named", { seen, found });
  return found;
}

interface Search {
  readonly seen: Set<string>;
  readonly found: FoundFile[];
}

async function visit(path: string, how: "named" | "met", search: Search): Promise<void> {
  const isWanted = how === "named" || extensions.includes(extname(path).toLowerCase());
  try {
    const facts = await stat(path);
    if (!facts.isDirectory() && !isWanted) return;
    const real = await realpath(path);
    if (search.seen.has(real)) return unusable(path, "it was found under another path", search);
    search.seen.add(real);
    const sessions = facts.isDirectory() ? await findSessions(path) : null;
    if (sessions !== null) {
      for (const session of sessions) {
        const folder = await realpath(session.path);
        // The folder that was named may itself be that of a session.
        if (folder !== real && search.seen.has(folder)) {
          unusable(session.path, "it was found under another path", search);
        } else search.found.push({ type: "file", ...session });
        search.seen.add(folder);
      }
    } else if (facts.isDirectory()) {
      const names = (await readdir(path)).toSorted((left, right) => (left < right ? -1 : 1));
      for (const name of names) await visit(join(path, name), "met", search);
    } else if (facts.isFile()) {
      search.found.push({ type: "file", path, bytes: facts.size });
    } else {
      unusable(path, "it is not a file", search);
    }
  } catch (cause) {
    // A broken link with a name that would not have been read.
    const isNothing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (isWanted || !isNothing) unusable(path, failureText(cause), search);
  }
}

function unusable(path: string, reason: string, { found }: Search): void {
  found.push({ type: "unusable", path, reason });
}

export function failureText(cause: unknown): string {
  return `it cannot be read: ${messageOf(cause)}`;
}
