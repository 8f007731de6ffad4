// Files → report, on several threads. The report is the same whatever their number.
import { availableParallelism } from "node:os";
import { addSums, createSums } from "../books.ts";
import type { CallDetail } from "../call-detail.ts";
import { findFiles, type FoundFile } from "../readers/find-files.ts";
import { createRun } from "../readers/run.ts";
import { toReport, type ReplayReport } from "../report.ts";
import {
  createCells,
  createPricing,
  priceFiles,
  readCells,
  type PricedFile,
  type PricingProgress,
  type PricingTask,
} from "./price-files.ts";
import { startPricingThread, type PricingThread } from "./pricing-thread.ts";

export interface FilesOptions extends Pick<
  PricingTask,
  "policies" | "model" | "groupBy" | "changes" | "excerpts"
> {
  /** How many threads; by default two, or one where that is faster. */
  readonly jobs?: number;
  /** Called for every request, file by file, in order of time within a file. */
  readonly onCall?: (call: CallDetail) => void;
  readonly onProgress?: (done: PricingProgress, all: FoundTotals) => void;
}

export interface FoundTotals {
  readonly bytes: number;
  readonly files: number;
}

export async function replayFiles(
  paths: readonly string[],
  { jobs, onCall, onProgress, ...options }: FilesOptions,
): Promise<ReplayReport> {
  const found = await findFiles(paths);
  const task = { ...options, found, keepsCalls: onCall !== undefined, cells: createCells() };
  const all = { bytes: bytesOf(found), files: found.length };
  const report = (): void => onProgress?.(readCells(task), all);
  const results = new Map<number, PricedFile>();
  const merge = createMerge(task, onCall);
  const keep = (priced: PricedFile): void => {
    results.set(priced.index, priced);
    report();
  };
  const threads = startThreads(Math.min(jobs ?? usualJobs(all), found.length), task, keep);
  try {
    for await (const priced of priceFiles(task, report)) {
      keep(priced);
      while (results.has(merge.next())) await merge.add(results);
    }
    await Promise.all(threads.map(({ ended }) => ended));
    while (merge.next() < found.length) await merge.add(results);
    return merge.report();
  } finally {
    await Promise.all(threads.map((thread) => thread.stop()));
  }
}

/** This thread is one of them. */
function startThreads(
  jobs: number,
  task: PricingTask,
  onPriced: (priced: PricedFile) => void,
): readonly PricingThread[] {
  return Array.from({ length: Math.max(0, jobs - 1) }, () => startPricingThread(task, onPriced));
}

/** Below this a second thread costs more time than it saves: it compiles and loads everything again. */
const bytesOfOneThread = 20_000_000;
/** More threads are faster, but each takes about 100 MB. */
const usualThreads = 2;

function usualJobs({ bytes }: FoundTotals): number {
  return bytes < bytesOfOneThread ? 1 : Math.min(usualThreads, availableParallelism());
}

function bytesOf(found: readonly FoundFile[]): number {
  return found.reduce((sum, each) => sum + (each.type === "file" ? each.bytes : 0), 0);
}

export interface Merge {
  /** The number of the next file. */
  next(): number;
  /** Adds the next file. Prices it again if there is no result, or one with wrong claims about the files before it. */
  add(results: Map<number, PricedFile>): Promise<void>;
  report(): ReplayReport;
}

export function createMerge(task: PricingTask, onCall: FilesOptions["onCall"]): Merge {
  const sums = createSums(task.policies.length);
  const run = createRun();
  let next = 0;
  return {
    next: () => next,
    add: async (results) => {
      const priced = results.get(next);
      results.delete(next);
      const isRight = priced !== undefined && run.accept(priced.claims);
      const price = isRight ? null : await createPricing(task, run);
      const right = price === null ? priced : await price(next);
      if (right !== undefined) {
        addSums(sums, right.sums);
        for (const call of right.calls) onCall?.(call);
      }
      next += 1;
    },
    report: () => toReport(sums, task.policies),
  };
}
