// The running sums of a replay.
import type { Catalogue } from "../core/models/catalogue.ts";
import type { Policy } from "../core/cache/policy.ts";
import type { BillingOptions } from "../simulator/index.ts";
import type { CallDetail } from "./call-detail.ts";
import { createReadsMeter, type ReadsMeter, type SessionReads } from "./recorded-reads.ts";
import type { Recorded, RecordedSession } from "./recording.ts";
import { openAccount, type SessionAccount, type SessionKind } from "./summary/session-account.ts";
import { createTally, mergeTally, type Tally } from "./tally.ts";

export type GroupBy = "session" | "model" | "agent" | "day" | "none";

export interface ReplayOptions {
  readonly policies: readonly Policy[];
  /** The model whose rules and prices to use; null for the recorded one. */
  readonly model: string | null;
  readonly groupBy: GroupBy;
  /** The built-in models by default. */
  readonly catalogue?: Catalogue;
  /** How the simulator reads the points that providers leave open, for every policy. The limit does not depend on it. */
  readonly billing?: Partial<BillingOptions>;
  /** Called for every request, in order of time within its workspace. */
  readonly onCall?: (call: CallDetail) => void;
  /** Called after every workspace. */
  readonly onProgress?: (done: { readonly sessions: number; readonly requests: number }) => void;
}

export type SkippedPlace = Pick<Extract<Recorded, { type: "skipped" }>, "file" | "line" | "reason">;

/** What is summed over recordings. A plain value, so that it can be sent between threads. */
export interface Sums {
  readonly total: Group;
  readonly groups: Map<string, Group>;
  readonly skipped: Map<string, number>;
  readonly skippedWhere: SkippedPlace[];
  /** Requests that were read and are in no sum, by reason. They count as skipped, too. */
  readonly leftOut: Map<string, number>;
  readonly standIns: Map<string, number>;
  /** Requests to providers without markers, kept apart because policies make no difference there. */
  readonly automatic: Group;
  /** Requests of which only the bill is recorded: no policy can be tried on them. By group as asked. */
  readonly billed: Group;
  readonly billedGroups: Map<string, Group>;
  /** Sessions whose recordings were read to the end. */
  readonly reads: SessionReads[];
  /** By session, in the order of the recordings. */
  readonly accounts: Map<string, SessionAccount>;
  readonly comparison: Comparison;
  /** Every file that was read or could not be, by path: what was left out, by reason. */
  readonly files: Map<string, Map<string, number>>;
}

/** The requests that have both prompt and bill, at providers that take markers. */
export interface Comparison {
  requests: number;
  paidPicoUsd: bigint;
  /** In the order of the policies, with the bytes that the recordings show. */
  readonly shownPicoUsd: bigint[];
  /** The same with the changes that only the bills show. */
  readonly brokenPicoUsd: bigint[];
  limitPicoUsd: bigint;
  limitWithBreaksPicoUsd: bigint;
}

function noComparison(): Comparison {
  const sums = { requests: 0, paidPicoUsd: 0n, limitPicoUsd: 0n, limitWithBreaksPicoUsd: 0n };
  return { ...sums, shownPicoUsd: [], brokenPicoUsd: [] };
}

function addComparison(sum: Comparison, more: Comparison): void {
  sum.requests += more.requests;
  sum.paidPicoUsd += more.paidPicoUsd;
  sum.limitPicoUsd += more.limitPicoUsd;
  sum.limitWithBreaksPicoUsd += more.limitWithBreaksPicoUsd;
  for (const [index, cost] of more.shownPicoUsd.entries()) {
    sum.shownPicoUsd[index] = (sum.shownPicoUsd[index] ?? 0n) + cost;
    const broken = more.brokenPicoUsd[index] ?? 0n;
    sum.brokenPicoUsd[index] = (sum.brokenPicoUsd[index] ?? 0n) + broken;
  }
}

export function createSums(policyCount: number): Sums {
  return {
    total: createGroup("all", policyCount),
    groups: new Map(),
    skipped: new Map(),
    skippedWhere: [],
    leftOut: new Map(),
    standIns: new Map(),
    automatic: createGroup("automatic", 1),
    billed: createGroup("billed", 0),
    billedGroups: new Map(),
    reads: [],
    accounts: new Map(),
    comparison: noComparison(),
    files: new Map(),
  };
}

export interface Books {
  readonly options: ReplayOptions;
  readonly sums: Sums;
  readonly reads: ReadsMeter;
}

export function openBooks(options: ReplayOptions): Books {
  return { options, sums: createSums(options.policies.length), reads: createReadsMeter() };
}

export function closeBooks({ sums, reads }: Books): Sums {
  sums.reads.push(...reads.totals());
  return sums;
}

/** Further places are counted but not named. */
const placesMax = 1000;

export function skip(
  sums: Sums,
  reason: string,
  { file, line }: Pick<SkippedPlace, "file" | "line">,
): void {
  const { skipped, skippedWhere } = sums;
  countUp(skipped, reason);
  countUp(fileOf(sums, file), reason);
  if (skippedWhere.length < placesMax) skippedWhere.push({ file, line, reason });
}

/** A request that was read and is in no sum. */
export function leaveOut(books: Books, session: RecordedSession, reason: string): void {
  countUp(books.sums.skipped, reason);
  countUp(books.sums.leftOut, reason);
  countUp(fileOf(books.sums, session.file), reason);
  accountOf(books, session).unused += 1;
}

/** A request that is in a sum. */
export function countUsed(books: Books, session: RecordedSession, kind: SessionKind): void {
  accountOf(books, session).requests[kind] += 1;
}

export function accountOf({ sums }: Books, session: RecordedSession): SessionAccount {
  const account = sums.accounts.get(session.id) ?? openAccount(session);
  sums.accounts.set(session.id, account);
  return account;
}

/** What was left out of a file, by reason. */
export function fileOf({ files }: Sums, file: string): Map<string, number> {
  const reasons = files.get(file) ?? new Map<string, number>();
  files.set(file, reasons);
  return reasons;
}

export function countUp(counts: Map<string, number>, reason: string, by = 1): void {
  counts.set(reason, (counts.get(reason) ?? 0) + by);
}

/** Adds the sums of later recordings. */
export function addSums(sums: Sums, more: Sums): void {
  addGroup(sums.total, more.total);
  addGroup(sums.automatic, more.automatic);
  addGroup(sums.billed, more.billed);
  addGroups(sums.groups, more.groups);
  addGroups(sums.billedGroups, more.billedGroups);
  for (const [reason, count] of more.skipped) countUp(sums.skipped, reason, count);
  for (const [reason, count] of more.leftOut) countUp(sums.leftOut, reason, count);
  for (const [reason, count] of more.standIns) countUp(sums.standIns, reason, count);
  sums.skippedWhere.push(...more.skippedWhere.slice(0, placesMax - sums.skippedWhere.length));
  sums.reads.push(...more.reads);
  for (const [id, account] of more.accounts) sums.accounts.set(id, account);
  addComparison(sums.comparison, more.comparison);
  for (const [file, reasons] of more.files) {
    for (const [reason, count] of reasons) countUp(fileOf(sums, file), reason, count);
    fileOf(sums, file);
  }
}

function addGroups(groups: Map<string, Group>, more: ReadonlyMap<string, Group>): void {
  for (const [name, group] of more) {
    const own = groups.get(name) ?? createGroup(name, group.tallies.length);
    groups.set(name, own);
    addGroup(own, group);
  }
}

/** Sums over one group of requests, or over all. */
export interface Group {
  readonly name: string;
  readonly sessions: Set<string>;
  requests: number;
  limitPicoUsd: bigint;
  warmPicoUsd: bigint;
  /** Cost without caching. */
  plainPicoUsd: bigint;
  /** In the order of the policies. */
  readonly tallies: readonly Tally[];
  /** Sums over requests with recorded usage, like all figures named `recorded…`. */
  readonly recorded: Tally;
  recordedRequests: number;
  recordedLimitPicoUsd: bigint;
  recordedPlainPicoUsd: bigint;
  /** Tokens read by first requests of sessions: other sessions had warmed the cache. */
  warmStartTokens: number;
}

function addGroup(group: Group, more: Group): void {
  for (const session of more.sessions) group.sessions.add(session);
  group.requests += more.requests;
  group.limitPicoUsd += more.limitPicoUsd;
  group.warmPicoUsd += more.warmPicoUsd;
  group.plainPicoUsd += more.plainPicoUsd;
  for (const [index, tally] of group.tallies.entries()) mergeTally(tally, more.tallies[index]);
  mergeTally(group.recorded, more.recorded);
  group.recordedRequests += more.recordedRequests;
  group.recordedLimitPicoUsd += more.recordedLimitPicoUsd;
  group.recordedPlainPicoUsd += more.recordedPlainPicoUsd;
  group.warmStartTokens += more.warmStartTokens;
}

export function createGroup(name: string, policyCount: number): Group {
  return {
    name,
    sessions: new Set(),
    requests: 0,
    limitPicoUsd: 0n,
    warmPicoUsd: 0n,
    plainPicoUsd: 0n,
    tallies: Array.from({ length: policyCount }, createTally),
    recorded: createTally(),
    recordedRequests: 0,
    recordedLimitPicoUsd: 0n,
    recordedPlainPicoUsd: 0n,
    warmStartTokens: 0,
  };
}
