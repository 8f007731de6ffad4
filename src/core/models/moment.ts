// The time of a bill. Core has no clock; the caller passes the time.
import { StrataError } from "../strata-error.ts";

/** An ISO day or time in UTC, or milliseconds since 1970. A time without a zone counts as UTC. */
export type Moment = string | number;

/** The UTC day as 2026-11-15, which compares as text. */
export function toDay(at: Moment): string {
  const day = typeof at === "number" ? dayOfMs(at) : dayOfText(at);
  if (day !== null) return day;
  throw new StrataError(
    "input-invalid",
    `"${at}" is not a UTC time`,
    "write it like 2026-11-15 or 2026-11-15T08:00:00Z, or as milliseconds since 1970",
  );
}

export interface Clock {
  readonly day: string;
  /** From 0, Sunday. */
  readonly weekday: number;
  /** UTC; null for a day without a time. */
  readonly hour: number | null;
}

/** The UTC day, weekday and hour. */
export function toClock(at: Moment): Clock {
  const day = toDay(at);
  return { day, weekday: weekdayOf(day), hour: hourOf(at) };
}

function hourOf(at: Moment): number | null {
  if (typeof at === "number")
    return Math.floor((at - Math.floor(at / msPerDay) * msPerDay) / 3_600_000);
  const hour = /T(\d{2})/.exec(at)?.[1];
  return hour === undefined ? null : Number(hour);
}

/** January and February count as months of the year before, so that the leap day is the last. */
function weekdayOf(day: string): number {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const shifted = month < 3 ? year - 1 : year;
  const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return (shifted + leapDays + (monthOffsets[month - 1] ?? 0) + date) % 7;
}

const monthOffsets = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];

/** Whether a text is a day of the calendar in ISO form. */
export function isDay(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return parts !== null && isCalendarDay(Number(parts[1]), Number(parts[2]), Number(parts[3]));
}

/** Whether the Gregorian calendar has such a day. */
export function isCalendarDay(year: number, month: number, day: number): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = month === 2 && !isLeap ? 28 : (daysOfMonth[month - 1] ?? 0);
  return day >= 1 && day <= last;
}

const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function dayOfText(at: string): string | null {
  const [, day = "", time, zone = "Z"] =
    /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/.exec(at) ??
    [];
  if (!isDay(day)) return null;
  const [hour = 0, minute = 0, second = 0] = time?.split(":").map(Number) ?? [];
  if (hour > 23 || minute > 59 || second >= 60) return null;
  if (zone === "Z" || zone === "+00:00") return day;
  throw new StrataError(
    "input-invalid",
    `"${at}" has the offset ${zone}, but times must be in UTC`,
    "convert it to UTC, like 2026-11-15T08:00:00Z",
  );
}

/** Only four-digit years: others would not compare as text. */
function dayOfMs(at: number): string | null {
  return at >= msOfYear0 && at < msOfYear10000 ? dayOfEpoch(Math.floor(at / msPerDay)) : null;
}

const msPerDay = 86_400_000;
const msOfYear0 = -719_528 * msPerDay;
const msOfYear10000 = 2_932_897 * msPerDay;

// Converts days since 1970 to the Gregorian calendar, in 400-year eras that begin on 1 March of year 0,
// so that the leap day is the last day of a year.
function dayOfEpoch(epochDay: number): string {
  const shifted = epochDay + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

/** Days in the Gregorian calendar; core has no Date. */
export function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Milliseconds since 1970 of a UTC day or time such as 2026-11-15T08:00:00.5Z, rounded down; null for anything else. */
export function toMs(text: string): number | null {
  const match = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?Z)?$/.exec(text);
  const [, day = "", hour = "0", minute = "0", second = "0", part = "0"] = match ?? [];
  if (!isDay(day) || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  const ms = Number(part.padEnd(3, "0").slice(0, 3));
  return daysSinceEpoch(year, month, date) * msPerDay + seconds * 1000 + ms;
}

function padded(value: number, length: number): string {
  return String(value).padStart(length, "0");
}
