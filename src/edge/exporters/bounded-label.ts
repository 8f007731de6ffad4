// Limits the number of different values of a label: every value is a time series that Prometheus has to keep.
import { redact } from "../../core/events/redact.ts";

/** Raw value in, shown value out. */
export type BoundedLabel = (value: string | null | undefined) => string;

/** Stands for every value beyond the limit. */
export const otherValue = "other";

/** Stands for a missing or empty value. */
export const unknownValue = "unknown";

const lengthMax = 200;

/** The first `max` values keep their names until the process ends. `onOther` is called for each use of another one. */
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
 * Redacts secrets, removes line breaks, cuts the length. A comma that looks like the start of another label becomes
 * an underscore: prom-client identifies a series by `name:value,name:value,`.
 */
function toShown(value: string): string {
  return redact(value)
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, "_")
    .replace(/,(?=\w+:)/g, "_")
    .slice(0, lengthMax)
    .toWellFormed();
}
