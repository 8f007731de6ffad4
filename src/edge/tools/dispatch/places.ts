// Limits how many tools of a session run at a time, across all its replies.
import { ToolError } from "../../../core/tools/tool.ts";

export interface Places {
  /** Resolves with a function that frees the place, first come, first served. Rejects if the signal aborts before. */
  take(sessionId: string, signal: AbortSignal): Promise<() => void>;
}

interface Line {
  taken: number;
  readonly waiting: Set<() => void>;
}

export function createPlaces(atOnceMax: number): Places {
  const lines = new Map<string, Line>();

  function release(sessionId: string, line: Line): void {
    const [next] = line.waiting;
    if (next !== undefined) {
      // The next waiter takes over the place directly.
      line.waiting.delete(next);
      next();
      return;
    }
    line.taken -= 1;
    if (line.taken === 0) lines.delete(sessionId);
  }

  async function take(sessionId: string, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw cancelledBeforeItRan();
    const line = lines.get(sessionId) ?? { taken: 0, waiting: new Set() };
    lines.set(sessionId, line);
    if (line.taken < atOnceMax) line.taken += 1;
    else await waitIn(line, signal);
    let isGiven = false;
    return () => {
      if (!isGiven) release(sessionId, line);
      isGiven = true;
    };
  }

  return { take };
}

function waitIn(line: Line, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const proceed = (): void => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    const giveUp = (): void => {
      line.waiting.delete(proceed);
      reject(cancelledBeforeItRan());
    };
    line.waiting.add(proceed);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

function cancelledBeforeItRan(): ToolError {
  return new ToolError("cancelled", "cancelled before it ran");
}
