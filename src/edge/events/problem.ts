// What goes wrong with events is told to a person's log and never becomes an event: that could go on for ever.
import type { EventViolation } from "../../core/events/check-event.ts";
import type { EventType } from "../../core/events/event-catalogue.ts";
import type { StrataEvent } from "../../core/events/event.ts";

/** The list is closed: a new kind is a decision. */
export type BusProblem =
  /** Not as catalogued; delivered all the same where the bus is lenient. */
  | {
      readonly kind: "event-invalid";
      readonly type: string;
      readonly isRefused: boolean;
      readonly violations: readonly EventViolation[];
    }
  | {
      readonly kind: "handler-failed";
      readonly eventId: string;
      readonly type: EventType;
      readonly error: unknown;
    }
  /** Too slow to hold up emitters; from now on it is given its events later. */
  | { readonly kind: "handler-slow"; readonly tookMs: number; readonly limitMs: number }
  /** A slow handler is so far behind that it does not get these. Counted from its beginning. */
  | { readonly kind: "handler-overrun"; readonly missedCount: number }
  /** Emitters were refused. Told on the first, second, fourth … refusal, counted since the queue was full. */
  | { readonly kind: "queue-full"; readonly refusedCount: number; readonly queueMax: number }
  | { readonly kind: "queue-recovered"; readonly refusedCount: number }
  | {
      readonly kind: "write-retried";
      readonly eventCount: number;
      readonly attempt: number;
      readonly delayMs: number;
      readonly error: unknown;
    }
  /** Given up. This is the last that is seen of these events, so here they are. */
  | {
      readonly kind: "write-failed";
      readonly eventCount: number;
      readonly events: readonly StrataEvent[];
      readonly error: unknown;
    };

export type Report = (problem: BusProblem) => void;

/** A reporter that fails has nobody to report to, and must not fail the emitter. */
export function safely(report: Report): Report {
  return (problem) => {
    try {
      report(problem);
    } catch {
      // Nothing can be done about it here.
    }
  };
}

/** Whether a count is worth telling: 1, 2, 4, 8 … so that a flood of refusals is no flood of reports. */
export function isTelling(count: number): boolean {
  return (count & (count - 1)) === 0;
}
