// Time as the transport needs it: a moment for the record, and something that happens later.

export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Runs something when that much time has passed, never earlier. The returned function prevents it. */
  after(delayMs: number, run: () => void): () => void;
}

/** The longest delay a timer of the platform can hold; a longer one would fire at once. */
export const delayMsMax = 2_147_483_647;

export const machineClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, run) => {
    // The wall clock may be set while we wait, and timers may fire a fraction too early.
    const dueMs = performance.now() + delayMs;
    const wake = (): void => {
      const leftMs = dueMs - performance.now();
      if (leftMs > 0) timer = setTimeout(wake, Math.ceil(leftMs));
      else run();
    };
    let timer = setTimeout(wake, Math.ceil(delayMs));
    return () => clearTimeout(timer);
  },
};
