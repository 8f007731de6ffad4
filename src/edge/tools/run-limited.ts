// Work with an end: it is told when its time is up or nobody wants it any more, and left alone when it does not listen.
import { ToolError } from "../../core/tools/tool.ts";
import { toDelayMs } from "./delay.ts";

export interface WorkLimits {
  readonly timeoutMs: number;
  /** How long work that was told to stop may take to do so. */
  readonly graceMs: number;
  /** Called once, right after the work was told to stop. */
  readonly onStop?: () => void;
}

/**
 * What the work says is what counts, also when it ends late but within the grace: it knows what it did. An error
 * that is not its own words becomes `timeout` or `cancelled`; work that does not end at all is abandoned.
 */
export async function runLimited<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, graceMs, onStop }: WorkLimits,
  outer: AbortSignal,
): Promise<T> {
  const inner = new AbortController();
  const stopped = Promise.withResolvers<never>();
  let told: ToolError | null = null;
  let grace: NodeJS.Timeout | undefined;
  const stop = (reason: ToolError): void => {
    if (told !== null) return;
    told = reason;
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
    throw told === null || error instanceof ToolError ? error : told;
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    outer.removeEventListener("abort", cancel);
  }
}

/** What it throws before its first await is a rejection too. */
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
