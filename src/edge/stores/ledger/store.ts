// What every part of the ledger needs: the database, the writer's name, and the lease clock.
import type { MakeEvent } from "../../events/make-event.ts";
import { isUnaccepted } from "../../../core/ledger/imported.ts";
import { requireRunnable } from "../../../core/ledger/require-runnable.ts";
import type { SessionRecord } from "../../../core/ledger/session-record.ts";
import { SessionBusy } from "../../../core/ledger/queue-record.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { Commit, CommitResult, Database, Statement } from "../sql/database.ts";
import type { Row, TableName, Value } from "../sql/tables.ts";

export interface Store {
  readonly database: Database;
  /** A new holder name for each lease or lock. */
  readonly newHolder: () => string;
  /** How long a lease or lock lasts without a heartbeat. */
  readonly leaseMs: number;
  /** Milliseconds since 1970, for recorded times. */
  readonly now: () => number;
  /** The lease clock, shared by all nodes on the database. */
  readonly clock: () => SqlValue;
  /** Where the next turn of a session goes, where this process closed the last one. Read once, and checked by a guard. */
  readonly nextPlaces: Map<string, NextPlace>;
  /** Makes events about the ledger's own actions. */
  readonly events: {
    readonly make: MakeEvent;
    readonly continueAfter: (sessionId: string, eventId: string) => void;
  };
  /** ULIDs of messages, each greater than the one before. */
  readonly newMessageId: () => string;
  /** Whole numbers that grow with time. Two nodes may make the same one in one millisecond. */
  readonly newBranchId: () => number;
}

export interface NextPlace {
  readonly branchId: number;
  readonly nextSeq: number;
  readonly moveCount: number;
  readonly leaseToken: number;
}

export interface SqlValue {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** No lease lasts longer. An expiry further away comes from a wrong clock. */
export const leaseMsMax = 7_200_000;

/** Whether a row's lease is free. */
export function isFree(holder: string, expires: string, clock: SqlValue): SqlValue {
  return {
    sql: isFreeSql(holder, expires, clock.sql),
    values: [...clock.values, ...clock.values],
  };
}

/** The same without the values of the clock, which it takes twice. */
export function isFreeSql(holder: string, expires: string, clockSql: string): string {
  return `(${holder} IS NULL OR ${expires} < ${clockSql} OR ${expires} > ${clockSql} + ${leaseMsMax})`;
}

/** The distance between turns in a branch, so that a compaction fits before a running turn. */
export const seqStep = 1024;

/** Done if the commit is in the ledger now, by this call or by an earlier one whose answer was lost. */
export async function commitOnce(store: Store, commit: Commit): Promise<CommitResult> {
  const result = await store.database.commit(commit);
  return result.kind === "done" ? result : orLanded(store, commit, result);
}

async function orLanded(
  { database }: Store,
  { landed }: Commit,
  result: CommitResult,
): Promise<CommitResult> {
  if (landed === undefined) return result;
  const { sql, values } = landed();
  const [row] = await database.query(sql, values);
  return row === undefined ? result : { kind: "done" };
}

/** Commits texts that are stored once. Retries if the last other user of one was just deleted. */
export async function commitSharing(store: Store, commit: Commit): Promise<CommitResult> {
  for (let tries = 1; ; tries += 1) {
    const first = await store.database.commit(commit);
    if (first.kind === "done") return first;
    const result = await orLanded(store, commit, first);
    const isGone = result.kind === "refused" && result.guard === "reference";
    if (!isGone || tries === triesMax) return result;
  }
}

/** Commits with new branches. Retries with other ids if one is taken. */
export async function commitBranching(store: Store, make: () => Commit): Promise<CommitResult> {
  for (let tries = 1; ; tries += 1) {
    const result = await commitOnce(store, make());
    const isTaken = result.kind === "taken" && result.table === "branches";
    if (!isTaken || tries === triesMax) return result;
  }
}

/** How often a commit is retried after concurrent changes. */
export const triesMax = 50;

/** Asks whether a row with these values is there. */
export function landedRow(table: TableName, row: Row): Statement {
  const conditions = Object.entries(row).map(([column, value]) =>
    value === null ? `${column} IS NULL` : `${column} = ?`,
  );
  return {
    sql: `SELECT 1 AS landed FROM ${table} WHERE ${conditions.join(" AND ")}`,
    values: Object.values(row).filter((value) => value !== null),
  };
}

/** For a commit that is harmless to repeat. */
export const mayRepeat = (): Statement => ({
  sql: "SELECT 1 AS landed WHERE 1 = 0",
  values: [],
});

export function conflict(message: string, hint: string): StrataError {
  return new StrataError("conflict", message, hint);
}

/**
 * Refuses a conversation of another program, which the gateway only saw, and a session that others made, as long as its
 * tools and system text were not accepted.
 */
export function requireOurs(record: SessionRecord): void {
  requireRunnable(record);
  if (!isUnaccepted(record)) return;
  throw conflict(
    `session ${record.id} was imported, and its tools and system text are not accepted yet`,
    `read them in the imported file (the lines with "contents"), then accept them: strata sessions activate ${record.id}`,
  );
}

/** A conflict that passes. */
export function busy(message: string, hint: string): SessionBusy {
  return new SessionBusy("conflict", message, hint);
}

export function busyWith(sessionId: string): SessionBusy {
  return busy(`session ${sessionId} keeps being changed by others`, "try again later");
}

export function notFound(
  what: string,
  hint = "list what there is with `strata sessions`",
): StrataError {
  return new StrataError("not-found", `there is no ${what}`, hint);
}
