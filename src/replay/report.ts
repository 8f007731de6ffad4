// The report of a replay: one stable shape for tables, JSON and pages. See docs/replay.md.
import {
  coverage,
  hitRate,
  promptTokens,
  writtenTokens,
  type Usage,
} from "../core/message/usage.ts";
import type { MissCause } from "../core/diagnosis/explanation.ts";
import type { Policy } from "../core/cache/policy.ts";
import type { Group, SkippedPlace, Sums } from "./books.ts";
import type { SessionReads } from "./recorded-reads.ts";
import { toCounts } from "./summary/accounting.ts";
import { toSummary, type ReplaySummary } from "./summary/summary.ts";
import { createTally, type Tally } from "./tally.ts";

export interface ReplayReport extends GroupReport {
  /** What was paid, what it would have cost, why, and where every file and request went. */
  readonly summary: ReplaySummary;
  readonly groups: readonly (GroupReport & { readonly name: string })[];
  /** Cost at providers without markers, which cache by themselves. */
  readonly automaticOnly?: AutomaticReport;
  /** Requests of which only the bill is recorded, as they were billed. No policy can be tried on them. */
  readonly billedOnly?: BilledReport;
  /** Recorded and simulated reads of sessions with recorded usage, and what their recordings do not show. */
  readonly recordedReads: readonly SessionReads[];
  readonly standIns: readonly { readonly reason: string; readonly count: number }[];
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
  readonly skippedWhere: readonly SkippedPlace[];
}

export interface GroupReport {
  readonly sessions: number;
  readonly requests: number;
  readonly limit: Bound;
  readonly limitWarm: Bound;
  readonly policies: readonly PolicyReport[];
  readonly recorded?: RecordedReport;
}

export interface Bound {
  readonly costUsd: number;
  readonly costPicoUsd: string;
  /** 1 is the cost without caching. */
  readonly relativeCost: number;
}

export interface Figures extends Bound {
  readonly inputTokens: number;
  readonly readTokens: number;
  readonly writeTokens: Readonly<Record<"5m" | "30m" | "1h", number>>;
  readonly uncachedTokens: number;
  readonly ratioToLimit: number;
  readonly hitRate: number;
  readonly coverage: number;
}

export interface PolicyReport extends Figures {
  readonly policy: string;
  readonly wastedWriteTokens: number;
  /** Tokens written ÷ tokens written for the first time. */
  readonly rewriteFactor: number;
  readonly missesByCause: Readonly<Partial<Record<MissCause, MissReport>>>;
}

export interface MissReport {
  readonly count: number;
  readonly tokens: number;
  readonly costUsd: number;
}

export interface RecordedReport extends Figures {
  readonly requests: number;
  /** Tokens read by first requests of sessions: other sessions had warmed the cache. */
  readonly warmStartTokens: number;
}

export type AutomaticReport = Figures & Pick<GroupReport, "sessions" | "requests" | "recorded">;

/** What was billed. The limit needs the prompts, so nothing is compared with it. */
export interface BilledFigures extends Omit<Figures, "ratioToLimit"> {
  readonly sessions: number;
  readonly requests: number;
  readonly warmStartTokens: number;
}

export interface BilledReport extends BilledFigures {
  readonly groups: readonly (BilledFigures & { readonly name: string })[];
}

/** The policies are those of the sums, in the same order. */
export function toReport(sums: Sums, policies: readonly Pick<Policy, "name">[]): ReplayReport {
  const { total, groups, skipped, skippedWhere, standIns, reads, automatic, billed } = sums;
  return {
    summary: toSummary(sums, policies),
    ...toGroupReport(total, policies),
    groups: byName(groups).map((group) => ({
      name: group.name,
      ...toGroupReport(group, policies),
    })),
    ...(automatic.requests === 0 ? {} : { automaticOnly: toAutomatic(automatic) }),
    ...(billed.requests === 0 ? {} : { billedOnly: toBilled(billed, sums.billedGroups) }),
    recordedReads: reads,
    standIns: toCounts(standIns),
    skipped: toCounts(skipped),
    skippedWhere,
  };
}

function byName(groups: ReadonlyMap<string, Group>): Group[] {
  return [...groups.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function toBilled(billed: Group, groups: ReadonlyMap<string, Group>): BilledReport {
  return {
    ...toBilledFigures(billed),
    groups: byName(groups).map((group) => ({ name: group.name, ...toBilledFigures(group) })),
  };
}

function toBilledFigures(group: Group): BilledFigures {
  const { ratioToLimit: _none, ...figures } = toFigures(group.recorded, group.plainPicoUsd, 0n);
  return {
    sessions: group.sessions.size,
    requests: group.requests,
    ...figures,
    warmStartTokens: group.warmStartTokens,
  };
}

function toGroupReport(group: Group, policies: readonly Pick<Policy, "name">[]): GroupReport {
  const { limitPicoUsd, warmPicoUsd, plainPicoUsd, tallies } = group;
  return {
    sessions: group.sessions.size,
    requests: group.requests,
    limit: toBound(limitPicoUsd, plainPicoUsd),
    limitWarm: toBound(warmPicoUsd, plainPicoUsd),
    policies: policies.map(({ name }, index) =>
      toPolicyReport(name, tallies[index] ?? createTally(), group),
    ),
    ...(group.recordedRequests === 0 ? {} : { recorded: toRecorded(group) }),
  };
}

function toPolicyReport(policy: string, tally: Tally, group: Group): PolicyReport {
  const written = writtenTokens(tally.usage);
  return {
    policy,
    ...toFigures(tally, group.plainPicoUsd, group.limitPicoUsd),
    wastedWriteTokens: tally.wastedTokens,
    rewriteFactor: tally.firstWrittenTokens === 0 ? 0 : written / tally.firstWrittenTokens,
    missesByCause: Object.fromEntries(
      [...tally.misses].map(([cause, { count, tokens, costPicoUsd }]) => [
        cause,
        { count, tokens, costUsd: toUsd(costPicoUsd) },
      ]),
    ),
  };
}

function toRecorded(group: Group): RecordedReport {
  const { recorded, recordedPlainPicoUsd, recordedLimitPicoUsd } = group;
  return {
    ...toFigures(recorded, recordedPlainPicoUsd, recordedLimitPicoUsd),
    requests: group.recordedRequests,
    warmStartTokens: group.warmStartTokens,
  };
}

function toAutomatic(group: Group): AutomaticReport {
  const tally = group.tallies[0] ?? createTally();
  return {
    ...toFigures(tally, group.plainPicoUsd, group.limitPicoUsd),
    sessions: group.sessions.size,
    requests: group.requests,
    ...(group.recordedRequests === 0 ? {} : { recorded: toRecorded(group) }),
  };
}

function toFigures({ usage, costPicoUsd }: Tally, plain: bigint, limit: bigint): Figures {
  return {
    inputTokens: promptTokens(usage),
    readTokens: usage.cacheReadTokens,
    writeTokens: toWrites(usage),
    uncachedTokens: usage.uncachedTokens,
    ...toBound(costPicoUsd, plain),
    ratioToLimit: ratio(costPicoUsd, limit),
    hitRate: hitRate(usage) ?? 0,
    coverage: coverage(usage) ?? 0,
  };
}

function toWrites({ cacheWriteTokens }: Usage): Figures["writeTokens"] {
  return {
    "5m": cacheWriteTokens["5m"] ?? 0,
    "30m": cacheWriteTokens["30m"] ?? 0,
    "1h": cacheWriteTokens["1h"] ?? 0,
  };
}

function toBound(costPicoUsd: bigint, plain: bigint): Bound {
  return {
    costUsd: toUsd(costPicoUsd),
    costPicoUsd: costPicoUsd.toString(),
    relativeCost: ratio(costPicoUsd, plain),
  };
}

function toUsd(picoUsd: bigint): number {
  return Number(picoUsd) / 1e12;
}

function ratio(left: bigint, right: bigint): number {
  return right === 0n ? 0 : Number(left) / Number(right);
}
