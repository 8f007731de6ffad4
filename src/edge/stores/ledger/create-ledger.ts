// A ledger on a database. core/ledger states its promises; ../sql defines its tables.
import { randomInt } from "node:crypto";
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { createMakeEvent } from "../../events/make-event.ts";
import { createRandomBytes } from "../../events/schedule.ts";
import { createSessionIds } from "../../events/session-ids.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { Database } from "../sql/database.ts";
import { migrate } from "../sql/migrate.ts";
import { checkParts } from "./check-ledger.ts";
import { deleteSession } from "./sessions/delete-session.ts";
import { eventParts } from "./events.ts";
import { exportSession } from "./transfer/export-session.ts";
import { dropStaleLocks, lockCompaction } from "./compactions/compaction-lock.ts";
import { compactionColumns, toCompaction } from "./compactions/compaction-rows.ts";
import { importSession } from "./transfer/import-session.ts";
import { findToolResult, readHistory } from "./threads/read-history.ts";
import { searchHistory } from "./threads/search-history.ts";
import { sessionParts } from "./sessions/sessions.ts";
import { newHolder } from "./lease-holder.ts";
import { leaseMsMax, type Store } from "./store.ts";
import { threadParts } from "./threads/threads.ts";
import { endOf, latestCompaction, latestFoundation } from "./threads/thread-path.ts";
import { turnParts } from "./turns/turns.ts";

export interface LedgerOptions {
  /** The lease holder's name for others. Default: machine and process. */
  readonly holder?: string;
  /** How long a lease lasts without a heartbeat. 30 seconds by default. */
  readonly leaseMs?: number;
  /** Milliseconds since 1970, also for leases. By default leases use the database's own clock. */
  readonly now?: () => number;
}

/** Migrates the schema first. Closes the database if that fails. */
export async function createLedger(
  database: Database,
  options: LedgerOptions = {},
): Promise<Ledger> {
  const store = toStore(database, options);
  try {
    await migrate(database, store.now());
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    ...sessionParts(store),
    ...turnParts(store),
    ...threadParts(store),
    ...compactionParts(store),
    ...eventParts(store),
    searchHistory: (query) => searchHistory(store, query),
    readHistory: (range) => readHistory(store, range),
    findToolResult: (sessionId, toolUseId) => findToolResult(store, sessionId, toolUseId),
    exportSession: (id) => exportSession(store, id),
    importSession: (lines, as) => importSession(store, lines, as),
    ...checkParts(store),
    deleteSession: (id, how = {}) => deleteSession(store, id, how),
    close: () => database.close(),
  };
}

type NotesParts = Pick<
  Ledger,
  "lockCompaction" | "dropStaleLocks" | "findCompaction" | "findFoundation" | "readCompactions"
>;

function compactionParts(store: Store): NotesParts {
  return {
    lockCompaction: (sessionId) => lockCompaction(store, sessionId),
    dropStaleLocks: (olderThanMs) => dropStaleLocks(store, olderThanMs),
    findCompaction: async (of) => latestCompaction(store, await endOf(store, of)),
    findFoundation: async (of, model) => latestFoundation(store, await endOf(store, of), model),
    readCompactions: async (sessionId, limit = 20) => {
      const rows = await store.database.query(
        `SELECT ${compactionColumns} FROM compactions_v1 c WHERE c.session_id = ? ORDER BY c.compacted_at DESC, c.turn_id DESC LIMIT ?`,
        [sessionId, limit],
      );
      return rows.map(toCompaction);
    },
  };
}

function toStore(database: Database, { holder, leaseMs = 30_000, now }: LedgerOptions): Store {
  if (!(leaseMs > 0 && leaseMs <= leaseMsMax)) {
    throw new StrataError(
      "config-invalid",
      `leaseMs is ${leaseMs}, but must be above 0 and at most ${leaseMsMax}`,
      "set a valid leaseMs, or leave it out",
    );
  }
  return {
    database,
    newHolder: () => newHolder(holder),
    leaseMs,
    now: now ?? Date.now,
    clock: () =>
      now === undefined
        ? { sql: database.clockSql, values: [] }
        : { sql: "CAST(? AS BIGINT)", values: [now()] },
    newBranchId,
    events: createEvents(now ?? Date.now),
  };
}

function createEvents(now: () => number): Store["events"] {
  const ids = createSessionIds(createRandomBytes());
  const nowUs = (): number => now() * 1000;
  // Our own events must match the catalogue.
  const make = createMakeEvent({ strictness: "strict", ids, nowUs, report: () => {} });
  return { make, continueAfter: (id, eventId) => ids.continueAfter(id, eventId) };
}

/** Milliseconds and 12 random bits. Grows with time, so that new branches are adjacent on disk. */
function newBranchId(): number {
  return (Date.now() - idsStartMs) * 4096 + randomInt(4096);
}

const idsStartMs = Date.UTC(2026, 0, 1);
