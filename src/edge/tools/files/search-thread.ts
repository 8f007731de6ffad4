// The search thread and its deadline.
import { Worker } from "node:worker_threads";
import { ToolError } from "../../../core/tools/tool.ts";
import { toDelayMs } from "../delay.ts";
import {
  serveSearch,
  type LineFound,
  type SearchAnswer,
  type SearchOrder,
} from "./search-worker.ts";

export interface SearchThread {
  search(
    texts: readonly Uint8Array[],
    linesMax: number,
  ): Promise<readonly (readonly LineFound[] | null)[]>;
  /** Ends the thread, or keeps it for the next search if it is idle. */
  close(): void;
}

export interface SearchToOpen {
  readonly source: string;
  readonly flags: string;
  /** The limit for everything until it is closed. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A thread that finished in time is reused: starting one takes longer than most searches. */
export interface SearchThreads {
  /** Throws a `ToolError` for an invalid pattern. */
  open(search: SearchToOpen): Promise<SearchThread>;
}

export function createSearchThreads(): SearchThreads {
  let idle: Worker | null = null;
  const take = (): Worker => {
    const kept = idle;
    idle = null;
    if (kept !== null) return kept;
    const worker = startWorker();
    worker.on("exit", () => {
      if (idle === worker) idle = null;
    });
    return worker;
  };
  return {
    open: async ({ source, flags, timeoutMs, signal }) => {
      const worker = take();
      const deadlineMs = performance.now() + timeoutMs;
      let isSpent = false;
      const end = (): void => {
        isSpent = true;
        void worker.terminate();
      };
      const order = async (message: SearchOrder): Promise<SearchAnswer> => {
        try {
          return await ask(worker, message, deadlineMs - performance.now(), signal);
        } catch (error) {
          end();
          throw error;
        }
      };
      const close = (): void => {
        if (isSpent) return;
        isSpent = true;
        if (idle === null) idle = worker;
        else void worker.terminate();
      };
      const { problem } = await order({ pattern: { source, flags } });
      if (problem !== undefined) {
        close();
        throw new ToolError("validation_error", `the pattern is no regular expression: ${problem}`);
      }
      return {
        search: async (texts, linesMax) => (await order({ texts, linesMax })).found ?? [],
        close,
      };
    },
  };
}

/** The source is the text of a function, so that it works in any bundle. */
function startWorker(): Worker {
  const source = `(${serveSearch.toString()})(require("node:worker_threads").parentPort);`;
  const worker = new Worker(source, {
    eval: true,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  // An idle thread does not keep the program alive. The caller of a search gets its errors.
  worker.unref();
  worker.on("error", () => {});
  return worker;
}

async function ask(
  worker: Worker,
  message: SearchOrder,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const answer = Promise.withResolvers<SearchAnswer>();
  const onMessage = (value: SearchAnswer): void => answer.resolve(value);
  const onEnd = (): void => answer.reject(failed("the search ended unexpectedly"));
  const onAbort = (): void => answer.reject(new ToolError("cancelled", "the search was cancelled"));
  const timer = setTimeout(() => {
    const hint = "use a simpler pattern, or search fewer files";
    answer.reject(new ToolError("timeout", `the search took too long: ${hint}`));
  }, toDelayMs(timeoutMs));
  worker.on("message", onMessage).on("exit", onEnd);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    worker.postMessage(message, []);
    return await answer.promise;
  } finally {
    clearTimeout(timer);
    worker.off("message", onMessage).off("exit", onEnd);
    signal.removeEventListener("abort", onAbort);
  }
}

function failed(problem: string): ToolError {
  return new ToolError("execution_error", problem);
}
