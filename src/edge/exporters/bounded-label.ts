// Values of a label, never more than so many: every value is a time series that somebody has to keep.
import { redact } from "../../core/events/redact.ts";

/** Takes a value as it came; gives what is shown. */
export type BoundedLabel = (value: string | null | undefined) => string;

/** What further values are counted as. */
export const otherValue = "other";

/** What a value that nobody told is counted as. */
export const unknownValue = "unknown";

const lengthMax = 200;

/** The first `max` values keep their names until the process ends; `onOther` hears of each use of another one. */
export function createBoundedLabel(max: number, onOther: () => void): BoundedLabel {
  const shownAs = new Map<string, string>();
  return (value) => {
    if (value == null || value === "") return unknownValue;
    const known = shownAs.get(value);
    if (known !== undefined) return known;
    if (shownAs.size >= max) {
      onOther();
      return otherValue;
    }
    const shown = toShown(value);
    shownAs.set(value, shown);
    return shown;
  };
}

/**
 * Without secrets, on one line, and not too long. A comma that looks like the beginning of another label becomes an
 * underscore: prom-client tells series apart by `name:value,name:value,`.
 */
function toShown(value: string): string {
  return redact(value)
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, "_")
    .replace(/,(?=\w+:)/g, "_")
    .slice(0, lengthMax)
    .toWellFormed();
}
