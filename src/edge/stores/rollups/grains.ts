// Which stored sums cover a window: whole hours, and larger buckets of them where they fit. The rest is read from raw rows.

export const hourMs = 3_600_000;

/** Hours per bucket. Each divides the next, so that a few large buckets and a few at the ends cover any window. */
export const grains = [1, 24, 144, 864] as const;

/** From the first hour to before the second, since 1970. */
export interface HourRange {
  readonly fromHour: number;
  readonly toHour: number;
}

export interface MsRange {
  readonly startMs: number;
  readonly endMs: number;
}

/** Buckets of one grain, next to each other. `fromHour` is the first hour of the first. */
export interface BucketRun extends HourRange {
  readonly grain: number;
}

export interface Cover {
  readonly runs: readonly BucketRun[];
  /** What no stored sum covers, in order. */
  readonly raw: readonly MsRange[];
}

/** How far sums are stored, and which of those hours changed since. */
export interface Caught {
  /** All hours before it are summed. */
  readonly positionHour: number;
  readonly staleHours: ReadonlySet<number>;
}

/** `grainMax`: no larger buckets, for rows by day or by hour. */
export function coverWindow(
  { startMs, endMs }: MsRange,
  { positionHour, staleHours }: Caught,
  grainMax: number,
): Cover {
  const fromHour = Math.ceil(startMs / hourMs);
  const toHour = Math.min(Math.floor(endMs / hourMs), positionHour);
  if (fromHour >= toHour) return { runs: [], raw: [{ startMs, endMs }] };
  const runs: BucketRun[] = [];
  const raw: MsRange[] = [];
  addRaw(raw, startMs, fromHour * hourMs);
  const stale = [...staleHours].filter((hour) => hour >= fromHour && hour < toHour);
  let from = fromHour;
  for (const hour of stale.toSorted((left, right) => left - right)) {
    addRuns(runs, { fromHour: from, toHour: hour }, grainMax);
    addRaw(raw, hour * hourMs, (hour + 1) * hourMs);
    from = hour + 1;
  }
  addRuns(runs, { fromHour: from, toHour }, grainMax);
  addRaw(raw, toHour * hourMs, endMs);
  return { runs, raw };
}

/** Adjacent ranges become one. */
function addRaw(ranges: MsRange[], startMs: number, endMs: number): void {
  if (startMs >= endMs) return;
  const last = ranges.at(-1);
  if (last?.endMs === startMs) ranges[ranges.length - 1] = { startMs: last.startMs, endMs };
  else ranges.push({ startMs, endMs });
}

/** Takes the largest bucket that begins here and fits, again and again. */
function addRuns(runs: BucketRun[], { fromHour, toHour }: HourRange, grainMax: number): void {
  const usable = grains.filter((grain) => grain <= grainMax).toReversed();
  for (let hour = fromHour; hour < toHour;) {
    const grain = usable.find((each) => hour % each === 0 && hour + each <= toHour) ?? 1;
    const last = runs.at(-1);
    if (last?.grain === grain && last.toHour === hour) {
      runs[runs.length - 1] = { ...last, toHour: hour + grain };
    } else runs.push({ grain, fromHour: hour, toHour: hour + grain });
    hour += grain;
  }
}
