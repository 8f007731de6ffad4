// Which texts a session has seen: only those may it write anew as a whole.
import type { ContentHash } from "../../../core/hash.ts";
import type { MemoryFile } from "../../../core/memory/memory-file.ts";

export interface SeenTexts {
  /** Of what was last seen of a file; null where nothing was. */
  of(file: MemoryFile): ContentHash | null;
  mark(file: MemoryFile, hash: ContentHash): void;
  /** Of a text that came back: it counts where it was seen before. */
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
