// Reads a workspace's documents through the guard. Each is shown, or a notice says why not.
import { hashContent } from "../../../core/hash.ts";
import type {
  WorkspaceFileKind,
  ReadDocument,
  BundleLimits,
} from "../../../core/layers/workspace-file.ts";
import {
  notice,
  toBundle,
  type WorkspaceBundle,
  type WorkspaceNotice,
  type WorkspaceScope,
} from "../../../core/layers/workspace-bundle.ts";
import { memoryFiles } from "../../../core/memory/memory-file.ts";
import { StrataError, messageOf } from "../../../core/strata-error.ts";
import { isMovingIn } from "../memory/move-marker.ts";
import { isRefusal } from "../guard/scoped-failure.ts";
import type { ScopedContent, ScopedFiles } from "../guard/scoped-files.ts";
import { stateFolders } from "../workspace-folders.ts";
import { isPrivate } from "./workspace-paths.ts";

export interface BundleRequest {
  readonly root: string;
  readonly scope: WorkspaceScope;
  /** As the files spell them, sorted, each once. */
  readonly extras: readonly string[];
  readonly limits: BundleLimits;
}

/** The read limit for one file. The rest counts as left out. */
const readBytesMax = 4 * 1024 * 1024;

/** Each holds a folder and a file open. More would not be faster, and descriptors may be scarce. */
const extrasAtOnce = 8;

/** Throws a `StrataError` if something is temporarily unreadable. Nothing is shown then. */
export async function loadBundle(
  files: ReadableFiles,
  { root, scope, extras, limits }: BundleRequest,
  lastGood: Map<string, ReadDocument> = new Map(),
): Promise<WorkspaceBundle> {
  const notices: WorkspaceNotice[] = [];
  const context: LoadContext = { files, report: (found) => notices.push(found), lastGood };
  const isShared = scope !== "main";
  const folder = await findMemoryFolder(context);
  const atRoot = rootDocuments.map(async ([kind, path]) => read(context, kind, [path]));
  const remembered = (isShared ? ["USER.md"] : ["USER.md", "MEMORY.md"]).map(async (name) => {
    const kind = name === "USER.md" ? "user" : "memory";
    return read(context, kind, folder === null ? [name] : [`${folder}/${name}`, name]);
  });
  const known = (await Promise.all([...atRoot, ...remembered])).filter((each) => each !== null);
  const asked = extras.filter((path) => !known.some((document) => document.path === path));
  const further: (ReadDocument | null)[] = [];
  for (let start = 0; start < asked.length; start += extrasAtOnce) {
    const some = asked.slice(start, start + extrasAtOnce);
    further.push(...(await Promise.all(some.map((path) => readExtra(context, path, isShared)))));
  }
  const documents = [...known, ...further.filter((each) => each !== null)];
  return toBundle({ root, scope, documents, notices: notices.toSorted(byPath), limits });
}

type ReadableFiles = Pick<ScopedFiles, "readFile" | "stat">;

interface LoadContext {
  readonly files: ReadableFiles;
  readonly report: (found: WorkspaceNotice) => void;
  /** By path. Shown in place of a document that cannot be read any more. */
  readonly lastGood: Map<string, ReadDocument>;
}

const rootDocuments: readonly (readonly [WorkspaceFileKind, string])[] = [
  ["agents", "AGENTS.md"],
  ["claude", "CLAUDE.md"],
  ["identity", "IDENTITY.md"],
  ["soul", "SOUL.md"],
];

/** The folder of the memory tools: the first with memory, or the source of a move in progress. */
async function findMemoryFolder(context: LoadContext): Promise<string | null> {
  const [own, earlier] = stateFolders;
  if (!(await hasMemory(context, own))) return (await hasMemory(context, earlier)) ? earlier : null;
  const isThereToo = await hasMemory({ ...context, report: () => {} }, earlier);
  // Checked last: if the move ended meanwhile, everything is in its new place.
  return isThereToo && (await isMovingIn(context.files)) ? earlier : own;
}

async function hasMemory({ files, report }: LoadContext, folder: string): Promise<boolean> {
  try {
    if ((await files.stat(folder))?.kind !== "folder") return false;
    for (const name of memoryFiles) {
      if ((await files.stat(`${folder}/${name}`)) !== null) return true;
    }
  } catch (error) {
    report(notice("unread", folder, messageOf(requireRefusal(folder, error))));
  }
  return false;
}

/** The first place where it exists. Reports further ones. */
async function read(
  context: LoadContext,
  kind: WorkspaceFileKind,
  places: readonly string[],
): Promise<ReadDocument | null> {
  const [path, ...others] = places;
  if (path === undefined) return null;
  const document = await readPlace(context, kind, path);
  if (document === "absent" || document === "unread") return read(context, kind, others);
  for (const other of others) {
    const isThere = await context.files.stat(other).catch((error: unknown) => {
      requireRefusal(other, error);
      return null;
    });
    if (isThere !== null)
      context.report(notice("shadowed", other, `${path} is shown in its place`));
  }
  return document;
}

async function readExtra(
  context: LoadContext,
  path: string,
  isShared: boolean,
): Promise<ReadDocument | null> {
  if (isShared && isPrivate(path)) {
    context.report(notice("hidden", path, "is private, and the scope is shared"));
    return null;
  }
  const document = await readPlace(context, "document", path);
  if (document === "absent") context.report(notice("missing", path, "is not there"));
  return typeof document === "string" ? null : document;
}

async function readPlace(
  context: LoadContext,
  kind: WorkspaceFileKind,
  path: string,
): Promise<ReadDocument | "absent" | "unread"> {
  const { lastGood, report } = context;
  const before = lastGood.get(path);
  const found = await readNow(context, kind, path);
  if (found === "absent") lastGood.delete(path);
  else if (found !== "unread") lastGood.set(path, found);
  else if (before !== undefined) {
    report(notice("unread", path, "its last good text is shown"));
    return before;
  }
  return found;
}

async function readNow(
  { files, report, lastGood }: LoadContext,
  kind: WorkspaceFileKind,
  path: string,
): Promise<ReadDocument | "absent" | "unread"> {
  try {
    const content = await files.readFile(path, { bytesMax: readBytesMax });
    if (content === null) return "absent";
    const text = decodeText(content, path, report);
    if (text === null) return "unread";
    const { bytes, size } = content;
    const bytesUnread = Math.max(0, size - bytes.length);
    return { kind, path, text, hash: hashContent(bytes), bytes: size, bytesUnread };
  } catch (error) {
    const problem = lastGood.has(path) ? error : requireRefusal(path, error);
    report(notice("unread", path, messageOf(problem)));
    return "unread";
  }
}

/** A temporary shortage must not lead to a bundle without its rules. */
function requireRefusal(path: string, error: unknown): unknown {
  if (isRefusal(error)) return error;
  throw new StrataError(
    "environment-unfit",
    `${path} of the workspace cannot be read now: ${messageOf(error)}`,
    "try again",
    { cause: error },
  );
}

/** Without a byte order mark. Null if it is not text. */
function decodeText(
  { bytes, size }: ScopedContent,
  path: string,
  report: LoadContext["report"],
): string | null {
  if (bytes.includes(0)) {
    report(notice("not-text", path, "contains a zero byte, so it is not text"));
    return null;
  }
  // If reading ended inside a character, the missing rest is not an error.
  const isPart = bytes.length < size;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isPart });
  } catch {
    report(notice("not-utf8", path, "is not UTF-8; invalid bytes are shown as \u{FFFD}"));
    return new TextDecoder().decode(bytes);
  }
}

function byPath(left: WorkspaceNotice, right: WorkspaceNotice): number {
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}
