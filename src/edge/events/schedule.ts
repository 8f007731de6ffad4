// Timers, the clock and random bytes for the event bus.

/** Calls `run` after the delay; with 0, soon but never inside the caller's call. Call the result to cancel. */
export type Schedule = (delayMs: number, run: () => void) => () => void;

/** These timers keep the process alive until they fire, so that a program does not exit with events unwritten. */
export const scheduleOnMachine: Schedule = (delayMs, run) => {
  if (delayMs <= 0) {
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  }
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
};

/** Wall clock in microseconds since 1970, with a resolution of one millisecond. */
export function machineNowUs(): number {
  return Date.now() * 1000;
}

const bytesPerId = 10;
const idsPerPool = 400;

/** Returns ten random bytes per call, drawn from the system for four hundred ids together. */
export function createRandomBytes(): () => Uint8Array {
  const pool = new Uint8Array(bytesPerId * idsPerPool);
  let at = pool.length;
  return () => {
    if (at === pool.length) {
      crypto.getRandomValues(pool);
      at = 0;
    }
    at += bytesPerId;
    return pool.subarray(at - bytesPerId, at);
  };
}
