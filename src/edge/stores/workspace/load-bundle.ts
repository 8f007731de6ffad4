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
import type { ScopedContent, ScopedFiles } from "../scoped-files.ts";
import { isPrivate, memoryFolders } from "./workspace-paths.ts";

export interface BundleRequest {
  readonly root: string;
  readonly scope: WorkspaceScope;
  /** From the root, sorted, each once. */
  readonly extras: readonly string[];
  readonly limits: BundleLimits;
}

/** Of one file. What lies behind it is not even read, and counted as left out. */
const readBytesMax = 4 * 1024 * 1024;

export async function loadBundle(
  files: Pick<ScopedFiles, "readFile" | "stat">,
  { root, scope, extras, limits }: BundleRequest,
): Promise<WorkspaceBundle> {
  const notices: WorkspaceNotice[] = [];
  const desk: Desk = { files, tell: (told) => notices.push(told) };
  const isShared = scope === "shared";
  const atRoot = rootDocuments.map(async ([kind, path]) => read(desk, kind, [path]));
  const folder = await findMemoryFolder(desk);
  const remembered = (isShared ? ["USER.md"] : ["USER.md", "MEMORY.md"]).map(async (name) => {
    const kind = name === "USER.md" ? "user" : "memory";
    return read(desk, kind, folder === null ? [name] : [`${folder}/${name}`, name]);
  });
  const known = (await Promise.all([...atRoot, ...remembered])).filter((each) => each !== null);
  const further = extras
    .filter((path) => !known.some((document) => document.path === path))
    .map(async (path) => {
      if (!isShared || !isPrivate(path)) return readExtra(desk, path);
      desk.tell(notice("hidden", path, "is private, and the scope is shared"));
      return null;
    });
  const documents = [...known, ...(await Promise.all(further)).filter((each) => each !== null)];
  return toBundle({ root, scope, documents, notices: notices.toSorted(byPath), limits });
}

interface Desk {
  readonly files: Pick<ScopedFiles, "readFile" | "stat">;
  readonly tell: (told: WorkspaceNotice) => void;
}

const rootDocuments: readonly (readonly [WorkspaceFileKind, string])[] = [
  ["agents", "AGENTS.md"],
  ["claude", "CLAUDE.md"],
  ["identity", "IDENTITY.md"],
  ["soul", "SOUL.md"],
];

/** The folder the memory tools use: the first that holds memory. The other one is not looked at. */
async function findMemoryFolder({ files, tell }: Desk): Promise<string | null> {
  for (const folder of memoryFolders) {
    try {
      if ((await files.stat(folder))?.kind !== "folder") continue;
      for (const name of ["MEMORY.md", "USER.md"]) {
        if ((await files.stat(`${folder}/${name}`)) !== null) return folder;
      }
    } catch (error) {
      tell(notice("unread", folder, wordsOf(error)));
    }
  }
  return null;
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
    const isThere = await desk.files.stat(other).catch(() => null);
    if (isThere !== null) desk.tell(notice("shadowed", other, `${path} is shown in its place`));
  }
  return document;
}

async function readExtra(desk: Desk, path: string): Promise<ReadDocument | null> {
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
    tell(notice("unread", path, wordsOf(error)));
    return "unread";
  }
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

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function byPath(left: WorkspaceNotice, right: WorkspaceNotice): number {
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}
