// What all calls for one summary cost together, for the record of the fold.
import { generatedTokens, promptTokens } from "../core/message/usage.ts";
import type { SummaryCall } from "./summarise-call.ts";

export interface SummaryBill {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of everything with a price. */
  readonly costPicoUsd: bigint;
  /** Calls of which the cost is not known, because no usage was told or there is no price. */
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
    callsWithoutCost: calls.filter(({ costPicoUsd }) => costPicoUsd === null).length,
  };
}
