// Removes old events from the ledger while a host is open, as ledger.events_kept_days says.
import { messageOf } from "../../core/strata-error.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { FollowedConfig } from "../config/follow-config.ts";

export interface SweepOptions {
  readonly ledger: Pick<Ledger, "sweepEvents">;
  readonly config: FollowedConfig;
  readonly onNotice: (notice: string) => void;
}

/** Sweeps now and then once a day. The timer keeps no process alive; `close` waits for a running sweep. */
export function sweepOldEvents({ ledger, config, onNotice }: SweepOptions): {
  close(): Promise<void>;
} {
  let sweeping: Promise<unknown> = Promise.resolve();
  const sweep = (): void => {
    const days = config.now().ledger.eventsKeptDays;
    if (days === null) return;
    sweeping = ledger.sweepEvents(Date.now() - days * dayMs).catch((problem: unknown) => {
      const why = messageOf(problem);
      onNotice(`old events were not swept: ${why}`);
    });
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
