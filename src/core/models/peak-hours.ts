// The hours of the week at which a provider charges more, with the holidays on which it does not.
import { peakHoursFile } from "./built-in-files.ts";
import { toClock, type Moment } from "./moment.ts";
import * as read from "./read-fields.ts";

export interface PeakHours {
  readonly name: string;
  /** From 0, Sunday. */
  readonly weekdays: readonly number[];
  /** From the first hour to before the second, UTC. */
  readonly hoursUtc: readonly (readonly [number, number])[];
  /** Days without a peak, as 2026-10-01. */
  readonly exceptOn: readonly string[];
}

const weekdayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

const peaks: ReadonlyMap<string, PeakHours> = parsePeaks(peakHoursFile, "peak-hours.json");

/** Reads the name of a calendar of ours. */
export function parsePeakHours(value: unknown, place: string): PeakHours {
  const name = read.oneOf(value, [...peaks.keys()], place);
  const found = peaks.get(name);
  return found ?? noPeak;
}

const noPeak: PeakHours = { name: "none", weekdays: [], hoursUtc: [], exceptOn: [] };

/** A day without a time counts as peak: a price that is too high misleads less than one that is too low. */
export function isPeak({ weekdays, hoursUtc, exceptOn }: PeakHours, at: Moment): boolean {
  const { day, weekday, hour } = toClock(at);
  if (hour === null) return true;
  if (!weekdays.includes(weekday) || exceptOn.includes(day)) return false;
  return hoursUtc.some(([from, to]) => hour >= from && hour < to);
}

function parsePeaks(value: unknown, file: string): ReadonlyMap<string, PeakHours> {
  const given = read.shape(value, file, {
    source: read.text,
    checkedOn: read.day,
    peaks: read.record,
    holidays: read.record,
  });
  return new Map(
    Object.entries(given.peaks).map(([name, peak]) => {
      const place = `${file}: ${name}`;
      const { weekdays, hoursUtc, exceptOn } = read.shape(peak, place, {
        weekdays: read.listOf(read.choice(weekdayNames)),
        hoursUtc: read.listOf(parseHours),
        exceptOn: read.text,
        note: read.nullable(read.text),
      });
      const { days } = read.shape(given.holidays[exceptOn], `${file}: holidays.${exceptOn}`, {
        through: read.day,
        days: read.listOf(read.day),
        note: read.nullable(read.text),
      });
      const numbers = weekdays.map((weekday) => weekdayNames.indexOf(weekday));
      return [name, { name, weekdays: numbers, hoursUtc, exceptOn: days }];
    }),
  );
}

function parseHours(value: unknown, place: string): readonly [number, number] {
  const [from = 0, to = 0] = read.list(value, place, read.multiplier);
  return [from, to];
}
