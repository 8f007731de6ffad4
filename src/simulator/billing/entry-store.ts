// What providers remember: entries under prefix keys, each lifetime apart, bounded in number.
import type { Lifetime } from "./billable-request.ts";
import type { BillingOptions } from "./options.ts";

/** One written prefix for one lifetime. */
export interface Entry {
  readonly key: string;
  readonly lifetime: Lifetime;
  readonly tokens: number;
  readonly lifetimeMs: number;
  /** The request that wrote it last. */
  writtenBy: string;
  /** What its lifetime is counted from. */
  touchedMs: number;
}

/** Entries others can read, expired ones included: a marker may bring one back. */
export interface EntryStore {
  readonly size: number;
  /** What is kept under a key, shortest lifetime first. */
  at(key: string): readonly Entry[];
  /** Keeps an entry and gives the one that is kept: writing a prefix again never shortens its life. */
  put(entry: Entry): Entry;
  all(): Iterable<Entry>;
  clear(): void;
}

/** Holds a bounded number; the entry written longest ago goes first. */
export function createEntryStore(entriesMax: number): EntryStore {
  const byKey = new Map<string, readonly Entry[]>();
  let size = 0;
  const forgetOldest = (): void => {
    for (const [key, entries] of byKey) {
      if (size <= entriesMax) return;
      byKey.delete(key);
      size -= entries.length;
    }
  };
  return {
    get size() {
      return size;
    },
    at: (key) => byKey.get(key) ?? [],
    put: (entry) => {
      const before = byKey.get(entry.key) ?? [];
      const same = before.find(({ lifetime }) => lifetime === entry.lifetime);
      if (same !== undefined) {
        same.touchedMs = Math.max(same.touchedMs, entry.touchedMs);
        same.writtenBy = entry.writtenBy;
      }
      const entries = same === undefined ? [...before, entry] : before;
      // A map keeps the order of insertion, so what was written last stands last.
      byKey.delete(entry.key);
      byKey.set(
        entry.key,
        entries.toSorted((left, right) => left.lifetimeMs - right.lifetimeMs),
      );
      size += entries.length - before.length;
      forgetOldest();
      return same ?? entry;
    },
    *all() {
      for (const entries of byKey.values()) yield* entries;
    },
    clear: () => {
      byKey.clear();
      size = 0;
    },
  };
}

export function isLive(
  entry: Entry,
  nowMs: number,
  { graceMs }: Pick<BillingOptions, "graceMs">,
): boolean {
  return nowMs <= entry.touchedMs + entry.lifetimeMs + graceMs;
}
