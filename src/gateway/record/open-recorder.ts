// Writes observed calls to the ledger in batches, in a thread. No exchange waits for it, and calls that cannot be written are counted.
import { assert } from "../../core/assert.ts";
import type { KeySpending, SpendingSince } from "../../core/ledger/gateway-call.ts";
import { messageOf } from "../../core/strata-error.ts";
import type { Observer } from "../exchange.ts";
import type { CallSink, ObservedCall } from "../observed-call.ts";
import type { StateAnswer, StateTask } from "../share/state-tasks.ts";
import { createCallQueue, type CallQueue, type QueueLimits } from "./call-queue.ts";
import { createLogWriter, type LogState, type LogWriter } from "./log-writer.ts";
import { addLoss, toKilledLoss, type RecordingLoss } from "./recording-loss.ts";
import { openWriterThread, type WriterThread } from "./writer-thread.ts";
import type { Recorded } from "./writer.ts";

export interface RecorderOptions {
  /** The ledger: a path or a connection string. */
  readonly store: string;
  /** Called when calls are missing in the ledger: once they are lost for good and the ledger works again, or at the end. */
  readonly onLoss: (loss: RecordingLoss) => void;
  /** A message for people: the ledger cannot be written, or can be again. */
  readonly onProblem?: (problem: string) => void;
  readonly limits?: Partial<RecorderLimits>;
  /** Asks with each batch what keys have spent; absent where keys have no budget. */
  readonly spending?: SpendingReader;
  /** Where requests and answers are kept whole; null for nowhere. */
  readonly log?: { readonly folder: string; readonly folderBytesMax?: number } | null;
}

export interface SpendingReader {
  /** Null if it need not be known now. */
  since(): SpendingSince | null;
  /** `recorded`: calls that are in these sums from now on. */
  onRead(
    spending: readonly KeySpending[],
    since: SpendingSince,
    recorded: readonly ObservedCall[],
  ): void;
}

export interface RecorderLimits extends QueueLimits {
  readonly batchCallsMax: number;
  /** The longest that a call waits for others to join its batch. */
  readonly batchMs: number;
  /** The first wait after a failure; it doubles up to the maximum. */
  readonly retryMs: number;
  readonly retryMsMax: number;
  /** How often the ledger is told that the gateway runs while there are no calls. */
  readonly beatMs: number;
  /** How often it is asked what keys have spent while there are no calls. */
  readonly spendingMs: number;
  /** How long the end waits for calls that are not written yet. */
  readonly closeMsMax: number;
}

export const usualRecorderLimits: RecorderLimits = {
  waitingCallsMax: 10_000,
  waitingBytesMax: 64 * 1024 * 1024,
  batchCallsMax: 500,
  batchMs: 500,
  retryMs: 1000,
  retryMsMax: 30_000,
  beatMs: 30_000,
  spendingMs: 2000,
  closeMsMax: 5000,
};

export interface RecorderStats {
  readonly recordedCount: number;
  /** Calls that the ledger had already. */
  readonly repeatedCount: number;
  readonly waitingCount: number;
  readonly lostCount: number;
  /** Why nothing can be written now; null if all is well. */
  readonly problem: string | null;
  readonly log: LogState | null;
}

export interface Recorder extends CallSink {
  /** Sees whole exchanges, for the request log. Null without a request log. */
  readonly requests: Observer | null;
  /** Asks the ledger about states of conversations, in the same thread and beside the batches. */
  askStates(task: StateTask): Promise<StateAnswer>;
  /** Resolves when everything taken so far is written or counted as lost. */
  flush(): Promise<void>;
  close(): Promise<void>;
  stats(): RecorderStats;
}

export function openRecorder(options: RecorderOptions): Recorder {
  const recorder = new CallRecorder(options);
  // Shows at once whether an earlier process was killed, and whether the ledger can be written.
  recorder.wakeIn(0);
  return recorder;
}

const logBytesUsual = 1024 * 1024 * 1024;

class CallRecorder implements Recorder {
  readonly #options: RecorderOptions;
  readonly #limits: RecorderLimits;
  readonly #queue: CallQueue;
  readonly #thread: WriterThread;
  readonly #log: LogWriter | null;
  readonly #beats: NodeJS.Timeout;
  readonly #readings: NodeJS.Timeout;
  #due: { readonly timer: NodeJS.Timeout; readonly atMs: number } | null = null;
  #writing: Promise<void> | null = null;
  #failureCount = 0;
  #problem: string | null = null;
  /** Counted, but not reported yet. */
  #losses: readonly RecordingLoss[] = [];
  #counts = { taken: 0, settled: 0, recorded: 0, repeated: 0, lost: 0 };
  #waiters: { readonly count: number; readonly resolve: () => void }[] = [];
  #isClosed = false;

  constructor(options: RecorderOptions) {
    const { store, log = null } = options;
    this.#options = options;
    this.#limits = { ...usualRecorderLimits, ...options.limits };
    this.#queue = createCallQueue(this.#limits);
    this.#thread = openWriterThread({
      store,
      log: log === null ? null : { folderBytesMax: logBytesUsual, ...log },
    });
    this.#log =
      log === null
        ? null
        : createLogWriter({
            ask: (task) => this.#thread.ask(task),
            onProblem: (text) => this.#say(text),
          });
    this.#beats = setInterval(() => this.wakeIn(0), this.#limits.beatMs).unref();
    this.#readings = setInterval(() => {
      if ((options.spending?.since() ?? null) !== null) this.wakeIn(0);
    }, this.#limits.spendingMs).unref();
  }

  get requests(): Observer | null {
    return this.#log?.observer ?? null;
  }

  askStates(task: StateTask): Promise<StateAnswer> {
    return this.#thread.askStates(task);
  }

  take(call: ObservedCall): void {
    this.#counts.taken += 1;
    if (this.#isClosed) {
      this.#lose([call], "store failed", "the gateway was stopped");
      return;
    }
    const dropped = this.#queue.push(call);
    this.#lose(dropped, this.#problem === null ? "queue full" : "store failed", this.#problem);
    const isFull = this.#queue.count >= this.#limits.batchCallsMax;
    this.wakeIn(isFull ? 0 : this.#limits.batchMs);
  }

  async flush(): Promise<void> {
    const count = this.#counts.taken;
    if (this.#counts.settled < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiters.push({ count, resolve });
      this.wakeIn(0);
      await promise;
    }
    await this.#log?.flush();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#beats);
    clearInterval(this.#readings);
    if (this.#due !== null) clearTimeout(this.#due.timer);
    const deadline = Promise.withResolvers<void>();
    const timer = setTimeout(deadline.resolve, this.#limits.closeMsMax);
    const rest = this.#writeRest();
    await Promise.race([rest, deadline.promise]);
    clearTimeout(timer);
    await this.#thread.stop();
    // Everything that waited for the thread has failed with it.
    await rest;
    this.#lose(this.#queue.giveUp(), "store failed", this.#problem);
    for (const loss of this.#losses) this.#options.onLoss(loss);
    this.#losses = [];
  }

  stats(): RecorderStats {
    const { recorded, repeated, lost } = this.#counts;
    return {
      recordedCount: recorded,
      repeatedCount: repeated,
      waitingCount: this.#queue.count,
      lostCount: lost,
      problem: this.#problem,
      log: this.#log?.state() ?? null,
    };
  }

  /** Writes then, or earlier if that is planned already. After a failure no new call brings the next attempt forward. */
  wakeIn(ms: number): void {
    const atMs = Date.now() + ms;
    if (this.#isClosed || this.#writing !== null) return;
    if (this.#due !== null && (this.#failureCount > 0 || this.#due.atMs <= atMs)) return;
    if (this.#due !== null) clearTimeout(this.#due.timer);
    this.#due = { timer: setTimeout(() => this.#write(), ms), atMs };
  }

  #write(): void {
    this.#due = null;
    this.#writing = this.#writeBatch().then(() => {
      this.#writing = null;
      const { batchCallsMax, batchMs, retryMs, retryMsMax } = this.#limits;
      const left = this.#queue.count;
      if (this.#failureCount > 0) {
        this.wakeIn(Math.min(retryMs * 2 ** (this.#failureCount - 1), retryMsMax));
      } else if (left > 0 || this.#losses.length > 0) {
        const isUrgent = left >= batchCallsMax || this.#waiters.length > 0;
        this.wakeIn(isUrgent ? 0 : batchMs);
      }
    });
  }

  /** One transaction of the ledger. Without calls it only records that the gateway runs. False if it failed. */
  async #writeBatch(): Promise<boolean> {
    const batch = this.#queue.take(this.#limits.batchCallsMax);
    const losses = this.#losses;
    this.#losses = [];
    const since = this.#options.spending?.since() ?? null;
    const recorded = await this.#send(batch, losses, since);
    if (recorded === null) {
      this.#losses = [...losses, ...this.#losses].reduce(addLoss, []);
      return false;
    }
    const stored = this.#settle(batch, recorded);
    if (since !== null && recorded.spending !== null) {
      this.#options.spending?.onRead(recorded.spending, since, stored);
    }
    for (const loss of [...losses, ...recorded.killed.map(toKilledLoss)]) {
      this.#options.onLoss(loss);
    }
    return true;
  }

  /** Null if nothing of it is known to be written. */
  async #send(
    calls: readonly ObservedCall[],
    losses: readonly RecordingLoss[],
    since: SpendingSince | null,
  ): Promise<Recorded | null> {
    try {
      const { lost: lostCount } = this.#counts;
      const answer = await this.#thread.ask({ do: "record", calls, lostCount, losses, since });
      assert(answer.done === "record", "the writer answers what it was asked");
      return answer;
    } catch (error) {
      this.#queue.giveBack();
      if (isUncopied(error)) this.#removeUncopied(calls);
      this.#failureCount += 1;
      const problem = messageOf(error);
      if (this.#problem === null) this.#say(`calls are not recorded, traffic goes on: ${problem}`);
      this.#problem = problem;
      return null;
    }
  }

  /** The calls that are in the ledger now. */
  #settle(batch: readonly ObservedCall[], recorded: Recorded): readonly ObservedCall[] {
    this.#queue.settle();
    if (this.#problem !== null) this.#say("calls are recorded again");
    [this.#failureCount, this.#problem] = [0, null];
    const refused = new Map(recorded.refused.map(({ id, reason }) => [id, reason]));
    this.#counts.recorded += recorded.recordedCount;
    this.#counts.repeated += recorded.repeatedCount;
    const [reason = null] = refused.values();
    const isRefused = ({ id }: ObservedCall): boolean => refused.has(id);
    this.#lose(batch.filter(isRefused), "not storable", reason);
    const stored = batch.filter((call) => !isRefused(call));
    this.#count(stored.length);
    return stored;
  }

  /** A call that cannot be copied to the thread would stop all others. */
  #removeUncopied(calls: readonly ObservedCall[]): void {
    const faults = calls.filter((call) => !canBeCopied(call));
    this.#queue.remove(new Set(faults));
    this.#lose(faults, "not storable", "it cannot be handed to another thread");
  }

  #lose(
    calls: readonly ObservedCall[],
    cause: RecordingLoss["cause"],
    problem: string | null,
  ): void {
    if (calls.length === 0) return;
    const endsMs = calls.map(({ endMs }) => endMs);
    this.#losses = addLoss(this.#losses, {
      cause,
      lostCount: calls.length,
      fromMs: Math.min(...endsMs),
      untilMs: Math.max(...endsMs),
      problem,
    });
    this.#counts.lost += calls.length;
    this.#count(calls.length);
  }

  /** Written or lost. */
  #count(settled: number): void {
    this.#counts.settled += settled;
    const done = this.#waiters.filter(({ count }) => count <= this.#counts.settled);
    this.#waiters = this.#waiters.filter(({ count }) => count > this.#counts.settled);
    for (const { resolve } of done) resolve();
  }

  /** At the end: each batch is tried once more. */
  async #writeRest(): Promise<void> {
    await this.#writing;
    await this.#log?.flush();
    while (this.#queue.count > 0 || this.#losses.length > 0) {
      if (!(await this.#writeBatch())) return;
    }
    await this.#thread
      .ask({ do: "end", lostCount: this.#counts.lost })
      // The next start then finds a run without an end.
      .catch((error: unknown) => this.#say(`the end was not recorded: ${messageOf(error)}`));
  }

  #say(problem: string): void {
    this.#options.onProblem?.(problem);
  }
}

function isUncopied(error: unknown): boolean {
  return error instanceof DOMException && error.name === "DataCloneError";
}

function canBeCopied(call: ObservedCall): boolean {
  try {
    structuredClone(call);
    return true;
  } catch (error) {
    assert(isUncopied(error), "a copy fails for one reason");
    return false;
  }
}
