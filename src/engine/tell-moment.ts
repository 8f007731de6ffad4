// What holds for the next call only. It is paid for with every call that says it, so it is said where it is news.
import { describeMoment, type EventMoment } from "../core/layers/event.ts";
import type { Section } from "../core/layers/section.ts";
import type { Session } from "../core/session/session.ts";

/** Told once more in a turn that goes on, after so long. */
const againMs = 60_000;

/**
 * `toldMs`: when a turn that goes on elsewhere was told it last; null for a new one.
 * The time goes with the event, and then once a minute; where people are goes with every call.
 */
export function createMoments(
  event: EventMoment,
  { role, policy }: Session,
  { startMs, toldMs: before }: { readonly startMs: number; readonly toldMs: number | null },
): (nowMs: number) => readonly Section[] {
  const first = describeMoment(event, role, isoOf(startMs));
  // Before the messages, another text would be another prefix for all of them.
  if (policy.layout.volatile === "system-tail") return () => [first];
  let toldMs = before;
  return (nowMs) => {
    if (toldMs !== null && nowMs - toldMs < againMs) {
      const rest = describeMoment({ ...event, hookData: [] }, role, null);
      return rest.text === "" ? [] : [rest];
    }
    const isFirst = toldMs === null;
    toldMs = nowMs;
    return [isFirst ? first : describeMoment({ ...event, hookData: [] }, role, isoOf(nowMs))];
  };
}

function isoOf(ms: number): { readonly iso: string } {
  return { iso: new Date(ms).toISOString() };
}
