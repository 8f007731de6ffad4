// What every part of the ledger works with: the database, who writes, and the clock its leases run on.
import type { MakeEvent } from "../../events/make-event.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { Commit, CommitResult, Database, Statement } from "../sql/database.ts";
import type { Value } from "../sql/tables.ts";

export interface Store {
  readonly database: Database;
  /** Who holds a lease or lock that is taken now; no two takings have the same. */
  readonly newHolder: () => string;
  /** How long a lease or lock lasts without a sign of life. */
  readonly leaseMs: number;
  /** Milliseconds since 1970, for what is recorded. */
  readonly now: () => number;
  /** The clock of leases: one for all nodes that share the database. */
  readonly clock: () => SqlValue;
  /** Makes events of what the ledger itself does. */
  readonly events: {
    readonly make: MakeEvent;
    readonly continueAfter: (sessionId: string, eventId: string) => void;
  };
  /** Whole numbers that grow with time. Another node may have the same in the same millisecond. */
  readonly newBranchId: () => number;
}

export interface SqlValue {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** No lease lasts longer: one that seems to is of a clock that was wrong. */
export const leaseMsMax = 7_200_000;

/** Whether nobody holds what a row's columns say. */
export function isFree(holder: string, expires: string, clock: SqlValue): SqlValue {
  return {
    sql: `(${holder} IS NULL OR ${expires} < ${clock.sql} OR ${expires} > ${clock.sql} + ${leaseMsMax})`,
    values: [...clock.values, ...clock.values],
  };
}

/** Turns stand so far apart in a branch, so that a fold can go before a turn that runs. */
export const seqStep = 1024;

/** Done where the commit is in the ledger now: by this call, or by an earlier one that was not heard of. */
export async function commitOnce({ database }: Store, commit: Commit): Promise<CommitResult> {
  const result = await database.commit(commit);
  if (result.kind === "done" || commit.landed === undefined) return result;
  const { sql, values } = commit.landed;
  const [row] = await database.query(sql, values);
  return row === undefined ? result : { kind: "done" };
}

/** Commits texts that are kept once, and again where the last one who shared one was deleted just now. */
export async function commitSharing(store: Store, commit: Commit): Promise<CommitResult> {
  for (let tries = 1; ; tries += 1) {
    const result = await commitOnce(store, commit);
    const isGone = result.kind === "refused" && result.guard === "reference";
    if (!isGone || tries === triesMax) return result;
  }
}

/** Commits with new branches, and again with others where one is taken. */
export async function commitBranching(store: Store, make: () => Commit): Promise<CommitResult> {
  for (let tries = 1; ; tries += 1) {
    const result = await commitOnce(store, make());
    const isTaken = result.kind === "taken" && result.table === "branches";
    if (!isTaken || tries === triesMax) return result;
  }
}

/** What was changed by others in between is looked at again so often. */
export const triesMax = 50;

/** Of a commit that does no harm when it is done twice. */
export const mayRepeat: Statement = { sql: "SELECT 1 AS landed WHERE 1 = 0", values: [] };

export function conflict(message: string, hint: string): StrataError {
  return new StrataError("conflict", message, hint);
}

export function busyWith(sessionId: string): StrataError {
  return conflict(`session ${sessionId} is changed by others again and again`, "try again later");
}

export function notFound(
  what: string,
  hint = "list what there is with `strata sessions`",
): StrataError {
  return new StrataError("not-found", `there is no ${what}`, hint);
}
