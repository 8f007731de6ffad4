// The total cost of all calls for one summary, for the compaction's record.
import { generatedTokens, promptTokens } from "../message/usage.ts";
import type { CallEntry } from "../ledger/call-entry.ts";

/** One call for a summary, with its exact cost. */
export type SummaryCall = Pick<
  CallEntry,
  "startMs" | "endMs" | "model" | "status" | "usage" | "discarded" | "costPicoUsd" | "failure"
> & { readonly provider: string };

export interface SummaryBill {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The sum for all calls with a known price. */
  readonly costPicoUsd: bigint;
  /** Answered calls without a known price. */
  readonly callsWithoutCost: number;
}

export function sumCalls(calls: readonly SummaryCall[]): SummaryBill {
  const usages = calls.flatMap(({ usage, discarded }) => [
    ...discarded,
    ...(usage === null ? [] : [usage]),
  ]);
  return {
    inputTokens: usages.reduce((sum, usage) => sum + promptTokens(usage), 0),
    outputTokens: usages.reduce((sum, usage) => sum + generatedTokens(usage), 0),
    costPicoUsd: calls.reduce((sum, { costPicoUsd }) => sum + (costPicoUsd ?? 0n), 0n),
    callsWithoutCost: calls.filter(isWithoutCost).length,
  };
}

function isWithoutCost({ costPicoUsd, usage, discarded }: SummaryCall): boolean {
  return costPicoUsd === null && (usage !== null || discarded.length > 0);
}

/** Null if calls were billed and none has a known price. */
export function knownCost({
  costPicoUsd,
  callsWithoutCost,
}: Pick<SummaryBill, "costPicoUsd" | "callsWithoutCost">): bigint | null {
  return costPicoUsd === 0n && callsWithoutCost > 0 ? null : costPicoUsd;
}
