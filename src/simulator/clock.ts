// The simulator's clock: the machine's, or a virtual one that only the user moves.
import { setImmediate } from "node:timers/promises";
import { StrataError } from "../core/strata-error.ts";

export interface Clock {
  readonly kind: "real" | "virtual";
  /** Milliseconds since 1970; never goes back. */
  now(): number;
  /** Resolves after that much time on this clock, or immediately when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  /** Virtual clock only. Waits that end on the way resolve at their own time. */
  advance(ms: number): Promise<void>;
  /** Virtual clock only, never backwards. */
  set(ms: number): Promise<void>;
}

/** Start of a virtual clock: a day for which the model facts have prices. */
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
    // Running code may be about to wait.
    await setImmediate();
    for (let next = earliest(waiters, ms); next !== null; next = earliest(waiters, ms)) {
      now = Math.max(now, next.dueMs);
      next.resume();
      // The resumed code may wait again, for example for the next event of a stream.
      await setImmediate();
    }
    now = ms;
  };
  /** Moves run one after the other, so that two clients cannot turn the clock back. */
  const move = (target: () => number): Promise<void> => {
    const step = moving.then(() => moveTo(checked(target(), now)));
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
    advance: (ms) => move(() => now + ms),
    set: (ms) => move(() => ms),
  };
}

function earliest(waiters: ReadonlySet<Waiter>, untilMs: number): Waiter | null {
  let found: Waiter | null = null;
  for (const waiter of waiters) {
    if (waiter.dueMs <= untilMs && (found === null || waiter.dueMs < found.dueMs)) found = waiter;
  }
  return found;
}

/** The largest valid Date. A clock beyond it could not be shown as a date or turned back. */
const dateMsMax = 8.64e15;

function checked(ms: number, now: number): number {
  if (ms < now) {
    const hint = "advance it, or start a new simulator";
    throw new StrataError("input-invalid", "the clock never goes back", hint);
  }
  if (Number.isSafeInteger(ms) && ms <= dateMsMax) return ms;
  throw new StrataError(
    "input-invalid",
    `the clock cannot be set to ${ms} ms`,
    `move it by whole milliseconds, to ${dateMsMax} at most`,
  );
}

function notMovable(): StrataError {
  return new StrataError(
    "input-invalid",
    "this simulator runs on the machine's clock",
    'start it with a virtual clock: --virtual-clock, or createSimulator({ clock: "virtual" })',
  );
}
