// Raw counts by content hash, so that each message is counted once. Bounded in size.
import { assert } from "../assert.ts";
import type { ContentHash } from "../hash.ts";
import type { RawCount } from "./raw-count.ts";

export interface CountCache {
  /** The count under `key`. Calls `count` if there is none yet. */
  get(key: ContentHash, count: () => RawCount): RawCount;
  readonly size: number;
}

/** Drops the least recently used count. */
export function createCountCache(entriesMax: number): CountCache {
  assert(entriesMax > 0, "a count cache needs room for at least one entry");
  const counts = new Map<ContentHash, RawCount>();
  return {
    get size() {
      return counts.size;
    },
    get(key, count) {
      const found = counts.get(key);
      const value = found ?? count();
      // A map keeps insertion order: the first key is the oldest.
      if (found !== undefined) counts.delete(key);
      counts.set(key, value);
      if (counts.size > entriesMax) {
        const [oldest] = counts.keys();
        if (oldest !== undefined) counts.delete(oldest);
      }
      return value;
    },
  };
}
