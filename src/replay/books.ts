// The running sums of a replay.
import type { Catalogue } from "../core/models/catalogue.ts";
import type { Policy } from "../core/cache/policy.ts";
import type { BillingOptions } from "../simulator/index.ts";
import type { CallDetail } from "./call-detail.ts";
import { createReadsMeter, type ReadsMeter } from "./recorded-reads.ts";
import type { Recorded } from "./recording.ts";
import { createTally, type Tally } from "./tally.ts";

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

export interface Books {
  readonly options: ReplayOptions;
  readonly total: Group;
  readonly groups: Map<string, Group>;
  readonly skipped: Map<string, number>;
  readonly skippedWhere: SkippedPlace[];
  readonly standIns: Map<string, number>;
  readonly reads: ReadsMeter;
  /** Requests to providers without markers, kept apart because policies make no difference there. */
  readonly automatic: Group;
}

export function openBooks(options: ReplayOptions): Books {
  return {
    options,
    total: createGroup("all", options.policies.length),
    groups: new Map(),
    skipped: new Map(),
    skippedWhere: [],
    standIns: new Map(),
    reads: createReadsMeter(),
    automatic: createGroup("automatic", 1),
  };
}

/** Further places are counted but not named. */
const placesMax = 1000;

export function skip(
  books: Books,
  reason: string,
  where?: Pick<SkippedPlace, "file" | "line">,
): void {
  books.skipped.set(reason, (books.skipped.get(reason) ?? 0) + 1);
  if (where !== undefined && books.skippedWhere.length < placesMax) {
    books.skippedWhere.push({ file: where.file, line: where.line, reason });
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
