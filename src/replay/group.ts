// Sums of one group of requests, or of all of them.
import { createTally, type Tally } from "./tally.ts";

export interface Group {
  readonly name: string;
  readonly sessions: Set<string>;
  requests: number;
  limitPicoUsd: bigint;
  warmPicoUsd: bigint;
  /** What no caching would cost. */
  plainPicoUsd: bigint;
  /** In the order of the policies. */
  readonly tallies: readonly Tally[];
  /** Of requests that have a recorded usage, as the other figures of this name. */
  readonly recorded: Tally;
  recordedRequests: number;
  recordedLimitPicoUsd: bigint;
  recordedPlainPicoUsd: bigint;
  /** Read by the first request of a session: the cache was warm from others. */
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
