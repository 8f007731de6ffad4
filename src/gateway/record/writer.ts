// What runs in the writer's thread: the ledger, opened when it is needed and again after it failed, and the request log.
import { randomBytes } from "node:crypto";
import { createEventIds } from "../../core/events/event-ids.ts";
import { completeEvent, type StrataEvent } from "../../core/events/event.ts";
import type {
  GatewayCall,
  GatewayRun,
  KeySpending,
  OpenGatewayRun,
  RecordedCalls,
  SpendingSince,
} from "../../core/ledger/gateway-call.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { createLogFolder, type LogEntry, type LogFolder, type LogOptions } from "./log-folder.ts";
import { toKilledLoss, toLossPayload, type RecordingLoss } from "./recording-loss.ts";

export interface WriterOptions {
  /** A path or a connection string. */
  readonly store: string;
  /** Null if requests are not logged. */
  readonly log: LogOptions | null;
  /** The run that an earlier thread of this process began. */
  readonly runId: string | null;
}

export type WriterTask =
  | {
      readonly do: "record";
      /** Empty to record only that the gateway runs. */
      readonly calls: readonly GatewayCall[];
      /** Since the start of the process. */
      readonly lostCount: number;
      /** Losses to report as events, now that the ledger takes something. */
      readonly losses: readonly RecordingLoss[];
      /** Also sum what keys have spent; null for no such sum. */
      readonly since: SpendingSince | null;
    }
  | { readonly do: "log"; readonly entry: LogEntry }
  | { readonly do: "end"; readonly lostCount: number };

export interface Recorded extends RecordedCalls {
  readonly runId: string;
  /** Runs of other processes that were found dead. */
  readonly killed: readonly GatewayRun[];
  /** With these calls in it; null if it was not asked for. */
  readonly spending: readonly KeySpending[] | null;
}

export type WriterAnswer =
  | ({ readonly done: "record" } & Recorded)
  | { readonly done: "log"; readonly problem: string | null }
  | { readonly done: "end" };

export interface Writer {
  run(task: WriterTask): Promise<WriterAnswer>;
  /** Stores sums of hours that are over, a little at a time. Whether more are left. Not before the first record, and never an error. */
  catchUp(): Promise<boolean>;
}

export function createWriter({ store, log, runId }: WriterOptions): Writer {
  let opened: OpenedLedger | null = null;
  let ownRun = runId;
  const folder = log === null ? null : createLogFolder(log);
  const ids = createEventIds();

  const onLedger = async <T>(work: (opened: OpenedLedger) => Promise<T>): Promise<T> => {
    try {
      opened ??= await openRecording(store, ownRun);
      ownRun = opened.run.id;
      return await work(opened);
    } catch (error) {
      // If the file was replaced or the server went away, the ledger is opened anew.
      await opened?.ledger.close().catch(() => {});
      opened = null;
      throw error;
    }
  };
  const toEvents = (run: string, losses: readonly RecordingLoss[]): readonly StrataEvent[] =>
    losses.map((loss) =>
      completeEvent(
        { type: "gateway.calls_lost", sessionId: run, payload: toLossPayload(loss) },
        { id: ids.next(Date.now(), randomBytes(10)), timestampUs: Date.now() * 1000 },
      ),
    );
  return {
    catchUp: async () => {
      // A failed ledger fails the next record, too, which reports it.
      const done = await opened?.ledger.catchUp(catchUpAtOnce).catch(() => undefined);
      return done !== undefined && !done.isComplete && !done.isBusy;
    },
    run: async (task) => {
      if (task.do === "log") {
        return { done: "log", problem: await writeLog(folder, task.entry) };
      }
      return onLedger(async ({ ledger, run }) => {
        if (task.do === "end") {
          await run.end(task.lostCount);
          await ledger.close();
          folder?.close();
          return { done: "end" };
        }
        const recorded = await recordAll(ledger, task.calls);
        const killed = await run.beat(task.lostCount);
        const losses = [...task.losses, ...killed.map(toKilledLoss)];
        await ledger.appendEvents(toEvents(run.id, losses));
        const spending = task.since === null ? null : await ledger.sumKeySpending(task.since);
        return { done: "record", ...recorded, runId: run.id, killed, spending };
      });
    },
  };
}

/** Records wait for it: about a fifth of a second. */
const catchUpAtOnce = { budgetMs: 1, callsPerBatch: 5000 } as const;

interface OpenedLedger {
  readonly ledger: Ledger;
  readonly run: OpenGatewayRun;
}

async function openRecording(store: string, runId: string | null): Promise<OpenedLedger> {
  const ledger = await openLedger(store);
  try {
    return { ledger, run: await ledger.openGatewayRun(runId ?? undefined) };
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

/** If one call makes the batch fail though the ledger works, writing them one by one finds it. */
async function recordAll(ledger: Ledger, calls: readonly GatewayCall[]): Promise<RecordedCalls> {
  try {
    return await ledger.recordCalls(calls);
  } catch (error) {
    if (isOfStore(error)) throw error;
  }
  let [recordedCount, repeatedCount] = [0, 0];
  const refused: { id: string; reason: string }[] = [];
  for (const call of calls) {
    try {
      const one = await ledger.recordCalls([call]);
      recordedCount += one.recordedCount;
      repeatedCount += one.repeatedCount;
      refused.push(...one.refused);
    } catch (error) {
      if (isOfStore(error)) throw error;
      refused.push({ id: call.id, reason: messageOf(error) });
    }
  }
  return { recordedCount, repeatedCount, refused };
}

function isOfStore(error: unknown): boolean {
  return error instanceof StrataError && storeCodes.has(error.code);
}

/** A conflict is not among them: the ledger has tried several times by then, and one call must not hold up all others. */
const storeCodes: ReadonlySet<string> = new Set([
  "store-unavailable",
  "environment-unfit",
  "usage",
]);

async function writeLog(folder: LogFolder | null, entry: LogEntry): Promise<string | null> {
  try {
    await folder?.write(entry);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
