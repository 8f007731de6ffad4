// Calls for summaries that came to nothing: paid for, and booked with the next call of the session.
import type { Usage } from "../core/message/usage.ts";
import type { SummaryCall } from "./summarise-call.ts";

export interface Spent {
  readonly usages: readonly Usage[];
  readonly costPicoUsd: bigint;
}

export const nothingSpent: Spent = { usages: [], costPicoUsd: 0n };

export function spend(before: Spent, calls: readonly SummaryCall[]): Spent {
  return calls.reduce(
    ({ usages, costPicoUsd }, call) => ({
      usages: [...usages, ...(call.usage === null ? [] : [call.usage]), ...call.discarded],
      costPicoUsd: costPicoUsd + (call.costPicoUsd ?? 0n),
    }),
    before,
  );
}

/** Money as text: JSON has no whole numbers of that size. */
export interface KeptSpent {
  readonly usages: readonly Usage[];
  readonly costPicoUsd: string;
}

export function keepSpent({ usages, costPicoUsd }: Spent): KeptSpent {
  return { usages, costPicoUsd: costPicoUsd.toString() };
}

export function readSpent(kept: KeptSpent | undefined): Spent {
  if (kept === undefined) return nothingSpent;
  return { usages: kept.usages, costPicoUsd: BigInt(kept.costPicoUsd) };
}
