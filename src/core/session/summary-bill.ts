// The total cost of all calls for one summary, for the compaction's record.
import { generatedTokens, promptTokens, lifetimes, type Usage } from "../message/usage.ts";
import type { CallEntry, ReplyNote } from "../ledger/call-entry.ts";
import { isCount, isObject } from "../message/fields.ts";

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

export interface Spent {
  readonly usages: readonly Usage[];
  /** The sum for all calls with a known price. */
  readonly costPicoUsd: bigint;
  readonly callsWithoutCost: number;
}

export const nothingSpent: Spent = { usages: [], costPicoUsd: 0n, callsWithoutCost: 0 };

export function spend(before: Spent, calls: readonly SummaryCall[]): Spent {
  const { costPicoUsd, callsWithoutCost } = sumCalls(calls);
  const usages = calls.flatMap(({ usage, discarded }) => [
    ...(usage === null ? [] : [usage]),
    ...discarded,
  ]);
  return {
    usages: [...before.usages, ...usages],
    costPicoUsd: before.costPicoUsd + costPicoUsd,
    callsWithoutCost: before.callsWithoutCost + callsWithoutCost,
  };
}

/** The note that a cost leaves out calls without a price. */
export function describeUnpriced({ callsWithoutCost }: Spent = nothingSpent): readonly ReplyNote[] {
  if (callsWithoutCost === 0) return [];
  const detail = `${callsWithoutCost} calls for a summary that came to nothing have no price, and are not in the cost`;
  return [{ kind: "usage", detail }];
}

/** Money as text: JSON numbers are not exact at that size. */
export interface KeptSpent extends Omit<Spent, "costPicoUsd"> {
  readonly costPicoUsd: string;
}

export function keepSpent(spent: Spent): KeptSpent {
  return { ...spent, costPicoUsd: spent.costPicoUsd.toString() };
}

/** Reads stored JSON. Missing or invalid values count as nothing spent. */
export function readSpent(kept: unknown): Spent {
  if (!isObject(kept)) return nothingSpent;
  const { usages, costPicoUsd, callsWithoutCost } = kept;
  return {
    usages: Array.isArray(usages) ? usages.filter(isUsage) : [],
    costPicoUsd:
      typeof costPicoUsd === "string" && /^\d{1,30}$/.test(costPicoUsd) ? BigInt(costPicoUsd) : 0n,
    callsWithoutCost: isCount(callsWithoutCost) ? callsWithoutCost : 0,
  };
}

function isUsage(value: unknown): value is Usage {
  if (!isObject(value)) return false;
  const { uncachedTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens } =
    value;
  const counts = [uncachedTokens, cacheReadTokens, outputTokens, reasoningTokens];
  return counts.every(isCount) && isObject(cacheWriteTokens) && isWritten(cacheWriteTokens);
}

function isWritten(tokens: Readonly<Record<string, unknown>>): boolean {
  const known: readonly string[] = lifetimes;
  return Object.entries(tokens).every(([name, count]) => known.includes(name) && isCount(count));
}
