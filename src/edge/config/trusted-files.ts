// Files of the user's configuration that lie in a workspace, where an agent may write them: which contents of them count.
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { hashContent } from "../../core/hash.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";

/** Decides about each content of a file before it is used. */
export interface FileTrust {
  /** Null if content with this hash may be used; otherwise what is wrong, and what to do. */
  refuse(hash: string): { readonly message: string; readonly hint: string } | null;
}

/** As `sha256:2c26b46b…`. */
export function hashConfig(text: string): string {
  return `sha256:${hashContent(text)}`;
}

export interface TrustedFile {
  readonly path: string;
  /** The file of trusted hashes. */
  readonly storePath: string;
  readonly workspace: string;
  /** Trusted by the caller, besides the stored hash. */
  readonly given?: string | undefined;
}

/** Only the content that the user trusted counts. */
export function trustByHash({ path, storePath, workspace, given }: TrustedFile): FileTrust {
  return {
    refuse: (hash) => {
      if (hash === given) return null;
      if (isInside(workspace, storePath)) return storeInReach(storePath);
      if (readTrusted(storePath).get(path) === hash) return null;
      return {
        message: `the file lies in the workspace, where an agent may write it, and its content is not trusted (${hash})`,
        hint: `look at it, then: strata config trust ${path} (without a terminal, add --trust ${hash})`,
      };
    },
  };
}

/** The content at the start of the program counts; a change takes effect with the next start. */
export function trustFirstContent(): FileTrust {
  let first: string | null = null;
  return {
    refuse: (hash) => {
      first ??= hash;
      if (hash === first) return null;
      return {
        message: "the file lies in the workspace, where an agent may write it, and has changed",
        hint: "check the change; it takes effect when the program is started again",
      };
    },
  };
}

/** Records that this content of a file is trusted. */
export function trustContent(file: TrustedFile, hash: string): void {
  const { path, storePath, workspace } = file;
  if (isInside(workspace, storePath)) {
    const { message, hint } = storeInReach(storePath);
    throw new StrataError("config-invalid", message, hint);
  }
  const all = { ...Object.fromEntries(readTrusted(storePath)), [path]: hash };
  const unfinished = `${storePath}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(storePath), { recursive: true, mode: 0o700 });
    writeFileSync(unfinished, `${JSON.stringify(all, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(unfinished, storePath);
  } catch (cause) {
    const message = `${storePath} cannot be written: ${messageOf(cause)}`;
    const hint = "give this user write permission on its folder";
    throw new StrataError("environment-unfit", message, hint, { cause });
  }
}

function storeInReach(storePath: string): { readonly message: string; readonly hint: string } {
  return {
    message: `trusted contents are kept in ${storePath}, which lies in the workspace itself`,
    hint: "work in another folder, or move the configuration out of the workspace",
  };
}

/** By path. A file that cannot be read trusts nothing. */
function readTrusted(storePath: string): ReadonlyMap<string, unknown> {
  try {
    const stored: unknown = JSON.parse(readFileSync(storePath, "utf8"));
    return new Map(typeof stored === "object" && stored !== null ? Object.entries(stored) : []);
  } catch {
    return new Map();
  }
}

/** Whether a path lies in a folder, by its name or by where its links lead. */
export function isInside(folder: string, path: string): boolean {
  return isBelow(resolve(folder), resolve(path)) || isBelow(realPath(folder), realPath(path));
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}

/** Where links lead; of a path that does not exist, the part that does. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : resolve(realPath(parent), relative(parent, path));
  }
}
