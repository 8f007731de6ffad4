// The groups of calls, and the labels of rows.
import type { Label } from "./analysis.ts";
import { toIso } from "./time-window.ts";

/** Groups of calls; the first is the default. */
export const callGroups = [
  "model",
  "provider",
  "session",
  "agent",
  "parent_session",
  "is_worker",
  "gateway_key",
  "user",
  "team",
  "day",
  "hour",
  "none",
] as const;

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** The label of a group: a name, a number of days or hours since 1970, or nothing. Null for rows of deleted sessions. */
export function labelOfGroup(groupBy: string, value: unknown): Label {
  switch (groupBy) {
    case "none":
      return "all";
    case "day":
      return toDayLabel(Number(value) * dayMs);
    case "hour":
      return toHourLabel(Number(value) * hourMs);
    case "is_worker":
      return typeof value === "string" ? value === "yes" : null;
    default:
      return typeof value === "string" ? value : null;
  }
}

export function toDayLabel(ms: number): string {
  return toIso(ms).slice(0, 10);
}

export function toHourLabel(ms: number): string {
  return `${toIso(ms).slice(0, 13)}:00Z`;
}
