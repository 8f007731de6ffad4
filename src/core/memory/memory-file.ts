// Byte-budgeted memory: rules of the two files, the three tools.
import { didYouMean } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";

/** What the agent keeps about the workspace and about the user. The list is closed. */
export type MemoryFile = "MEMORY.md" | "USER.md";

export const memoryFiles: readonly MemoryFile[] = ["MEMORY.md", "USER.md"];

/** In UTF-8 bytes. A file of exactly the cap is not over it. */
export interface MemoryCaps {
  readonly softBytes: number;
  readonly hardBytes: number;
}

export const memoryCaps: Readonly<Record<MemoryFile, MemoryCaps>> = {
  "MEMORY.md": { softBytes: 2048, hardBytes: 4096 },
  "USER.md": { softBytes: 1536, hardBytes: 3072 },
};

/** Far above the caps, so that a file written by hand can still be read, consolidated and undone. */
export const memoryBytesMax = 1_048_576;

export function parseMemoryFile(name: string): MemoryFile {
  const file = memoryFiles.find((each) => each === name);
  if (file !== undefined) return file;
  throw new StrataError(
    "input-invalid",
    `"${name}" is not a memory file`,
    didYouMean(name, memoryFiles, `name ${memoryFiles.join(" or ")}`, 1),
  );
}
