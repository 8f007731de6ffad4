// The event bus: completes and checks events, delivers them to subscribers immediately and to the store in batches.
import type { EventType } from "../../core/events/event-catalogue.ts";
import type { DraftOf, EventDraft, EventOf, StrataEvent } from "../../core/events/event.ts";
import type { Strictness } from "../../core/events/salvage-event.ts";
import { StrataError } from "../../core/strata-error.ts";
import { createDurableWriter, type DurableWriter, type WriterOptions } from "./durable-writer.ts";
import {
  createFanOut,
  type EventFilter,
  type EventHandler,
  type FanOut,
  type FanOutOptions,
} from "./fan-out.ts";
import { createMakeEvent } from "./make-event.ts";
import { isPowerOfTwo, safely, type Report } from "./problem.ts";
import { createRandomBytes, machineNowUs, scheduleOnMachine, type Schedule } from "./schedule.ts";
import { createSessionIds } from "./session-ids.ts";

export interface EventBus {
  /**
   * Returns after every subscriber got the event; its id can be used as a parent right away. Throws a `StrataError`, and
   * delivers and stores nothing, when the bus is closed, its queue is full, or the event is refused.
   */
  emit<Type extends EventType>(draft: DraftOf<Type>): EventOf<Type>;
  /** Makes the event without delivering it: the caller stores it in a transaction of its own, then calls `deliver`. */
  prepare<Type extends EventType>(draft: DraftOf<Type>): EventOf<Type>;
  /** Delivers an event that is already stored. */
  deliver(event: StrataEvent): void;
  /** Call the result to end the subscription; a handler may do so itself. */
  subscribe(handler: EventHandler, filter?: EventFilter): () => void;
  /** Further ids of the session will be greater than that of this event, which another process or node made. */
  continueSession(sessionId: string, lastEventId: string): void;
  /** Resolves when everything emitted before is stored; rejects when events were lost since the last flush. */
  flush(): Promise<void>;
  /** Delivers the backlog of slow handlers, flushes, and refuses later events. */
  close(): Promise<void>;
}

/** Without a store, events reach subscribers only. */
export interface EventBusOptions
  extends Partial<Omit<WriterOptions, "report">>, Partial<Omit<FanOutOptions, "report">> {
  readonly onProblem: Report;
  readonly strictness?: Strictness;
  readonly nowUs?: () => number;
  readonly randomBytes?: () => Uint8Array;
}

export function createEventBus(options: EventBusOptions): EventBus {
  const { strictness = "lenient", queueMax = 10_000, schedule = scheduleOnMachine } = options;
  const { nowUs = machineNowUs, elapsedMs = () => performance.now(), handlerMsMax = 2 } = options;
  const report = safely(options.onProblem);
  const writer = openWriter(options, report, schedule);
  const fanOut = createFanOut({ report, schedule, queueMax, elapsedMs, handlerMsMax });
  const ids = createSessionIds(options.randomBytes ?? createRandomBytes());
  const makeEvent = createMakeEvent({ strictness, ids, nowUs, report });
  const requireRoom = createGate(queueMax, writer, fanOut, report);
  let closing: Promise<void> | null = null;
  let isClosed = false;

  function requireOpen(): void {
    if (isClosed) {
      throw new StrataError("usage", "the event bus is closed", "emit before closing it");
    }
  }

  function emit<Type extends EventType>(draft: DraftOf<Type>): EventOf<Type>;
  function emit(draft: EventDraft): StrataEvent {
    requireOpen();
    requireRoom();
    const event = makeEvent(draft);
    // Queued before delivery, so that events which handlers emit are stored after it.
    writer?.push(event);
    fanOut.deliver(event);
    return event;
  }

  return {
    emit,
    prepare: (draft) => {
      requireOpen();
      return makeEvent(draft);
    },
    deliver: (event) => {
      requireOpen();
      fanOut.deliver(event);
    },
    subscribe: (handler, filter) => fanOut.subscribe(handler, filter),
    continueSession: (sessionId, lastEventId) => ids.continueAfter(sessionId, lastEventId),
    flush: () => writer?.flush() ?? Promise.resolve(),
    close: () => {
      isClosed = true;
      fanOut.catchUp();
      closing ??= writer?.flush() ?? Promise.resolve();
      return closing;
    },
  };
}

function openWriter(
  options: EventBusOptions,
  report: Report,
  schedule: Schedule,
): DurableWriter | null {
  const { store, batchMax = 200, flushMs = 20, attemptsMax = 6, retryMs = 50 } = options;
  if (store === undefined) return null;
  return createDurableWriter({ store, report, schedule, batchMax, flushMs, attemptsMax, retryMs });
}

/** Throws while the queue is full: an emitter must know that its event was refused. */
function createGate(
  queueMax: number,
  writer: DurableWriter | null,
  fanOut: FanOut,
  report: Report,
): () => void {
  let refusedCount = 0;
  return () => {
    const isFull = (writer?.waitingCount() ?? 0) >= queueMax || !fanOut.hasRoom();
    if (!isFull) {
      if (refusedCount > 0) report({ kind: "queue-recovered", refusedCount });
      refusedCount = 0;
      return;
    }
    refusedCount += 1;
    if (isPowerOfTwo(refusedCount)) report({ kind: "queue-full", refusedCount, queueMax });
    throw new StrataError(
      "environment-unfit",
      `the event was refused: ${queueMax} others wait for the store or for subscribers`,
      "emit less, or look at the store problems the bus reported",
    );
  };
}
