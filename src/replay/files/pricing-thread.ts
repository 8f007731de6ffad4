// A second thread that prices files. This file is both sides: what starts the thread, and what runs in it.
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { priceFiles, type PricedFile, type PricingTask } from "./price-files.ts";

export interface PricingThread {
  /** Resolves when the thread has ended, for whatever reason. */
  readonly ended: Promise<void>;
  stop(): Promise<unknown>;
}

/** Files that the thread takes and does not deliver, because it failed on them, are left to the caller. */
export function startPricingThread(
  task: PricingTask,
  onPriced: (priced: PricedFile) => void,
): PricingThread {
  const worker = new Worker(new URL(import.meta.url), { workerData: { pricingTask: task } });
  worker.on("message", onPriced);
  // The caller prices its file again and meets the same error, with its class and its hint.
  worker.on("error", () => undefined);
  return {
    ended: new Promise((resolve) => worker.on("exit", () => resolve())),
    stop: () => worker.terminate(),
  };
}

if (!isMainThread && parentPort !== null && isPricing(workerData)) {
  for await (const priced of priceFiles(workerData.pricingTask)) {
    parentPort.postMessage(priced, []);
  }
}

/** A program may load this file in a thread of its own. */
function isPricing(data: unknown): data is { readonly pricingTask: PricingTask } {
  return typeof data === "object" && data !== null && "pricingTask" in data;
}
