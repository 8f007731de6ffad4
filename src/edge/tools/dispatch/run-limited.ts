// Runs work with a time limit. The work is signalled on timeout or cancellation, and abandoned if it does not stop.
import { ToolError } from "../../../core/tools/tool.ts";
import { toDelayMs } from "../delay.ts";

export interface WorkLimits {
  readonly timeoutMs: number;
  /** How long signalled work may take to stop. */
  readonly graceMs: number;
  /** Called once, right after the work was signalled. */
  readonly onStop?: () => void;
}

/**
 * The work's own result counts, even if it ends late but within the grace: it knows what it did. An error other
 * than a `ToolError` becomes `timeout` or `cancelled`; work that does not end is abandoned.
 */
export async function runLimited<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, graceMs, onStop }: WorkLimits,
  outer: AbortSignal,
): Promise<T> {
  const inner = new AbortController();
  const stopped = Promise.withResolvers<never>();
  let stopReason: ToolError | null = null;
  let grace: NodeJS.Timeout | undefined;
  const stop = (reason: ToolError): void => {
    if (stopReason !== null) return;
    stopReason = reason;
    grace = setTimeout(() => stopped.reject(toAbandoned(reason, graceMs)), toDelayMs(graceMs));
    inner.abort(reason);
    onStop?.();
  };
  const cancel = (): void => stop(new ToolError("cancelled", "cancelled while it ran"));
  const timer = setTimeout(
    () => stop(new ToolError("timeout", `not done within ${describeMs(timeoutMs)}`)),
    toDelayMs(timeoutMs),
  );
  outer.addEventListener("abort", cancel, { once: true });
  if (outer.aborted) cancel();
  try {
    return await Promise.race([runSafely(work, inner.signal), stopped.promise]);
  } catch (error) {
    throw stopReason === null || error instanceof ToolError ? error : stopReason;
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    outer.removeEventListener("abort", cancel);
  }
}

/** Also turns a synchronous throw into a rejection. */
async function runSafely<T>(
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return work(signal);
}

function toAbandoned({ errorClass, message }: ToolError, graceMs: number): ToolError {
  const left = `it did not stop within ${describeMs(graceMs)} and was abandoned; it may still have an effect`;
  return new ToolError(errorClass, `${message}; ${left}`, { isUserVisible: true });
}

function describeMs(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`;
}
