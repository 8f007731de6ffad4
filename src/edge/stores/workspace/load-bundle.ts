// A workspace's documents, read from the disk through the guard: each is shown, or a notice says why not.
import { hashContent } from "../../../core/hash.ts";
import {
  notice,
  toBundle,
  type BundleLimits,
  type ReadDocument,
  type WorkspaceBundle,
  type WorkspaceFileKind,
  type WorkspaceNotice,
  type WorkspaceScope,
} from "../../../core/layers/workspace-bundle.ts";
import { memoryFiles } from "../../../core/memory/memory-file.ts";
import { StrataError, messageOf } from "../../../core/strata-error.ts";
import { isMovingIn } from "../memory/move-marker.ts";
import { isRefusal } from "../scoped-failure.ts";
import type { ScopedContent, ScopedFiles } from "../scoped-files.ts";
import { stateFolders } from "../workspace-folders.ts";
import { isPrivate } from "./workspace-paths.ts";

export interface BundleRequest {
  readonly root: string;
  readonly scope: WorkspaceScope;
  /** As the files spell them, sorted, each once. */
  readonly extras: readonly string[];
  readonly limits: BundleLimits;
}

/** Of one file. What lies behind it is not even read, and counted as left out. */
const readBytesMax = 4 * 1024 * 1024;

/** Each holds a folder and a file open; more would read no faster, and a machine may have few descriptors left. */
const extrasAtOnce = 8;

/** Throws a `StrataError` when something could not be read now that another time may be: then nothing is shown. */
export async function loadBundle(
  files: ReadableFiles,
  { root, scope, extras, limits }: BundleRequest,
): Promise<WorkspaceBundle> {
  const notices: WorkspaceNotice[] = [];
  const desk: Desk = { files, tell: (told) => notices.push(told) };
  const isShared = scope !== "main";
  const folder = await findMemoryFolder(desk);
  const atRoot = rootDocuments.map(async ([kind, path]) => read(desk, kind, [path]));
  const remembered = (isShared ? ["USER.md"] : ["USER.md", "MEMORY.md"]).map(async (name) => {
    const kind = name === "USER.md" ? "user" : "memory";
    return read(desk, kind, folder === null ? [name] : [`${folder}/${name}`, name]);
  });
  const known = (await Promise.all([...atRoot, ...remembered])).filter((each) => each !== null);
  const asked = extras.filter((path) => !known.some((document) => document.path === path));
  const further: (ReadDocument | null)[] = [];
  for (let start = 0; start < asked.length; start += extrasAtOnce) {
    const some = asked.slice(start, start + extrasAtOnce);
    further.push(...(await Promise.all(some.map((path) => readExtra(desk, path, isShared)))));
  }
  const documents = [...known, ...further.filter((each) => each !== null)];
  return toBundle({ root, scope, documents, notices: notices.toSorted(byPath), limits });
}

type ReadableFiles = Pick<ScopedFiles, "readFile" | "stat">;

interface Desk {
  readonly files: ReadableFiles;
  readonly tell: (told: WorkspaceNotice) => void;
}

const rootDocuments: readonly (readonly [WorkspaceFileKind, string])[] = [
  ["agents", "AGENTS.md"],
  ["claude", "CLAUDE.md"],
  ["identity", "IDENTITY.md"],
  ["soul", "SOUL.md"],
];

/** The folder the memory tools use: the first that holds memory, or the one it is just being moved from. */
async function findMemoryFolder(desk: Desk): Promise<string | null> {
  const [own, earlier] = stateFolders;
  if (!(await hasMemory(desk, own))) return (await hasMemory(desk, earlier)) ? earlier : null;
  const isThereToo = await hasMemory({ ...desk, tell: () => {} }, earlier);
  // Looked for last: where the move ended meanwhile, everything is in its new place.
  return isThereToo && (await isMovingIn(desk.files)) ? earlier : own;
}

async function hasMemory({ files, tell }: Desk, folder: string): Promise<boolean> {
  try {
    if ((await files.stat(folder))?.kind !== "folder") return false;
    for (const name of memoryFiles) {
      if ((await files.stat(`${folder}/${name}`)) !== null) return true;
    }
  } catch (error) {
    tell(notice("unread", folder, messageOf(requireRefusal(folder, error))));
  }
  return false;
}

/** The first of the places where it is; one that is there as well is told of. */
async function read(
  desk: Desk,
  kind: WorkspaceFileKind,
  places: readonly string[],
): Promise<ReadDocument | null> {
  const [path, ...others] = places;
  if (path === undefined) return null;
  const document = await readPlace(desk, kind, path);
  if (document === "absent" || document === "unread") return read(desk, kind, others);
  for (const other of others) {
    const isThere = await desk.files.stat(other).catch((error: unknown) => {
      requireRefusal(other, error);
      return null;
    });
    if (isThere !== null) desk.tell(notice("shadowed", other, `${path} is shown in its place`));
  }
  return document;
}

async function readExtra(
  desk: Desk,
  path: string,
  isShared: boolean,
): Promise<ReadDocument | null> {
  if (isShared && isPrivate(path)) {
    desk.tell(notice("hidden", path, "is private, and the scope is shared"));
    return null;
  }
  const document = await readPlace(desk, "document", path);
  if (document === "absent") desk.tell(notice("missing", path, "is not there"));
  return typeof document === "string" ? null : document;
}

async function readPlace(
  { files, tell }: Desk,
  kind: WorkspaceFileKind,
  path: string,
): Promise<ReadDocument | "absent" | "unread"> {
  try {
    const content = await files.readFile(path, { bytesMax: readBytesMax });
    if (content === null) return "absent";
    const text = decodeText(content, path, tell);
    if (text === null) return "unread";
    const { bytes, size } = content;
    const bytesUnread = Math.max(0, size - bytes.length);
    return { kind, path, text, hash: hashContent(bytes), bytes: size, bytesUnread };
  } catch (error) {
    tell(notice("unread", path, messageOf(requireRefusal(path, error))));
    return "unread";
  }
}

/** A bundle without its rules because of a passing shortage would be kept as if there were none. */
function requireRefusal(path: string, error: unknown): unknown {
  if (isRefusal(error)) return error;
  throw new StrataError(
    "environment-unfit",
    `${path} of the workspace cannot be read now: ${messageOf(error)}`,
    "try again; nothing that was read is kept",
    { cause: error },
  );
}

/** Without a byte order mark. Null for what is no text. */
function decodeText(
  { bytes, size }: ScopedContent,
  path: string,
  tell: Desk["tell"],
): string | null {
  if (bytes.includes(0)) {
    tell(notice("not-text", path, "holds a zero byte, as no text does"));
    return null;
  }
  // Where reading ended inside a character, the rest of it is missing and nothing is wrong.
  const isPart = bytes.length < size;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isPart });
  } catch {
    tell(
      notice("not-utf8", path, "is not UTF-8; bytes that are no character are shown as \u{FFFD}"),
    );
    return new TextDecoder().decode(bytes);
  }
}

function byPath(left: WorkspaceNotice, right: WorkspaceNotice): number {
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}
