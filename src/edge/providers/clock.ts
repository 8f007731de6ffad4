// The clock of the transport: the current time, and timers.

export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Runs a function after the delay, never earlier. The returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

/** The longest delay a timer of the platform can hold; a longer one would fire immediately. */
export const delayMsMax = 2_147_483_647;

export const machineClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, run) => {
    // The wall clock may change while we wait, and timers may fire slightly early.
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
