// Time as the bus needs it, and randomness for ids.

/** Runs something after that much time; with 0, soon but never before the caller is done. The result prevents it. */
export type Schedule = (delayMs: number, run: () => void) => () => void;

/** Timers hold the process until they fire, so that a program that ends does not leave events behind. */
export const scheduleOnMachine: Schedule = (delayMs, run) => {
  if (delayMs <= 0) {
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  }
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
};

/** Wall clock in microseconds since 1970; whole milliseconds, which is what it can tell. */
export function machineNowUs(): number {
  return Date.now() * 1000;
}

const bytesPerId = 10;
const idsPerPool = 400;

/** Ten random bytes at a time, drawn four hundred ids ahead. */
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
