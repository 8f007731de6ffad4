// The provider's cache: entries by prefix key and lifetime, limited in number.
import type { Lifetime } from "./billable-request.ts";
import type { BillingOptions } from "./options.ts";

export interface Entry {
  readonly key: string;
  readonly lifetime: Lifetime;
  readonly tokens: number;
  readonly lifetimeMs: number;
  writtenBy: string;
  /** The latest start or end of an answered request that wrote or read it. */
  settledMs: number;
  /** The unanswered requests that read it. */
  readonly open: OpenRead[];
}

export interface OpenRead {
  readonly startMs: number;
}

/** The time an entry's lifetime counts from. */
export function touchedMs({ settledMs, open }: Entry): number {
  return open.reduce((latestMs, { startMs }) => Math.max(latestMs, startMs), settledMs);
}

/** Readable entries, and expired ones, which explain a miss. */
export interface EntryStore {
  readonly size: number;
  /** The entries of a key, shortest lifetime first. */
  at(key: string): readonly Entry[];
  /** Stores an entry and returns the stored one. Writing a prefix again never shortens its lifetime. */
  put(entry: Entry): Entry;
  /** Marks an entry as used: the longest unused entries are dropped first. */
  use(entry: Entry): void;
  all(): Iterable<Entry>;
  clear(): void;
}

/** How long an expired entry can explain a miss. */
const expiredKeptMs = 24 * 60 * 60 * 1000;

const noEntries: readonly Entry[] = [];

/** Limits the number of entries and the time that expired ones stay. Drops the longest unused first. */
export function createEntryStore({ entriesMax }: Pick<BillingOptions, "entriesMax">): EntryStore {
  const byKey = new Map<string, readonly Entry[]>();
  let size = 0;
  const forget = (nowMs: number): void => {
    for (const [key, entries] of byKey) {
      const isGone = entries.every((each) => {
        return touchedMs(each) + each.lifetimeMs + expiredKeptMs < nowMs;
      });
      if (!isGone && size <= entriesMax) return;
      byKey.delete(key);
      size -= entries.length;
    }
  };
  // A map keeps insertion order, so the last used entry comes last.
  const moveToEnd = (key: string, entries: readonly Entry[]): void => {
    byKey.delete(key);
    byKey.set(key, entries);
  };
  return {
    get size() {
      return size;
    },
    at: (key) => byKey.get(key) ?? noEntries,
    put: (entry) => {
      const before = byKey.get(entry.key) ?? noEntries;
      const same = before.find(({ lifetime }) => lifetime === entry.lifetime);
      if (same === undefined) {
        const entries = [...before, entry];
        moveToEnd(
          entry.key,
          entries.toSorted((left, right) => left.lifetimeMs - right.lifetimeMs),
        );
        size += 1;
      } else {
        same.settledMs = Math.max(same.settledMs, entry.settledMs);
        same.writtenBy = entry.writtenBy;
        moveToEnd(entry.key, before);
      }
      forget(entry.settledMs);
      return same ?? entry;
    },
    use: ({ key }) => {
      const entries = byKey.get(key);
      if (entries !== undefined) moveToEnd(key, entries);
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
  return nowMs <= touchedMs(entry) + entry.lifetimeMs + graceMs;
}
