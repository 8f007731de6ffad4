// A ledger in memory: for tests, examples and sessions that need no tomorrow.
import type { CallEntry, Ledger } from "../../core/ledger/ledger.ts";
import { StrataError } from "../../core/strata-error.ts";

export interface MemoryLedger extends Ledger {
  /** Every call so far, the oldest first. */
  calls(): readonly CallEntry[];
}

export function createMemoryLedger(): MemoryLedger {
  const entries = new Map<string, CallEntry>();
  return {
    append: (entry) => {
      const name = `${entry.turnId} ${entry.number}`;
      if (entries.has(name)) {
        return Promise.reject(
          new StrataError(
            "input-invalid",
            `call ${entry.number} of turn ${entry.turnId} is recorded already`,
            "give every turn an id of its own",
          ),
        );
      }
      entries.set(name, entry);
      return Promise.resolve();
    },
    calls: () => [...entries.values()],
  };
}
