// For tests of the recorder: a folder, a ledger in it, and what the recorder said.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import {
  openRecorder,
  type Recorder,
  type RecorderOptions,
} from "../../src/gateway/record/open-recorder.ts";
import type { RecordingLoss } from "../../src/gateway/record/recording-loss.ts";

export interface OpenedRecorder {
  readonly recorder: Recorder;
  readonly losses: readonly RecordingLoss[];
  readonly problems: readonly string[];
  /** Resolves with the next loss. */
  readonly nextLoss: () => Promise<RecordingLoss>;
  /** Resolves once a problem was told that holds these words. */
  readonly toldOf: (words: string) => Promise<string>;
}

export function recorderOn(
  store: string,
  more: Partial<Pick<RecorderOptions, "limits" | "log">> = {},
): OpenedRecorder {
  const losses: RecordingLoss[] = [];
  const problems: string[] = [];
  const waiters: (() => void)[] = [];
  const wake = (): void => {
    for (const resolve of waiters.splice(0)) resolve();
  };
  const until = async <T>(find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiters.push(resolve));
    }
  };
  const recorder = openRecorder({
    store,
    onLoss: (loss) => {
      losses.push(loss);
      wake();
    },
    onProblem: (problem) => {
      problems.push(problem);
      wake();
    },
    ...more,
  });
  onTestFinished(() => recorder.close());
  return {
    recorder,
    losses,
    problems,
    nextLoss: () => {
      const known = losses.length;
      return until(() => losses[known]);
    },
    toldOf: (words) => until(() => problems.find((problem) => problem.includes(words))),
  };
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "strata-record-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function inLedger<T>(store: string, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openLedger(store);
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

/** Threads that are started from now on. */
export function watchThreads(): {
  readonly threads: readonly Worker[];
  readonly firstThread: Promise<Worker>;
} {
  const threads: Worker[] = [];
  const { promise: firstThread, resolve } = Promise.withResolvers<Worker>();
  const onWorker = (worker: Worker): void => {
    threads.push(worker);
    resolve(worker);
  };
  process.on("worker", onWorker);
  onTestFinished(() => void process.off("worker", onWorker));
  return { threads, firstThread };
}
