// What is unusual about the last hour: it cost much more, or broke caches much more often, than hours of the day before it did.

export interface HourFigures {
  readonly dollars: number;
  readonly callCount: number;
  readonly missCount: number;
}

export interface Jump {
  readonly what: "dollars" | "misses";
  /** Of the last hour: dollars, or misses per call. */
  readonly now: number;
  /** The middle one of the hours before. */
  readonly usual: number;
}

/** Hours in which nothing was called say nothing about what is usual. */
export function findJumps(
  last: HourFigures,
  before: readonly HourFigures[],
  timesUsual: number,
): readonly Jump[] {
  const hours = before.filter(({ callCount }) => callCount > 0);
  if (hours.length < hoursMin || last.callCount === 0) return [];
  const dollars = middleOf(hours.map((each) => each.dollars));
  const misses = middleOf(hours.map(missRateOf));
  const found: Jump[] = [];
  if (last.dollars >= dollarsMin && last.dollars > timesUsual * dollars) {
    found.push({ what: "dollars", now: last.dollars, usual: dollars });
  }
  if (last.missCount >= missesMin && missRateOf(last) > timesUsual * Math.max(misses, rateMin)) {
    found.push({ what: "misses", now: missRateOf(last), usual: misses });
  }
  return found;
}

/** Fewer hours are no custom, and smaller sums and single misses no reason to look up. */
const hoursMin = 3;
const dollarsMin = 0.01;
const missesMin = 3;
const rateMin = 0.01;

function missRateOf({ missCount, callCount }: HourFigures): number {
  return callCount === 0 ? 0 : missCount / callCount;
}

function middleOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}
