// Recent texts by hash, so that a change can be shown. Holds a bounded number of characters, each text once.
import type { ContentHash } from "../hash.ts";
import { detach } from "./excerpt.ts";

export interface TextPool {
  find(hash: ContentHash): string | undefined;
  put(hash: ContentHash, text: string): void;
  readonly characters: number;
}

/** Drops the texts that were not added for the longest time. */
export function createTextPool(charactersMax: number): TextPool {
  const texts = new Map<ContentHash, string>();
  let characters = 0;
  return {
    get characters() {
      return characters;
    },
    find: (hash) => texts.get(hash),
    put: (hash, text) => {
      // One text may not push out all the others.
      if (text.length * 4 > charactersMax) return;
      const known = texts.get(hash);
      if (known === undefined) characters += text.length;
      else texts.delete(hash);
      texts.set(hash, known ?? detach(text));
      for (const [oldest, { length }] of texts) {
        if (characters <= charactersMax) break;
        texts.delete(oldest);
        characters -= length;
      }
    },
  };
}
