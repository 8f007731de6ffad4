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
  /** The latest start, or end, of a request that wrote or read it and was answered. */
  settledMs: number;
  /** Starts of requests that read it and are not answered yet, by request. */
  readonly open: Map<object, number>;
}

/** What an entry's lifetime is counted from. */
export function touchedMs({ settledMs, open }: Entry): number {
  return Math.max(settledMs, ...open.values());
}

/** Entries others can read, expired ones included: a marker may bring one back. */
export interface EntryStore {
  readonly size: number;
  /** What is kept under a key, shortest lifetime first. */
  at(key: string): readonly Entry[];
  /** Keeps an entry and gives the one that is kept: writing a prefix again never shortens its life. */
  put(entry: Entry): Entry;
  /** Tells that an entry was used, so that it is forgotten later than others. */
  use(entry: Entry): void;
  all(): Iterable<Entry>;
  clear(): void;
}

/** Holds a bounded number, and expired ones for a bounded time; the longest unused go first. */
export function createEntryStore(
  bounds: Pick<BillingOptions, "entriesMax" | "expiredKeptMs">,
): EntryStore {
  const byKey = new Map<string, readonly Entry[]>();
  let size = 0;
  const forget = (nowMs: number): void => {
    for (const [key, entries] of byKey) {
      const isGone = entries.every((each) => {
        return touchedMs(each) + each.lifetimeMs + bounds.expiredKeptMs < nowMs;
      });
      if (!isGone && size <= bounds.entriesMax) return;
      byKey.delete(key);
      size -= entries.length;
    }
  };
  // A map keeps the order of insertion, so what was used last stands last.
  const moveToEnd = (key: string, entries: readonly Entry[]): void => {
    byKey.delete(key);
    byKey.set(key, entries);
  };
  return {
    get size() {
      return size;
    },
    at: (key) => byKey.get(key) ?? [],
    put: (entry) => {
      const before = byKey.get(entry.key) ?? [];
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
