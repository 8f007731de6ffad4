// Whether a file is still the one that was read, by its file-system metadata, without opening it.
import { stat } from "node:fs/promises";

export interface FileStamp {
  /** Device, inode, size and both times, as one word. */
  readonly word: string;
  /** When it was last changed, in milliseconds since 1970. */
  readonly changedMs: number;
  /** Something changed the file after its last write, such as a rename into its place. */
  readonly isPlaced: boolean;
}

/** Follows symlinks; null if the file is missing or unreadable. */
export async function lookAt(path: string): Promise<FileStamp | null> {
  try {
    return stampOf(await stat(path, { bigint: true }));
  } catch {
    return null;
  }
}

/** File-system metadata of a file. */
export interface FileStats {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: FileStats): FileStamp {
  const latestNs = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  return {
    word: [dev, ino, size, mtimeNs, ctimeNs].join(" "),
    changedMs: Number(latestNs / 1_000_000n),
    isPlaced: ctimeNs > mtimeNs,
  };
}
