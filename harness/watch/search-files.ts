// Searches the files below a folder for planted secrets.
import { closeSync, lstatSync, openSync, readdirSync, readSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { findPlanted, overlapLength, type Finding } from "../planted-key.ts";

export interface FoundInFile extends Finding {
  readonly file: string;
}

/** Does not follow links or open pipes. */
export function searchFiles(path: string): readonly FoundInFile[] {
  const found: FoundInFile[] = [];
  const visit = (each: string): void => {
    if (isMeantToHoldSecrets(each)) return;
    const status = lstatSync(each, { throwIfNoEntry: false });
    if (status?.isDirectory() === true) {
      for (const name of namesIn(each)) visit(join(each, name));
    }
    const finding = status?.isFile() === true ? searchFile(each, status) : null;
    if (finding !== null) found.push({ ...finding, file: each });
  };
  visit(path);
  return found;
}

/**
 * People write keys into YAML configurations, and Strata writes no YAML. A server's folder contains its own password;
 * its data is searched in queries (watchQueries). A browser is not output.
 */
function isMeantToHoldSecrets(path: string): boolean {
  return /^(?:.*\.ya?ml(?:\.new)?|strata-postgres-.*|pg-password-.*|chromium)$/.test(
    basename(path),
  );
}

const pieceLength = 1 << 20;
const blockLength = 4096;
/** From one piece to the next, in whole blocks, with what could be a secret's beginning in both. */
const stepLength = pieceLength - Math.ceil(overlapLength / blockLength) * blockLength;
const piece = Buffer.alloc(pieceLength);

function searchFile(path: string, status: Stats): Finding | null {
  const file = openFile(path);
  if (file === null) return null;
  const isRestEmpty = watchForHole(status);
  try {
    for (let at = 0; ; at += stepLength) {
      const length = readSync(file, piece, 0, pieceLength, at);
      const finding = findPlanted(piece.toString("latin1", 0, length));
      if (finding !== null || length < pieceLength || isRestEmpty()) return finding;
    }
  } finally {
    closeSync(file);
  }
}

/**
 * Tests make files of gigabytes that are a hole after their first words. When as many blocks had bytes in them as the
 * file has on the disk, the rest is empty.
 */
function watchForHole({ size, blocks }: Stats): () => boolean {
  const bytesOnDisk = blocks * 512;
  if (size < 1e9 || bytesOnDisk >= size) return () => false;
  let bytesSeen = 0;
  return () => {
    for (let at = 0; at < stepLength; at += blockLength) {
      if (!piece.subarray(at, at + blockLength).equals(emptyBlock)) bytesSeen += blockLength;
    }
    return bytesSeen >= bytesOnDisk;
  };
}

const emptyBlock = Buffer.alloc(blockLength);

/** Tests create unreadable files and folders, and files can vanish during the search. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function openFile(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch {
    return null;
  }
}
