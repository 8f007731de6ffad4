// Problems of the bus itself. They go to a callback and never become events, which could fail in turn without end.
import type { EventViolation } from "../../core/events/check-event.ts";
import type { EventType } from "../../core/events/event-catalogue.ts";
import type { StrataEvent } from "../../core/events/event.ts";

/** The list is closed: a new kind is a decision. */
export type BusProblem =
  /** The event does not match the catalogue. A lenient bus still delivers it. */
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
  /** The handler is too slow to run inside `emit`; from now on it gets its events later. */
  | { readonly kind: "handler-slow"; readonly tookMs: number; readonly limitMs: number }
  /** A slow handler is so far behind that it misses events. The count starts with its subscription. */
  | { readonly kind: "handler-overrun"; readonly missedCount: number }
  /** Emitters were refused. Reported on the first, second, fourth … refusal since the queue became full. */
  | { readonly kind: "queue-full"; readonly refusedCount: number; readonly queueMax: number }
  | { readonly kind: "queue-recovered"; readonly refusedCount: number }
  | {
      readonly kind: "write-retried";
      readonly eventCount: number;
      readonly attempt: number;
      readonly delayMs: number;
      readonly error: unknown;
    }
  /** All attempts failed. The bus drops these events, so the report carries them. */
  | {
      readonly kind: "write-failed";
      readonly eventCount: number;
      readonly events: readonly StrataEvent[];
      readonly error: unknown;
    };

export type Report = (problem: BusProblem) => void;

/** A failing reporter must not fail the emitter. */
export function safely(report: Report): Report {
  return (problem) => {
    try {
      report(problem);
    } catch {
      // There is no other place to report to.
    }
  };
}

/** Repeated problems are reported at counts 1, 2, 4, 8 …, so that a flood of refusals does not flood the reporter. */
export function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}
