// The texts a session has seen. It may only replace those as a whole.
import type { ContentHash } from "../../../core/hash.ts";
import type { MemoryFile } from "../../../core/memory/memory-file.ts";

export interface SeenTexts {
  /** The last seen text of a file. Null if none was. */
  of(file: MemoryFile): ContentHash | null;
  mark(file: MemoryFile, hash: ContentHash): void;
  /** For a restored text: it counts as seen if it was seen before. */
  markAgain(file: MemoryFile, hash: ContentHash): void;
}

export function createSeen(): SeenTexts {
  const last = new Map<MemoryFile, ContentHash>();
  const ever = new Set<string>();
  const mark: SeenTexts["mark"] = (file, hash) => {
    last.set(file, hash);
    ever.add(`${file} ${hash}`);
  };
  return {
    of: (file) => last.get(file) ?? null,
    mark,
    markAgain: (file, hash) => {
      if (ever.has(`${file} ${hash}`)) mark(file, hash);
    },
  };
}
