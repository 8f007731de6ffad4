// A sign of life while work goes on: without it, others may take a lease or a lock over.
import type { Guard } from "../sql/database.ts";
import type { Store } from "./store.ts";

export interface Heartbeat {
  stop(): void;
}

/** Renews three times within a lifetime. Stops by itself once the row is not ours any more. */
export function keepAlive({ database, leaseMs }: Store, renew: () => Guard): Heartbeat {
  let isBeating = false;
  const timer = setInterval(() => {
    if (isBeating) return;
    isBeating = true;
    database
      .commit({ guards: [renew()], writes: [] })
      .then(
        ({ kind }) => kind !== "done" && clearInterval(timer),
        // A database that is gone for a moment may be back in time; the next commit tells.
        () => {},
      )
      .finally(() => {
        isBeating = false;
      });
  }, leaseMs / 3).unref();
  return { stop: () => clearInterval(timer) };
}
