// Old events leave the ledger as long as an engine is open, as ledger.events_kept_days says.
import type { Ledger } from "../core/ledger/ledger.ts";
import type { Closing } from "./open-engine-base.ts";

export interface SweepSettings {
  readonly ledger: Pick<Ledger, "sweepEvents">;
  /** Asked each time; null for never. */
  readonly keptDays: () => number | null;
  readonly onProblem: (problem: unknown) => void;
}

/** At once and then once a day; nobody waits for it, and it keeps no process alive. */
export function keepSweeping({ ledger, keptDays, onProblem }: SweepSettings): Closing {
  let sweeping: Promise<unknown> = Promise.resolve();
  const sweep = (): void => {
    const days = keptDays();
    if (days === null) return;
    sweeping = ledger.sweepEvents(Date.now() - days * dayMs).catch(onProblem);
  };
  sweep();
  const timer = setInterval(sweep, dayMs).unref();
  return {
    close: async () => {
      clearInterval(timer);
      await sweeping;
    },
  };
}

const dayMs = 86_400_000;
