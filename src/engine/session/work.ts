// The current work of a session: one piece at a time. Closing waits for it.
import { StrataError } from "../../core/strata-error.ts";

export interface Work {
  /** Throws if work runs or the session is closed. */
  requireIdle(): void;
  /** Runs work that `abort` ends. */
  begin<Result>(run: () => Promise<Result>, abort: (reason: string) => void): Promise<Result>;
  /** Runs work that takes a signal. */
  runAlone<Result>(
    run: (signal: AbortSignal) => Promise<Result>,
    outer?: AbortSignal,
  ): Promise<Result>;
  /** Aborts and awaits the running work, and refuses new work. */
  end(): Promise<"idle" | "aborted">;
}

export function createWork(sessionId: string): Work {
  let running: { readonly over: Promise<unknown>; abort(reason: string): void } | null = null;
  let isEnded = false;
  const requireIdle = (): void => {
    if (isEnded) throw closed(sessionId);
    if (running !== null) throw busy(sessionId);
  };
  const begin: Work["begin"] = async (run, abort) => {
    requireIdle();
    const over = run();
    running = { over, abort };
    try {
      return await over;
    } finally {
      running = null;
    }
  };
  return {
    requireIdle,
    begin,
    runAlone: async (run, outer) => {
      const controller = new AbortController();
      const { signal: own } = controller;
      const signal = outer === undefined ? own : AbortSignal.any([own, outer]);
      return begin(
        () => run(signal),
        (reason) => controller.abort(new Error(reason)),
      );
    },
    end: async () => {
      isEnded = true;
      if (running === null) return "idle";
      running.abort("the session is closed");
      await running.over.catch(() => {});
      return "aborted";
    },
  };
}

function busy(id: string): StrataError {
  return new StrataError(
    "conflict",
    `a turn runs in session ${id}, or the session is being changed`,
    "wait for its result, steer it, or abort it",
  );
}

function closed(id: string): StrataError {
  return new StrataError("conflict", `session ${id} is closed`, "resume it with the engine");
}
