// Calls that begin alike and come at once: the first one writes, the others wait until its answer begins and read what it wrote.

export interface FanOut {
  /** A call whose cold prefix has this name. */
  enter(prefix: string): Turn;
  /** How many calls waited so far. */
  readonly waitedCount: number;
}

export interface Turn {
  /** Null for the first one; else resolves when it may go, after the longest wait at the latest. */
  readonly mayGo: Promise<void> | null;
  /** To be called when its answer begins, and at its end. */
  begun(): void;
}

interface First {
  readonly startMs: number;
  readonly begun: Promise<void>;
  readonly resolve: () => void;
}

export function createFanOut(waitMsMax: number): FanOut {
  const firsts = new Map<string, First>();
  let waitedCount = 0;
  return {
    enter: (prefix) => {
      const first = firsts.get(prefix);
      const nowMs = performance.now();
      // No request waits for one that takes longer than that, or whose end was missed.
      if (first !== undefined && nowMs - first.startMs < waitMsMax) {
        waitedCount += 1;
        return { mayGo: within(waitMsMax, first.begun), begun: () => {} };
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      const own: First = { startMs: nowMs, begun: promise, resolve };
      firsts.set(prefix, own);
      const begun = (): void => {
        if (firsts.get(prefix) === own) firsts.delete(prefix);
        resolve();
      };
      return { mayGo: null, begun };
    },
    get waitedCount() {
      return waitedCount;
    },
  };
}

function within(ms: number, event: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void event.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
