// The event bus of a host. Events are stored in the ledger; problems become notices.
import { messageOf } from "../../core/strata-error.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import {
  createEventBus,
  type EventBus,
  type EventBusOptions,
} from "../../edge/events/event-bus.ts";
import type { BusProblem } from "../../edge/events/problem.ts";

export interface EventsOptions extends Pick<EventBusOptions, "nowUs"> {
  readonly ledger: Ledger;
  readonly onNotice: (notice: string) => void;
}

export function openEvents({ ledger, onNotice, ...more }: EventsOptions): EventBus {
  const onProblem = (problem: BusProblem): void => {
    const text = describeProblem(problem);
    if (text !== null) onNotice(text);
  };
  return createEventBus({ store: ledger, onProblem, ...more });
}

/** A notice without the events' content; null if no person needs to know. */
function describeProblem(problem: BusProblem): string | null {
  switch (problem.kind) {
    case "event-invalid":
      return `an event of the type ${problem.type} is not as catalogued`;
    case "handler-failed":
      return `a handler of ${problem.type} failed: ${messageOf(problem.error)}`;
    case "handler-slow":
      return null;
    case "handler-overrun":
      return `${problem.missedCount} events did not reach a handler that is too slow`;
    case "queue-full":
      return `${problem.refusedCount} events were refused: ${problem.queueMax} are waiting`;
    case "queue-recovered":
      return `events are accepted again; ${problem.refusedCount} were refused`;
    case "write-retried":
      return `${problem.eventCount} events are not stored yet: ${messageOf(problem.error)}`;
    case "write-failed":
      return `${problem.eventCount} events were not stored: ${messageOf(problem.error)}`;
  }
}
