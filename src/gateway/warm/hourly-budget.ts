// What may be spent in an hour on calls that no client asked for. What a call may cost at most is set aside before it is sent.

export interface HourlyBudget {
  /** Null if the rest of this hour's budget is smaller. Otherwise to be called with what it did cost; null if that is not known. */
  reserve(mostPicoUsd: bigint, nowMs: number): ((costPicoUsd: bigint | null) => void) | null;
  spentPicoUsd(nowMs: number): bigint;
}

const hourMs = 3_600_000;

export function createHourlyBudget(usdPerHour: number): HourlyBudget {
  const budget = BigInt(Math.floor(usdPerHour * 1e12));
  let spent: { readonly atMs: number; costPicoUsd: bigint }[] = [];
  const sum = (nowMs: number): bigint => {
    spent = spent.filter(({ atMs }) => nowMs - atMs < hourMs);
    return spent.reduce((total, { costPicoUsd }) => total + costPicoUsd, 0n);
  };
  return {
    reserve: (mostPicoUsd, nowMs) => {
      if (sum(nowMs) + mostPicoUsd > budget) return null;
      const one = { atMs: nowMs, costPicoUsd: mostPicoUsd };
      spent.push(one);
      return (costPicoUsd) => {
        // A call whose bill never came may have cost the most.
        if (costPicoUsd !== null) one.costPicoUsd = costPicoUsd;
      };
    },
    spentPicoUsd: sum,
  };
}
