// Times in the reader's zone, written one way.

const clockForm = new Intl.DateTimeFormat([], {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const dayForm = new Intl.DateTimeFormat([], { year: "numeric", month: "short", day: "numeric" });

/** 11:38:20. */
export function clock(ms: number): string {
  return clockForm.format(ms);
}

/** The day only where it is not today. */
export function moment(ms: number, nowMs: number): string {
  const day = dayForm.format(ms);
  return day === dayForm.format(nowMs) ? clock(ms) : `${day}, ${clock(ms)}`;
}

/** The reader's. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
