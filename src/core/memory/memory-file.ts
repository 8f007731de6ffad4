// Byte-budgeted memory: rules of the two files, the three tools.
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";

/** What the agent keeps about the workspace, and about the user. The list is closed (S-03). */
export type MemoryFile = "MEMORY.md" | "USER.md";

export const memoryFiles: readonly MemoryFile[] = ["MEMORY.md", "USER.md"];

/** In UTF-8 bytes; a file is over a cap when it is larger, not when it is as large. */
export interface MemoryCaps {
  readonly softBytes: number;
  readonly hardBytes: number;
}

export const memoryCaps: Readonly<Record<MemoryFile, MemoryCaps>> = {
  "MEMORY.md": { softBytes: 2048, hardBytes: 4096 },
  "USER.md": { softBytes: 1536, hardBytes: 3072 },
};

/** Far more than memory may hold: a file of somebody else's making can still be read, consolidated and taken back. */
export const memoryBytesMax = 1_048_576;

export function parseMemoryFile(name: string): MemoryFile {
  const file = memoryFiles.find((each) => each === name);
  if (file !== undefined) return file;
  const [near] = nearestNames(name, memoryFiles, 1);
  throw new StrataError(
    "input-invalid",
    `"${name}" is not a memory file`,
    near === undefined ? `name ${memoryFiles.join(" or ")}` : `did you mean ${near}?`,
  );
}
