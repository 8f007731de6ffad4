// What a workspace says about itself: its documents as one value, within limits, ready to become sections (N-43, X-02).
import { hashContent, type ContentHash } from "../hash.ts";
import type { ContextParts } from "./to-sections.ts";
import { fitDocuments } from "./fit-documents.ts";
import { readIdentity, type AgentIdentity } from "./workspace-identity.ts";

/** `shared`: others than the owner are there, so MEMORY.md is not shown (C-16). */
export type WorkspaceScope = "main" | "shared";

/** In the order they are shown and given room: what changes least comes first. */
export const workspaceFileKinds = [
  "agents",
  "claude",
  "identity",
  "soul",
  "document",
  "user",
  "memory",
] as const;

export type WorkspaceFileKind = (typeof workspaceFileKinds)[number];

export interface WorkspaceFile {
  readonly kind: WorkspaceFileKind;
  /** From the root, with forward slashes. */
  readonly path: string;
  /** As it is shown. What was cut is said in it. */
  readonly text: string;
  /** Of the bytes on the disk; of a huge file, of those that were read. */
  readonly hash: ContentHash;
  /** On the disk. */
  readonly bytes: number;
  readonly bytesLeftOut: number;
}

export interface WorkspaceBundle {
  readonly root: string;
  readonly scope: WorkspaceScope;
  readonly files: readonly WorkspaceFile[];
  readonly identity: AgentIdentity;
  /** What is not shown, or not as it is on the disk, and why. */
  readonly notices: readonly WorkspaceNotice[];
  /** The same exactly when the same texts are shown in the same scope. */
  readonly hash: ContentHash;
}

export interface WorkspaceNotice {
  readonly kind: WorkspaceNoticeKind;
  readonly path: string;
  /** For a person. */
  readonly detail: string;
}

/** The list is closed: a new kind is a decision. */
export type WorkspaceNoticeKind =
  | "cut"
  /** Refused, such as a symlink, or not readable. */
  | "unread"
  /** Asked for and not there. */
  | "missing"
  /** Private to the owner, and the scope is shared. */
  | "hidden"
  /** Left out: it holds bytes that no text holds. */
  | "not-text"
  /** Shown, with signs in the place of bytes that are no UTF-8. */
  | "not-utf8"
  /** Left out: another document says the same. */
  | "repeated"
  /** Left out: a document of the same name comes first. */
  | "shadowed";

/** A document that was read, whole or up to a limit. */
export interface ReadDocument {
  readonly kind: WorkspaceFileKind;
  readonly path: string;
  readonly text: string;
  readonly hash: ContentHash;
  readonly bytes: number;
  readonly bytesUnread: number;
}

export interface BundleLimits {
  /** UTF-8, the line about what is missing included. */
  readonly fileBytesMax: number;
  /** Of all together. Where no room is left, one line says which documents are left out. */
  readonly totalBytesMax: number;
}

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
  const said: WorkspaceNotice[] = [...notices];
  const copy = findCopy(documents);
  if (copy !== undefined) said.push(notice("repeated", copy.path, "says the same as AGENTS.md"));
  const files = fitDocuments(inOrder(documents.filter((each) => each !== copy)), limits);
  said.push(...files.filter(({ bytesLeftOut }) => bytesLeftOut > 0).map(noticeOfCut));
  return {
    root,
    scope,
    files,
    identity: readIdentity(textOf(files, "identity") ?? ""),
    notices: said,
    hash: hashContent(JSON.stringify([scope, files.map(({ path, text }) => [path, text])])),
  };
}

/** The bundle's share of what a session is told; the host adds role, environment and what else it knows. */
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

/** What a record says of the bundle: hashes and sizes, no content. */
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

/** By kind; documents of one kind by path, in the order of code units. */
function inOrder(documents: readonly ReadDocument[]): readonly ReadDocument[] {
  return workspaceFileKinds.flatMap((kind) =>
    documents
      .filter((document) => document.kind === kind)
      .toSorted((left, right) => (left.path < right.path ? -1 : 1)),
  );
}

/** Many workspaces keep one set of rules under both names. What was not read to its end may differ there. */
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
