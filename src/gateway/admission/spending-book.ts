// What each key has spent: by the ledger, plus calls that are not in it yet, plus what open calls may cost. Exact but for open calls.
import type { KeySpending, SpendingSince } from "../../core/ledger/gateway-call.ts";
import { usualRecorderLimits } from "../record/open-recorder.ts";
import type { BudgetSpan } from "./gateway-key.ts";

export interface SpendingBook {
  /** When the current day and month began. */
  since(): SpendingSince;
  /** Sums of the ledger, with these calls in them from now on. */
  onRead(
    spending: readonly KeySpending[],
    since: SpendingSince,
    recorded: readonly Recorded[],
  ): void;
  spent(key: string, span: BudgetSpan): bigint;
  /** A call begins that may cost so much. */
  reserve(id: string, key: string, picoUsd: bigint): void;
  /** Its exchange is over. `isBilled`: its reservation is spent unless its cost becomes known. */
  end(
    id: string,
    key: string,
    how: { readonly isBilled: boolean; readonly isWatched: boolean },
  ): void;
  /** What it cost; null if unknown. */
  settle(id: string, key: string, picoUsd: bigint | null): void;
}

type Recorded = { readonly id: string; readonly gatewayKey?: string | null };

interface Entry {
  readonly startMs: number;
  readonly picoUsd: bigint;
  /** Null while the exchange is open. */
  readonly endedMs: number | null;
  /** Whether it is the cost, and not a reservation. */
  readonly isKnown: boolean;
}

interface KeyBook {
  base: KeySpending | null;
  since: SpendingSince;
  /** Calls that are not in the base, by id, oldest first. */
  readonly entries: Map<string, Entry>;
  /** What the ledger will never have, by day. */
  readonly kept: Map<number, bigint>;
}

/** An exchange that ended so long ago will not be explained any more. */
const waitMsMax = 60_000;

export function createSpendingBook(nowMs: () => number): SpendingBook {
  const books = new Map<string, KeyBook>();
  const open = (key: string): KeyBook => {
    const book = books.get(key) ?? newBook();
    books.set(key, book);
    return book;
  };
  return {
    since: () => sinceAt(nowMs()),
    onRead: (spending, since, recorded) => {
      for (const sums of spending) open(sums.gatewayKey).base = sums;
      for (const { id, gatewayKey } of recorded) books.get(gatewayKey ?? "")?.entries.delete(id);
      for (const book of books.values()) {
        book.since = since;
        keepOld(book, nowMs());
      }
    },
    spent: (key, span) => {
      const book = books.get(key);
      return book === undefined ? 0n : sumOf(book, span, sinceAt(nowMs()));
    },
    reserve: (id, key, picoUsd) => {
      open(key).entries.set(id, { startMs: nowMs(), picoUsd, endedMs: null, isKnown: false });
    },
    end: (id, key, { isBilled, isWatched }) => {
      const book = open(key);
      const entry = book.entries.get(id);
      if (entry === undefined || entry.isKnown) return;
      if (isBilled && isWatched) book.entries.set(id, { ...entry, endedMs: nowMs() });
      else if (isBilled) keep(book, id, entry);
      else book.entries.delete(id);
    },
    settle: (id, key, picoUsd) => {
      const book = open(key);
      const entry = book.entries.get(id);
      if (picoUsd === null) {
        if (entry !== undefined && entry.endedMs !== null) keep(book, id, entry);
        return;
      }
      const { startMs } = entry ?? { startMs: nowMs() };
      book.entries.set(id, { startMs, picoUsd, endedMs: nowMs(), isKnown: true });
    },
  };
}

function newBook(): KeyBook {
  return { base: null, since: { dayMs: 0, monthMs: 0 }, entries: new Map(), kept: new Map() };
}

/** Midnights in UTC. */
export function sinceAt(nowMs: number): SpendingSince {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { dayMs: Date.UTC(year, month, now.getUTCDate()), monthMs: Date.UTC(year, month, 1) };
}

function sumOf(
  { base, since, entries, kept }: KeyBook,
  span: BudgetSpan,
  now: SpendingSince,
): bigint {
  const from = { day: now.dayMs, month: now.monthMs, total: 0 }[span];
  // Sums of a day or a month that is over are of no use for the next one.
  const isCurrent = { day: since.dayMs, month: since.monthMs, total: 0 }[span] === from;
  const named = base && {
    day: base.dayPicoUsd,
    month: base.monthPicoUsd,
    total: base.totalPicoUsd,
  };
  let sum = isCurrent ? (named?.[span] ?? 0n) : 0n;
  for (const { startMs, picoUsd } of entries.values()) if (startMs >= from) sum += picoUsd;
  for (const [dayMs, picoUsd] of kept) if (dayMs >= from) sum += picoUsd;
  return sum;
}

/** From now on it is part of a sum by day: no record of it will come. */
function keep(book: KeyBook, id: string, { startMs, picoUsd }: Entry): void {
  const { dayMs } = sinceAt(startMs);
  book.kept.set(dayMs, (book.kept.get(dayMs) ?? 0n) + picoUsd);
  book.entries.delete(id);
}

/** What was not explained in time, and what the recorder has given up: it holds no more than so many calls. */
function keepOld(book: KeyBook, nowMs: number): void {
  let excess = book.entries.size - 2 * usualRecorderLimits.waitingCallsMax;
  for (const [id, entry] of book.entries) {
    if (entry.endedMs === null) continue;
    const isLate = !entry.isKnown && nowMs - entry.endedMs > waitMsMax;
    if (isLate || (entry.isKnown && excess > 0)) keep(book, id, entry);
    excess -= 1;
  }
}
