// What providers remember: entries under prefix keys, each lifetime apart, bounded in number.
import type { Lifetime } from "./billable-request.ts";
import type { BillingOptions } from "./options.ts";

/** One written prefix for one lifetime. */
export interface Entry {
  readonly key: string;
  readonly lifetime: Lifetime;
  readonly tokens: number;
  readonly lifetimeMs: number;
  /** The request that wrote it. */
  readonly writtenBy: string;
  /** What its lifetime is counted from. */
  touchedMs: number;
}

/** Entries others can read, expired ones included: a marker may bring one back. */
export interface EntryStore {
  readonly size: number;
  /** What is kept under a key, shortest lifetime first. */
  at(key: string): readonly Entry[];
  put(entry: Entry): void;
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
      const others = before.filter(({ lifetime }) => lifetime !== entry.lifetime);
      const entries = [...others, entry].toSorted(
        (left, right) => left.lifetimeMs - right.lifetimeMs,
      );
      // A map keeps the order of insertion, so what was written last stands last.
      byKey.delete(entry.key);
      byKey.set(entry.key, entries);
      size += entries.length - before.length;
      forgetOldest();
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
