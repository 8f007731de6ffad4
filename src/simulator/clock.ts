// The simulator's time: the machine's own, or one that only its user moves.
import { setImmediate } from "node:timers/promises";
import { StrataError } from "../core/strata-error.ts";

export interface Clock {
  readonly kind: "real" | "virtual";
  /** Milliseconds since 1970; never less than before. */
  now(): number;
  /** Resolves when that much of this clock's time has passed, or at once when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  /** Only a virtual clock moves. Everything that falls due on the way happens at its own time. */
  advance(ms: number): Promise<void>;
  /** Never backwards. */
  set(ms: number): Promise<void>;
}

/** Where a virtual clock starts: a day for which the model facts have prices. */
export const virtualStartMs: number = Date.UTC(2026, 10, 15, 12);

export function createRealClock(): Clock {
  let latest = 0;
  return {
    kind: "real",
    now: () => {
      latest = Math.max(latest, Date.now());
      return latest;
    },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener("abort", done);
      }),
    advance: () => Promise.reject(notMovable()),
    set: () => Promise.reject(notMovable()),
  };
}

interface Waiter {
  readonly dueMs: number;
  readonly resume: () => void;
}

export function createVirtualClock(startMs: number = virtualStartMs): Clock {
  let now = startMs;
  let moving: Promise<void> = Promise.resolve();
  const waiters = new Set<Waiter>();

  const moveTo = async (ms: number): Promise<void> => {
    // What is under way may be about to wait.
    await setImmediate();
    for (let next = earliest(waiters, ms); next !== null; next = earliest(waiters, ms)) {
      now = Math.max(now, next.dueMs);
      next.resume();
      // Whoever waited may want to wait again on the way, for the next event of a stream.
      await setImmediate();
    }
    now = ms;
  };
  /** One move after the other, so that two clients cannot turn the clock back. */
  const move = (target: () => number): Promise<void> => {
    const step = moving.then(() => moveTo(checked(target())));
    moving = step.catch(() => {});
    return step;
  };

  return {
    kind: "virtual",
    now: () => now,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true || ms <= 0) return resolve();
        const resume = (): void => {
          waiters.delete(waiter);
          signal?.removeEventListener("abort", resume);
          resolve();
        };
        const waiter: Waiter = { dueMs: now + ms, resume };
        waiters.add(waiter);
        signal?.addEventListener("abort", resume);
      }),
    advance: (ms) =>
      move(() => {
        if (ms < 0) throw backwards();
        return now + ms;
      }),
    set: (ms) =>
      move(() => {
        if (ms < now) throw backwards();
        return ms;
      }),
  };
}

function earliest(waiters: ReadonlySet<Waiter>, untilMs: number): Waiter | null {
  let found: Waiter | null = null;
  for (const waiter of waiters) {
    if (waiter.dueMs <= untilMs && (found === null || waiter.dueMs < found.dueMs)) found = waiter;
  }
  return found;
}

/** The last moment a date can name; a clock beyond it could never be read, nor turned back. */
const momentMsMax = 8.64e15;

function checked(ms: number): number {
  if (Number.isSafeInteger(ms) && ms <= momentMsMax) return ms;
  throw new StrataError(
    "input-invalid",
    `the clock cannot stand at ${ms} ms`,
    `move it by whole milliseconds, to ${momentMsMax} at most`,
  );
}

function backwards(): StrataError {
  return new StrataError(
    "input-invalid",
    "the clock never goes back",
    "advance it, or start a new simulator",
  );
}

function notMovable(): StrataError {
  return new StrataError(
    "input-invalid",
    "this simulator runs on the machine's clock",
    'start it with a virtual clock: --virtual-clock, or createSimulator({ clock: "virtual" })',
  );
}
