// The compaction part of a ledger: locking and reading.
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { type Store } from "./store.ts";
import { lockFolding, dropStaleLocks } from "./fold-lock.ts";
import { foldColumns, toFold } from "./fold-rows.ts";
import { endOf, latestFold, latestFoundation } from "./thread-path.ts";

type FoldParts = Pick<
  Ledger,
  "lockFolding" | "dropStaleLocks" | "findFold" | "findFoundation" | "readFolds"
>;

export function foldParts(store: Store): FoldParts {
  return {
    lockFolding: (sessionId) => lockFolding(store, sessionId),
    dropStaleLocks: (olderThanMs) => dropStaleLocks(store, olderThanMs),
    findFold: async (of) => latestFold(store, await endOf(store, of)),
    findFoundation: async (of, model) => latestFoundation(store, await endOf(store, of), model),
    readFolds: async (sessionId, limit = 20) => {
      const rows = await store.database.query(
        `SELECT ${foldColumns} FROM compactions_v1 c WHERE c.session_id = ? ORDER BY c.compacted_at DESC, c.turn_id DESC LIMIT ?`,
        [sessionId, limit],
      );
      return rows.map(toFold);
    },
  };
}
