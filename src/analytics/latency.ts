// How long calls took, from a histogram that a database makes while it counts.

/** Rounded up to three digits, and none where a clock was set back meanwhile, so that a hundred thousand calls have a few thousand latencies at most. */
export function roundedSql(ms: string): string {
  return `CASE WHEN ${ms} < 0 THEN 0 WHEN ${ms} < 1000 THEN ${ms} WHEN ${ms} < 10000 THEN (${ms} + 9) / 10 * 10 WHEN ${ms} < 100000 THEN (${ms} + 99) / 100 * 100 ELSE (${ms} + 999) / 1000 * 1000 END`;
}

/** Milliseconds → how many calls took so long. */
export type Histogram = ReadonlyMap<number, number>;

/** Nearest rank: the smallest latency that so many calls do not exceed; null without calls. */
export function percentile(histogram: Histogram, percent: number): number | null {
  const total = [...histogram.values()].reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [ms, count] of [...histogram].toSorted(([left], [right]) => left - right)) {
    seen += count;
    if (seen * 100 >= total * percent) return ms;
  }
  return null;
}
