// Writes events to their store: in order, in batches, with retries. Every lost event is reported.
import type { StrataEvent } from "../../core/events/event.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Report } from "./problem.ts";
import type { Schedule } from "./schedule.ts";

export interface EventStore {
  /**
   * Stores all of them or none. After an error the writer sends the same batch again, because the first write may have
   * succeeded; a store that already has the batch resolves.
   */
  appendEvents(events: readonly StrataEvent[]): Promise<void>;
}

export interface DurableWriter {
  push(event: StrataEvent): void;
  /** Events not yet settled, including those of the running write. */
  waitingCount(): number;
  /** Resolves when everything pushed so far is stored; rejects when events were lost since the last flush. */
  flush(): Promise<void>;
}

export interface WriterOptions {
  readonly store: EventStore;
  readonly report: Report;
  readonly schedule: Schedule;
  readonly batchMax: number;
  /** How long an event waits for others to share its batch. */
  readonly flushMs: number;
  readonly attemptsMax: number;
  /** Delay before the second attempt; doubles with every further one. */
  readonly retryMs: number;
}

const retryMsMax = 5_000;

export function createDurableWriter(options: WriterOptions): DurableWriter {
  const { schedule, batchMax, flushMs } = options;
  const queue: StrataEvent[] = [];
  let pushedCount = 0;
  let settledCount = 0;
  let lostCount = 0;
  let lostReportedCount = 0;
  let isWriting = false;
  let due: { readonly isSoon: boolean; readonly cancel: () => void } | null = null;
  let waiting: { readonly targetCount: number; readonly resolve: () => void }[] = [];

  function wake(isSoon: boolean): void {
    if (isWriting || queue.length === 0 || due?.isSoon === true) return;
    if (due !== null && !isSoon) return;
    due?.cancel();
    // Never inside the emitter's call: a store may do its first work synchronously.
    due = { isSoon, cancel: schedule(isSoon ? 0 : flushMs, () => void writeNext()) };
  }

  async function writeNext(): Promise<void> {
    due = null;
    isWriting = true;
    const batch = queue.slice(0, batchMax);
    if (!(await writeBatch(batch, options))) lostCount += batch.length;
    queue.splice(0, batch.length);
    settledCount += batch.length;
    isWriting = false;
    const settled = waiting.filter(({ targetCount }) => targetCount <= settledCount);
    waiting = waiting.filter(({ targetCount }) => targetCount > settledCount);
    for (const { resolve } of settled) resolve();
    wake(queue.length >= batchMax || waiting.length > 0);
  }

  return {
    push: (event) => {
      queue.push(event);
      pushedCount += 1;
      wake(queue.length >= batchMax);
    },
    waitingCount: () => queue.length,
    flush: async () => {
      const targetCount = pushedCount;
      const reportedBefore = lostReportedCount;
      if (settledCount < targetCount) {
        await new Promise<void>((resolve) => {
          waiting.push({ targetCount, resolve });
          wake(true);
        });
      }
      if (lostCount > reportedBefore) {
        lostReportedCount = lostCount;
        throw lostError(lostCount - reportedBefore);
      }
    },
  };
}

async function writeBatch(batch: readonly StrataEvent[], options: WriterOptions): Promise<boolean> {
  const { store, report, schedule, attemptsMax, retryMs } = options;
  const eventCount = batch.length;
  for (let attempt = 1; ; attempt++) {
    try {
      await store.appendEvents(batch);
      return true;
    } catch (error) {
      if (attempt >= attemptsMax) {
        report({ kind: "write-failed", eventCount, events: batch, error });
        return false;
      }
      const delayMs = Math.min(retryMs * 2 ** (attempt - 1), retryMsMax);
      report({ kind: "write-retried", eventCount, attempt, delayMs, error });
      await new Promise<void>((resolve) => schedule(delayMs, resolve));
    }
  }
}

function lostError(count: number): StrataError {
  return new StrataError(
    "environment-unfit",
    `${count} ${count === 1 ? "event" : "events"} could not be stored`,
    "look at the problems the bus reported: they contain the store's error and the events",
  );
}
