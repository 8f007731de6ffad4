// Calls a counter's listeners. Their errors are counted and never fail the turn.
import type { Drift } from "../../core/tokens/drift.ts";

export interface CounterListeners {
  /** Each warning comes once. */
  readonly onWarning?: (message: string) => void;
  readonly onDrift?: (drift: Drift) => void;
}

export interface Telling {
  readonly warn: (message: string) => void;
  readonly drift: (drift: Drift) => void;
  failures(): number;
}

export function createTelling({ onWarning, onDrift }: CounterListeners): Telling {
  let failures = 0;
  const tell = (run: () => void): void => {
    try {
      run();
    } catch {
      failures += 1;
    }
  };
  return {
    warn: (message) => tell(() => onWarning?.(message)),
    drift: (drift) => tell(() => onDrift?.(drift)),
    failures: () => failures,
  };
}
