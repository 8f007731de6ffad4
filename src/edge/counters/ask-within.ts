// One request within a time limit. Always gives an outcome, even if the sender never answers.
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply } from "../../core/wire/reply.ts";

export interface CounterClock {
  /** From any beginning; only differences count. */
  nowMs(): number;
  /** Runs a function later. The returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

/** Not the wall clock, which may change during a pause. */
export const monotonicClock: CounterClock = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

export interface Asking {
  readonly send: (signal: AbortSignal) => Promise<{ readonly outcome: Reply | ProviderFailure }>;
  readonly limitMs: number;
  readonly clock: CounterClock;
  readonly signal: AbortSignal;
}

/** Never rejects. */
export async function askWithin(asking: Asking): Promise<Reply | ProviderFailure> {
  const { limitMs, clock, signal } = asking;
  const limit = new AbortController();
  const ending = Promise.withResolvers<ProviderFailure>();
  const cancelLimit = clock.after(limitMs, () => {
    ending.resolve({ kind: "timeout", detail: `no count within ${limitMs} ms` });
    limit.abort();
  });
  const onAbort = (): void =>
    ending.resolve({ kind: "cancelled", detail: "no caller waits for it" });
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([
      send(asking, AbortSignal.any([signal, limit.signal])),
      ending.promise,
    ]);
  } finally {
    cancelLimit();
    signal.removeEventListener("abort", onAbort);
  }
}

async function send(asking: Asking, signal: AbortSignal): Promise<Reply | ProviderFailure> {
  try {
    return (await asking.send(signal)).outcome;
  } catch (error) {
    // The error's message is left out: it may contain the request.
    const name = error instanceof Error ? error.name : typeof error;
    return { kind: "unreachable", detail: `the request could not be sent (${name})` };
  }
}
