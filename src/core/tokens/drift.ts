// How far counts before a call differ from the real ones: the values of the drift metrics.

/** Upper bounds of the histogram's buckets, in percent. Alert if p99 is above 20. */
export const driftBucketsPercent: readonly number[] = [1, 2, 5, 10, 15, 20, 30, 50, 100, 200];

export interface DriftLabels {
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
}

/** `bill`: the prompt tokens in the reply's usage. `count`: the provider's count before the call. */
export type DriftAgainst = "bill" | "count";

export interface Drift {
  readonly labels: DriftLabels;
  readonly against: DriftAgainst;
  readonly estimatedTokens: number;
  readonly actualTokens: number;
  readonly percent: number;
}

/** |estimated − actual| / actual. Null if there is nothing to compare with. */
export function toDriftPercent(estimatedTokens: number, actualTokens: number): number | null {
  if (!(actualTokens > 0) || !Number.isFinite(estimatedTokens)) return null;
  return (Math.abs(estimatedTokens - actualTokens) / actualTokens) * 100;
}

export interface DriftSeries {
  readonly labels: DriftLabels;
  readonly against: DriftAgainst;
  readonly observations: number;
  readonly sumPercent: number;
  readonly percentMax: number;
  /** How many observations were at most each bucket's bound. */
  readonly atMost: readonly number[];
}

export function openDriftSeries(labels: DriftLabels, against: DriftAgainst): DriftSeries {
  const atMost = driftBucketsPercent.map(() => 0);
  return { labels, against, observations: 0, sumPercent: 0, percentMax: 0, atMost };
}

export function addDrift(series: DriftSeries, percent: number): DriftSeries {
  return {
    ...series,
    observations: series.observations + 1,
    sumPercent: series.sumPercent + percent,
    percentMax: Math.max(series.percentMax, percent),
    atMost: series.atMost.map((count, index) =>
      percent <= (driftBucketsPercent[index] ?? 0) ? count + 1 : count,
    ),
  };
}
