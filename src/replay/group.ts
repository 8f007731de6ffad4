// Sums over one group of requests, or over all.
import { createTally, type Tally } from "./tally.ts";

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
