// Whether a file is still the one that was read: what the file system says of it, without opening it.
import { stat } from "node:fs/promises";

export interface FileStamp {
  /** Device, inode, size and both times, as one word. */
  readonly word: string;
  /** When it was last changed, in milliseconds since 1970. */
  readonly changedMs: number;
  /** Something was done to the file after its last byte was written, such as renaming it into its place. */
  readonly isPlaced: boolean;
}

/** Through symlinks; null where nothing is, or nothing can be said. */
export async function lookAt(path: string): Promise<FileStamp | null> {
  try {
    return stampOf(await stat(path, { bigint: true }));
  } catch {
    return null;
  }
}

/** Of what a file system says of a file. */
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
