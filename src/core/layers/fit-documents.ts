// Documents → as much of each as there is room for, so that no document changes what is shown of one before it.
import { countBytes } from "./cut-middle.ts";
import type {
  BundleLimits,
  ReadDocument,
  WorkspaceFile,
  WorkspaceFileKind,
} from "./workspace-bundle.ts";
import { cutText } from "./workspace-cut.ts";

/**
 * Room is given in the order given, which is the order of the prompt. Memory comes last and grows all the time, so its
 * room is put aside whether it needs it or not. From the first document on that has not even room for the line that
 * says so, all are left out, and one line says that.
 */
export function fitDocuments(
  documents: readonly ReadDocument[],
  limits: BundleLimits,
): readonly WorkspaceFile[] {
  const files: WorkspaceFile[] = [];
  const plain = documents.filter(({ kind }) => !isMemory(kind)).length;
  let used = 0;
  let isFull = false;
  for (const [index, document] of documents.entries()) {
    const room = Math.max(0, limits.totalBytesMax - used - putAside(document.kind, limits));
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

/** More than the memory tools let either of the two files have. */
const memoryBytes = 8000;

/** For the line that says what is left out altogether. */
const restLineBytes = 300;

function isMemory(kind: WorkspaceFileKind): boolean {
  return kind === "user" || kind === "memory";
}

/** What a document must leave to those that come after it; of the limits alone, so that nothing on the disk changes it. */
function putAside(kind: WorkspaceFileKind, { totalBytesMax }: BundleLimits): number {
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
        ? sayTotal(limits)
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
  return `[${what} left out here: ${sayTotal(limits)}. Read what you need of it.]`;
}

function sayTotal({ totalBytesMax }: BundleLimits): string {
  return `the workspace's documents may have ${totalBytesMax} bytes together`;
}
