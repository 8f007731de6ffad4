// A ledger on a database. core/ledger states its promises; ../sql defines its tables.
import { randomInt } from "node:crypto";
import { createEventIds } from "../../../core/events/event-ids.ts";
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { createMakeEvent } from "../../events/make-event.ts";
import { createRandomBytes } from "../../events/schedule.ts";
import { createSessionIds } from "../../events/session-ids.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { repriceCalls } from "./reprice-calls.ts";
import { catchUp } from "../rollups/catch-up.ts";
import type { Database } from "../sql/database.ts";
import { migrate } from "../sql/migrate.ts";
import { checkLedger, readStats } from "./check-ledger.ts";
import { dropStaleLocks, lockCompaction } from "./compactions/compaction-lock.ts";
import { appendEvents, readEvents, sweepEvents } from "./events.ts";
import { newHolder } from "./lease-holder.ts";
import { findStates, keepStates, sweepStates } from "./gateway/conversation-states.ts";
import { openGatewayRun, readGatewayRuns } from "./gateway/gateway-runs.ts";
import { listWarming, sumKeySpending } from "./gateway/key-spending.ts";
import { readGatewayCalls, readPrompt } from "./gateway/read-conversation.ts";
import { recordCalls } from "./gateway/record-calls.ts";
import { readLoneCalls, recordCall, sumLoneCalls } from "./lone-calls.ts";
import { sumSpending } from "./sum-spending.ts";
import { dropQueued, enqueue, findQueued, readQueue } from "./queue-items.ts";
import { resourcesOf } from "./resources.ts";
import { repairLedger } from "./repair-ledger.ts";
import { deleteSession } from "./sessions/delete-session.ts";
import { forkSession, moveSession } from "./sessions/fork-session.ts";
import {
  createSession,
  findSession,
  listSessions,
  pointerHistory,
  readContent,
  readLatestStates,
  readState,
  setStatus,
} from "./sessions/sessions.ts";
import { leaseMsMax, type Store } from "./store.ts";
import { findToolResult, readHistory } from "./threads/read-history.ts";
import { searchHistory } from "./threads/search-history.ts";
import { findCompaction, findFoundation, readCompactions } from "./threads/thread-path.ts";
import { readThread, readTurns } from "./threads/threads.ts";
import { exportSession } from "./transfer/export-session.ts";
import { importSession } from "./transfer/import-session.ts";
import { openTurn } from "./turns/open-turn.ts";
import { readCalls, readMessages, readToolCalls, readUnpriced } from "./turns/read-turn.ts";
import { abandonTurn, findTurn, findUnfinished, resumeTurn } from "./turns/turns.ts";

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
  return toLedger(store);
}

function toLedger(store: Store): Ledger {
  const on =
    <Rest extends unknown[], Result>(work: (store: Store, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      work(store, ...rest);
  return {
    createSession: on(createSession),
    findSession: on(findSession),
    listSessions: on(listSessions),
    forkSession: on(forkSession),
    moveSession: on(moveSession),
    setStatus: on(setStatus),
    deleteSession: on(deleteSession),
    pointerHistory: on(pointerHistory),
    readState: on(readState),
    readLatestStates: on(readLatestStates),
    readContent: on(readContent),
    openTurn: on(openTurn),
    findUnfinished: on(findUnfinished),
    resumeTurn: on(resumeTurn),
    abandonTurn: on(abandonTurn),
    findTurn: on(findTurn),
    readThread: on(readThread),
    readTurns: on(readTurns),
    readMessages: on(readMessages),
    readCalls: on(readCalls),
    readToolCalls: on(readToolCalls),
    recordCall: on(recordCall),
    readUnpriced: on(readUnpriced),
    readLoneCalls: on(readLoneCalls),
    sumLoneCalls: on(sumLoneCalls),
    ...resourcesOf(store),
    recordCalls: on(recordCalls),
    readGatewayCalls: on(readGatewayCalls),
    readPrompt: on(readPrompt),
    openGatewayRun: on(openGatewayRun),
    readGatewayRuns: on(readGatewayRuns),
    keepStates: on(keepStates),
    findStates: on(findStates),
    sweepStates: on(sweepStates),
    sumKeySpending: on(sumKeySpending),
    listWarming: on(listWarming),
    sumSpending: on(sumSpending),
    enqueue: on(enqueue),
    readQueue: on(readQueue),
    findQueued: on(findQueued),
    dropQueued: on(dropQueued),
    lockCompaction: on(lockCompaction),
    dropStaleLocks: on(dropStaleLocks),
    findCompaction: on(findCompaction),
    findFoundation: on(findFoundation),
    readCompactions: on(readCompactions),
    searchHistory: on(searchHistory),
    readHistory: on(readHistory),
    findToolResult: on(findToolResult),
    appendEvents: on(appendEvents),
    readEvents: on(readEvents),
    sweepEvents: on(sweepEvents),
    exportSession: on(exportSession),
    importSession: on(importSession),
    catchUp: (options = {}) =>
      catchUp(store.database, { ...options, nowMs: store.now(), holder: store.newHolder() }),
    reprice: on(repriceCalls),
    check: on(checkLedger),
    repair: on(repairLedger),
    stats: on(readStats),
    close: () => store.database.close(),
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
  const messageIds = createEventIds();
  const ownClock = { sql: database.clockSql, values: [] };
  const randomBytes = createRandomBytes();
  const nowMs = now ?? Date.now;
  return {
    database,
    newHolder: () => newHolder(holder),
    leaseMs,
    now: nowMs,
    newMessageId: () => messageIds.next(nowMs(), randomBytes()),
    clock: now === undefined ? () => ownClock : () => ({ sql: givenClock, values: [now()] }),
    newBranchId,
    nextPlaces: new Map(),
    events: createEvents(nowMs),
  };
}

const givenClock = "CAST(? AS BIGINT)";

function createEvents(now: () => number): Store["events"] {
  const ids = createSessionIds(createRandomBytes());
  const nowUs = (): number => now() * 1000;
  // Our own events must match the catalogue.
  const make = createMakeEvent({ strictness: "strict", ids, nowUs, report: () => {} });
  return { make, continueAfter: (id, eventId) => ids.continueAfter(id, eventId) };
}

let lastBranchId = 0;

/**
 * Milliseconds and 12 random bits. Grows with time, so that new branches are adjacent on disk, and within the process
 * with every call: one batch of the gateway opens hundreds of conversations in a millisecond.
 */
function newBranchId(): number {
  const drawn = (Date.now() - idsStartMs) * 4096 + randomInt(4096);
  lastBranchId = Math.max(lastBranchId + 1, drawn);
  return lastBranchId;
}

const idsStartMs = Date.UTC(2026, 0, 1);
