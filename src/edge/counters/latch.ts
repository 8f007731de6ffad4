// The label of a counter: exact until its first fallback, and never again after that.
import type { ProviderFailure } from "../../core/wire/failure.ts";

export interface CounterLabel {
  /** False for good once the counter had to fall back, also for counts of the provider. */
  readonly exact: boolean;
  /** The chosen backend, or cascading_degraded. */
  readonly backend: string;
}

export interface Latch {
  label(): CounterLabel;
  /** Warns the first time. */
  degrade(failure: ProviderFailure): void;
}

const detailCharactersMax = 200;

export function createLatch(
  backend: string,
  asksProvider: boolean,
  warn: (message: string) => void,
): Latch {
  let isDegraded = false;
  return {
    label: () =>
      isDegraded
        ? { exact: false, backend: "cascading_degraded" }
        : { exact: asksProvider, backend },
    degrade: ({ kind, detail }) => {
      if (isDegraded) return;
      isDegraded = true;
      const reason = `${kind}: ${detail.slice(0, detailCharactersMax)}`;
      warn(`${backend} did not count (${reason}); counts are called estimates from now on`);
    },
  };
}
