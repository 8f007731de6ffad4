// When something was billed. Core has no clock: the caller says when.
import { StrataError } from "../strata-error.ts";

/** A day or a time in ISO form, UTC, or milliseconds since 1970. */
export type Moment = string | number;

/** The UTC day of a moment as 2026-11-15, which compares as text. */
export function toDay(at: Moment): string {
  if (typeof at === "number" && Number.isFinite(at)) return dayOfEpoch(Math.floor(at / msPerDay));
  if (typeof at === "string" && /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z?)?$/.test(at)) return at.slice(0, 10);
  throw new StrataError(
    "input-invalid",
    `"${at}" is no moment in UTC`,
    "write it like 2026-11-15 or 2026-11-15T08:00:00Z, or as milliseconds since 1970",
  );
}

const msPerDay = 86_400_000;

// Days since 1970 to the Gregorian calendar, counted in 400-year eras that begin on 1 March of year 0,
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

function padded(value: number, length: number): string {
  return String(value).padStart(length, "0");
}
