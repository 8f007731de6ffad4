// What may be spent in an hour on calls that no client asked for, by all gateways of a ledger. What a call may cost at most is set
// aside before it is sent.
import type { WarmingCost } from "../../core/ledger/gateway-call.ts";

export interface HourlyBudget {
  /** Null if the rest of this hour's budget is smaller. Otherwise to be called with what it did cost; null if that is not known. */
  reserve(call: WarmReservation): ((costPicoUsd: bigint | null) => void) | null;
  /** Of this gateway. */
  spentPicoUsd(nowMs: number): bigint;
}

export interface WarmReservation {
  readonly callId: string;
  readonly mostPicoUsd: bigint;
  readonly nowMs: number;
  /** What the ledger has of the hour. This gateway's own calls may be among them. */
  readonly recorded: readonly WarmingCost[];
}

export const hourMs = 3_600_000;

export function createHourlyBudget(usdPerHour: number): HourlyBudget {
  const budget = BigInt(Math.floor(usdPerHour * 1e12));
  const spent = new Map<string, { readonly atMs: number; costPicoUsd: bigint }>();
  const sum = (nowMs: number): bigint => {
    let total = 0n;
    for (const [id, { atMs, costPicoUsd }] of spent) {
      if (nowMs - atMs < hourMs) total += costPicoUsd;
      else spent.delete(id);
    }
    return total;
  };
  return {
    reserve: ({ callId, mostPicoUsd, nowMs, recorded }) => {
      const own = sum(nowMs);
      const others = recorded.filter((call) => !spent.has(call.callId));
      // A call whose bill never came may have cost as much as this one may.
      const total = others.reduce((all, call) => all + (call.costPicoUsd ?? mostPicoUsd), own);
      if (total + mostPicoUsd > budget) return null;
      const one = { atMs: nowMs, costPicoUsd: mostPicoUsd };
      spent.set(callId, one);
      return (costPicoUsd) => {
        if (costPicoUsd !== null) one.costPicoUsd = costPicoUsd;
      };
    },
    spentPicoUsd: sum,
  };
}
