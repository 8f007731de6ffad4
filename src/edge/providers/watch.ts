// Ends a wait early: when a limit runs out, or when the caller cancels.
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Clock } from "./clock.ts";

export interface Watch {
  /** Aborted as soon as this watch has stopped. */
  readonly signal: AbortSignal;
  /** Why it stopped; null while it goes on. */
  stopped(): ProviderFailure | null;
  /** The first reason counts. */
  stop(failure: ProviderFailure): void;
  /** Stops when the signal aborts. */
  follow(signal: AbortSignal, toFailure: () => ProviderFailure): void;
  /** Begins a limit and ends the one before it. */
  begin(limitMs: number, failure: ProviderFailure): void;
  /** Releases timers and signals. */
  end(): void;
}

export function createWatch(clock: Clock): Watch {
  const controller = new AbortController();
  const releases: (() => void)[] = [];
  let failure: ProviderFailure | null = null;
  let endLimit: (() => void) | null = null;

  const stop = (why: ProviderFailure): void => {
    if (failure !== null) return;
    failure = why;
    controller.abort();
  };
  return {
    signal: controller.signal,
    stopped: () => failure,
    stop,
    follow: (signal, toFailure) => {
      if (signal.aborted) return stop(toFailure());
      const onAbort = (): void => stop(toFailure());
      signal.addEventListener("abort", onAbort);
      releases.push(() => signal.removeEventListener("abort", onAbort));
    },
    begin: (limitMs, why) => {
      endLimit?.();
      endLimit = clock.after(limitMs, () => stop(why));
    },
    end: () => {
      endLimit?.();
      for (const release of releases.splice(0)) release();
    },
  };
}

/** A watch that stops when the other one does, for the same reason. */
export function createInnerWatch(clock: Clock, outer: Watch): Watch {
  const watch = createWatch(clock);
  watch.follow(outer.signal, () => outer.stopped() ?? cancelled("cancelled"));
  return watch;
}

/** Resolves after a time, or as soon as the watch stops. */
export function waitFor(delayMs: number, clock: Clock, watch: Watch): Promise<void> {
  return new Promise((resolve) => {
    if (watch.signal.aborted) return resolve();
    const done = (): void => {
      cancel();
      watch.signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(delayMs, done);
    watch.signal.addEventListener("abort", done);
  });
}

export function cancelled(detail: string): ProviderFailure {
  return { kind: "cancelled", detail };
}
