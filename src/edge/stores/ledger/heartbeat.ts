// A heartbeat during work. Without it, others may take over a lease or a lock.
import type { Guard } from "../sql/database.ts";
import type { Store } from "./store.ts";

/** Renews three times per lifetime. Stops when the row is no longer ours. */
export function keepAlive({ database, leaseMs }: Store, renew: () => Guard): { stop(): void } {
  let isBeating = false;
  const timer = setInterval(() => {
    if (isBeating) return;
    isBeating = true;
    database
      .commit({ guards: [renew()], writes: [] })
      .then(
        ({ kind }) => kind !== "done" && clearInterval(timer),
        // The database may be back in time. If not, the next commit fails.
        () => {},
      )
      .finally(() => {
        isBeating = false;
      });
  }, leaseMs / 3).unref();
  return { stop: () => clearInterval(timer) };
}
