// A workspace's documents as one value, within limits, ready to become sections.
import { hashContent, type ContentHash } from "../hash.ts";
import type { ContextParts } from "./to-sections.ts";
import {
  workspaceFileKinds,
  type BundleLimits,
  type ReadDocument,
  type WorkspaceFile,
  type WorkspaceFileKind,
} from "./workspace-file.ts";
import { readIdentity, type AgentIdentity } from "./workspace-identity.ts";
import { countBytes } from "./cut-middle.ts";
import { cutText } from "./workspace-cut.ts";

/** `shared`: people other than the owner take part, so MEMORY.md is not shown. */
export type WorkspaceScope = "main" | "shared";

export interface WorkspaceBundle {
  readonly root: string;
  readonly scope: WorkspaceScope;
  readonly files: readonly WorkspaceFile[];
  readonly identity: AgentIdentity;
  /** What is hidden or altered, and why. */
  readonly notices: readonly WorkspaceNotice[];
  /** Equal exactly if the same texts are shown in the same scope. */
  readonly hash: ContentHash;
}

export interface WorkspaceNotice {
  readonly kind: WorkspaceNoticeKind;
  readonly path: string;
  readonly detail: string;
}

/** The list is closed: a new kind is a decision. */
export type WorkspaceNoticeKind =
  | "cut"
  /** Refused, such as a symlink, or unreadable. */
  | "unread"
  /** Requested but absent. */
  | "missing"
  /** Private to the owner, in a shared scope. */
  | "hidden"
  /** Left out: binary content. */
  | "not-text"
  /** Shown, with replacement characters for bytes that are not UTF-8. */
  | "not-utf8"
  /** Left out: another document has the same text. */
  | "repeated"
  /** Left out: a document of the same name comes first. */
  | "shadowed";

export interface BundleParts {
  readonly root: string;
  readonly scope: WorkspaceScope;
  readonly documents: readonly ReadDocument[];
  readonly notices: readonly WorkspaceNotice[];
  readonly limits: BundleLimits;
}

export function toBundle({
  root,
  scope,
  documents,
  notices,
  limits,
}: BundleParts): WorkspaceBundle {
  const allNotices: WorkspaceNotice[] = [...notices];
  const copy = findCopy(documents);
  if (copy !== undefined)
    allNotices.push(notice("repeated", copy.path, "says the same as AGENTS.md"));
  const files = fitDocuments(inOrder(documents.filter((each) => each !== copy)), limits);
  allNotices.push(...files.filter(({ bytesLeftOut }) => bytesLeftOut > 0).map(noticeOfCut));
  return {
    root,
    scope,
    files,
    identity: readIdentity(textOf(files, "identity") ?? ""),
    notices: allNotices,
    hash: hashContent(JSON.stringify([scope, files.map(({ path, text }) => [path, text])])),
  };
}

/** The bundle's part of a session's context. The host adds role, environment and the rest. */
export function toContextParts({
  files,
}: Pick<WorkspaceBundle, "files">): Pick<
  ContextParts,
  "workspaceRules" | "persona" | "contextFiles" | "memory"
> {
  const rules = [textOf(files, "agents"), textOf(files, "claude")].map((text) => text?.trim());
  return {
    workspaceRules: rules.filter((text) => text !== undefined && text !== "").join("\n\n"),
    persona: { identity: textOf(files, "identity"), soul: textOf(files, "soul") },
    contextFiles: files
      .filter(({ kind }) => kind === "document")
      .map(({ path, text }) => ({ path, text })),
    memory: { user: textOf(files, "user") ?? "", workspace: textOf(files, "memory") ?? "" },
  };
}

/** The bundle in a record: hashes and sizes, no content. */
export interface WorkspaceNote {
  readonly hash: ContentHash;
  readonly scope: WorkspaceScope;
  readonly files: readonly Omit<WorkspaceFile, "text">[];
}

export function toWorkspaceNote({ hash, scope, files }: WorkspaceBundle): WorkspaceNote {
  return { hash, scope, files: files.map(({ text: _text, ...file }) => file) };
}

export function notice(kind: WorkspaceNoticeKind, path: string, detail: string): WorkspaceNotice {
  return { kind, path, detail };
}

/** By kind, then by path in code unit order. */
function inOrder(documents: readonly ReadDocument[]): readonly ReadDocument[] {
  return workspaceFileKinds.flatMap((kind) =>
    documents
      .filter((document) => document.kind === kind)
      .toSorted((left, right) => (left.path < right.path ? -1 : 1)),
  );
}

/**
 * Many workspaces keep the same rules under both names. A document that was not read to its end may
 * still differ there.
 */
function findCopy(documents: readonly ReadDocument[]): ReadDocument | undefined {
  const rules = documents.find(({ kind }) => kind === "agents");
  return documents.find(
    ({ kind, hash, bytes, bytesUnread }) =>
      kind === "claude" &&
      bytesUnread === 0 &&
      rules?.bytesUnread === 0 &&
      hash === rules.hash &&
      bytes === rules.bytes,
  );
}

function noticeOfCut({ path, bytes, bytesLeftOut }: WorkspaceFile): WorkspaceNotice {
  return notice("cut", path, `${bytesLeftOut} of ${bytes} bytes are left out`);
}

function textOf(files: readonly WorkspaceFile[], kind: WorkspaceFileKind): string | null {
  return files.find((file) => file.kind === kind)?.text ?? null;
}

/**
 * Gives out room in prompt order. Memory comes last and keeps growing, so its room is always reserved.
 * From the first document that has no room even for its cut line, all are left out, and one line says
 * so.
 */
function fitDocuments(
  documents: readonly ReadDocument[],
  limits: BundleLimits,
): readonly WorkspaceFile[] {
  const files: WorkspaceFile[] = [];
  const plain = documents.filter(({ kind }) => !isMemory(kind)).length;
  let used = 0;
  let isFull = false;
  for (const [index, document] of documents.entries()) {
    const room = Math.max(0, limits.totalBytesMax - used - reservedBytes(document.kind, limits));
    const fitted = fitDocument(document, limits, room);
    const isShown = isMemory(document.kind) || (!isFull && countBytes(fitted.text) <= room);
    const line = isFull ? "" : describeRest(plain - index, document.path, limits);
    const file = isShown ? fitted : leaveOut(document, line);
    if (!isShown) isFull = true;
    used += countBytes(file.text);
    files.push(file);
  }
  return files;
}

/** More than the memory tools allow for either file. */
const memoryBytes = 8000;

/** For the line that lists omitted documents. */
const restLineBytes = 300;

function isMemory(kind: WorkspaceFileKind): boolean {
  return kind === "user" || kind === "memory";
}

/** The room a document must leave for later ones. Depends on the limits alone, so nothing on disk changes it. */
function reservedBytes(kind: WorkspaceFileKind, { totalBytesMax }: BundleLimits): number {
  const each = Math.min(memoryBytes, Math.floor(totalBytesMax / 5));
  if (kind === "memory") return 0;
  return kind === "user" ? each : each * 2 + restLineBytes;
}

function fitDocument(document: ReadDocument, limits: BundleLimits, room: number): WorkspaceFile {
  const { kind, path, hash, bytes, bytesUnread } = document;
  const { text, bytesLeftOut } = cutText(document.text, {
    bytesMax: Math.min(room, limits.fileBytesMax),
    name: path,
    because:
      room < limits.fileBytesMax
        ? describeTotal(limits)
        : `a workspace document may have ${limits.fileBytesMax} bytes`,
    bytesUnread,
  });
  return { kind, path, text, hash, bytes, bytesLeftOut };
}

function leaveOut({ kind, path, hash, bytes }: ReadDocument, text: string): WorkspaceFile {
  return { kind, path, text, hash, bytes, bytesLeftOut: bytes };
}

function describeRest(count: number, path: string, limits: BundleLimits): string {
  const label = path
    .replaceAll(/\p{Cc}/gu, "?")
    .slice(0, 40)
    .toWellFormed();
  const what = count === 1 ? `${label} is` : `${count} documents, from ${label} on, are`;
  return `[${what} left out here: ${describeTotal(limits)}. Read what you need of it.]`;
}

function describeTotal({ totalBytesMax }: BundleLimits): string {
  return `the workspace's documents may have ${totalBytesMax} bytes together`;
}
