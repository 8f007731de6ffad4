// Fits documents into the available room. No document changes what is shown of an earlier one.
import { countBytes } from "./cut-middle.ts";
import type {
  WorkspaceFileKind,
  WorkspaceFile,
  ReadDocument,
  BundleLimits,
} from "./workspace-file.ts";
import { cutText } from "./workspace-cut.ts";

/**
 * Gives out room in prompt order. Memory comes last and keeps growing, so its room is always reserved.
 * From the first document that has no room even for its cut line, all are left out, and one line says
 * so.
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
