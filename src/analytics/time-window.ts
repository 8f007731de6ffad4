// The time window of a question: UTC, start inclusive, end exclusive.
import { isCalendarDay } from "../core/models/moment.ts";
import { refuse } from "./analytics-error.ts";

export interface TimeWindow {
  readonly startMs: number;
  readonly endMs: number;
}

const defaultMs = 7 * 86_400_000;

/** Default: the last seven days. Without `from` the window is seven days long; without `to` it ends now. */
export function parseWindow(
  { from, to }: { readonly from?: string; readonly to?: string },
  nowMs: number,
): TimeWindow {
  const endMs = to === undefined ? nowMs : parseTime(to, "to", nowMs);
  const startMs =
    from === undefined ? beginning(endMs - defaultMs) : parseTime(from, "from", nowMs);
  if (startMs < endMs) return { startMs, endMs };
  throw refuse(
    "invalid_time_window",
    `the window from ${toIso(startMs)} to ${toIso(endMs)} is empty`,
    "set from to an earlier time than to",
  );
}

/** Nothing was recorded before 1970. */
function beginning(ms: number): number {
  return Math.max(0, ms);
}

export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** `90d` and the like, in milliseconds; 0 for another text. */
export function parseAgeMs(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return Number(count) * (agesMs.get(unit) ?? 0);
}

const agesMs: ReadonlyMap<string, number> = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
  ["w", 604_800_000],
]);

const day = /^(\d{4})-(\d{2})-(\d{2})$/;
const moment = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?$/;

/** A day, a time (UTC without a zone), or an age. */
function parseTime(text: string, name: string, nowMs: number): number {
  const ageMs = parseAgeMs(text);
  if (ageMs > 0) return beginning(nowMs - ageMs);
  const parts = day.exec(text) ?? moment.exec(text);
  const isDay =
    parts !== null && isCalendarDay(Number(parts[1]), Number(parts[2]), Number(parts[3]));
  const isZoned = day.test(text) || parts?.[4] !== undefined;
  const ms = isDay ? Date.parse(isZoned ? text : `${text}Z`) : Number.NaN;
  if (Number.isFinite(ms)) return beginning(ms);
  throw refuse(
    "invalid_time_window",
    `${name} cannot be "${text}"`,
    "write a day (2026-11-16), a time (2026-11-16T09:30Z) or an age (24h, 30d, 4w)",
  );
}
