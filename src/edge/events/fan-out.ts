// Delivers events to subscribers: immediately and in order. A failing subscriber does not affect the others.
import type { EventType } from "../../core/events/event-catalogue.ts";
import type { StrataEvent } from "../../core/events/event.ts";
import { isPowerOfTwo, type Report } from "./problem.ts";
import type { Schedule } from "./schedule.ts";

/** A returned promise is not awaited; its rejection is reported. */
export type EventHandler = (event: StrataEvent) => unknown;

export interface EventFilter {
  readonly types?: readonly EventType[];
  readonly sessionId?: string;
}

export interface FanOut {
  subscribe(handler: EventHandler, filter?: EventFilter): () => void;
  /** Inside a handler it returns immediately; the event is delivered after every subscriber got the current one. */
  deliver(event: StrataEvent): void;
  /** False when events that handlers emitted fill the queue. */
  hasRoom(): boolean;
  /** Delivers the backlog of every slow handler. */
  catchUp(): void;
}

export interface FanOutOptions {
  readonly report: Report;
  readonly schedule: Schedule;
  /** Milliseconds on a monotonic clock. */
  readonly elapsedMs: () => number;
  /** A handler that takes longer in three of its last eight calls gets its events later, outside of `emit`. */
  readonly handlerMsMax: number;
  readonly queueMax: number;
}

interface Subscription {
  readonly handler: EventHandler;
  readonly types: ReadonlySet<EventType> | null;
  readonly sessionId: string | null;
  isActive: boolean;
  /** One bit for each of the last eight calls, set if the call was slow. */
  slowCalls: number;
  /** Events a slow handler has not got yet; null while the handler is fast. */
  backlog: StrataEvent[] | null;
  missedCount: number;
}

export function createFanOut(options: FanOutOptions): FanOut {
  const { queueMax } = options;
  // Replaced, never changed: a delivery goes to those subscribed when it began.
  let subscriptions: readonly Subscription[] = [];
  let pending: StrataEvent[] = [];
  let isDelivering = false;

  function deliverPending(): void {
    isDelivering = true;
    try {
      for (let index = 0; index < pending.length; index++) {
        const event = pending[index];
        if (event === undefined) break;
        for (const subscription of subscriptions) handOver(subscription, event, options);
      }
    } finally {
      pending = [];
      isDelivering = false;
    }
  }

  return {
    subscribe: (handler, { types, sessionId } = {}) => {
      const subscription: Subscription = {
        handler,
        types: types === undefined ? null : new Set(types),
        sessionId: sessionId ?? null,
        isActive: true,
        slowCalls: 0,
        backlog: null,
        missedCount: 0,
      };
      subscriptions = [...subscriptions, subscription];
      return () => {
        subscription.isActive = false;
        subscriptions = subscriptions.filter((each) => each !== subscription);
      };
    },
    deliver: (event) => {
      pending.push(event);
      if (!isDelivering) deliverPending();
    },
    hasRoom: () => pending.length < queueMax,
    catchUp: () => {
      for (const subscription of subscriptions) {
        while (giveNext(subscription, options)) continue;
      }
    },
  };
}

function handOver(subscription: Subscription, event: StrataEvent, options: FanOutOptions): void {
  const { isActive, types, sessionId } = subscription;
  if (!isActive || (sessionId !== null && sessionId !== event.sessionId)) return;
  if (types !== null && !types.has(event.type)) return;
  if (subscription.backlog !== null) {
    putOff(subscription, subscription.backlog, event, options);
    return;
  }
  const { handlerMsMax, elapsedMs, report } = options;
  const startMs = elapsedMs();
  call(subscription, event, report);
  const tookMs = elapsedMs() - startMs;
  subscription.slowCalls = ((subscription.slowCalls << 1) | (tookMs > handlerMsMax ? 1 : 0)) & 0xff;
  if (countBits(subscription.slowCalls) < 3) return;
  subscription.backlog = [];
  report({ kind: "handler-slow", tookMs, limitMs: handlerMsMax });
}

function call({ handler }: Subscription, event: StrataEvent, report: Report): void {
  const fail = (error: unknown): void => {
    report({ kind: "handler-failed", eventId: event.id, type: event.type, error });
  };
  try {
    const result = handler(event);
    if (result instanceof Promise) result.catch(fail);
  } catch (error) {
    fail(error);
  }
}

function putOff(
  subscription: Subscription,
  backlog: StrataEvent[],
  event: StrataEvent,
  options: FanOutOptions,
): void {
  if (backlog.length >= options.queueMax) {
    subscription.missedCount += 1;
    const { missedCount } = subscription;
    if (isPowerOfTwo(missedCount)) options.report({ kind: "handler-overrun", missedCount });
    return;
  }
  backlog.push(event);
  if (backlog.length === 1) options.schedule(0, () => giveInTurn(subscription, options));
}

/** One event per scheduled run, so that other work can run in between. */
function giveInTurn(subscription: Subscription, options: FanOutOptions): void {
  giveNext(subscription, options);
  const isBehind = subscription.isActive && (subscription.backlog?.length ?? 0) > 0;
  if (isBehind) options.schedule(0, () => giveInTurn(subscription, options));
}

function giveNext(subscription: Subscription, { report }: FanOutOptions): boolean {
  const event = subscription.isActive ? subscription.backlog?.shift() : undefined;
  if (event === undefined) return false;
  call(subscription, event, report);
  return true;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest > 0; rest >>= 1) count += rest & 1;
  return count;
}
