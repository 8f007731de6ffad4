// Costs of failed calls for summaries. The next call of the session books them.
import { isCount, isObject } from "../message/fields.ts";
import type { ReplyNote } from "../ledger/call-entry.ts";
import { lifetimes, type Usage } from "../message/usage.ts";
import { sumCalls } from "./summary-bill.ts";
import type { SummaryCall } from "./summary-bill.ts";

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
