// For tests: a clock and a store under the test's control, and drafts to emit.
import type { DraftOf, StrataEvent } from "../../core/events/event.ts";
import type { EventStore } from "./durable-writer.ts";
import { createEventBus, type EventBus, type EventBusOptions } from "./event-bus.ts";
import type { BusProblem } from "./problem.ts";
import type { Schedule } from "./schedule.ts";

export interface TestTime {
  readonly schedule: Schedule;
  /** Advances the clock and runs every timer that became due. */
  pass(ms: number): Promise<void>;
}

export function createTestTime(): TestTime {
  let nowMs = 0;
  let timers: { readonly dueMs: number; readonly run: () => void }[] = [];
  return {
    schedule: (delayMs, run) => {
      const timer = { dueMs: nowMs + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    pass: async (ms) => {
      const endMs = nowMs + ms;
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        const [next] = timers
          .filter(({ dueMs }) => dueMs <= endMs)
          .toSorted((left, right) => left.dueMs - right.dueMs);
        if (next === undefined) break;
        timers = timers.filter((each) => each !== next);
        nowMs = Math.max(nowMs, next.dueMs);
        next.run();
      }
      nowMs = endMs;
    },
  };
}

export interface TestStore extends EventStore {
  readonly batches: (readonly StrataEvent[])[];
  /** How many of the next writes will fail. */
  failures: number;
}

export function createTestStore(): TestStore {
  const store: TestStore = {
    batches: [],
    failures: 0,
    appendEvents: (events) => {
      if (store.failures > 0) {
        store.failures -= 1;
        return Promise.reject(new Error("disk full"));
      }
      store.batches.push([...events]);
      return Promise.resolve();
    },
  };
  return store;
}

export interface BusKit {
  readonly bus: EventBus;
  readonly store: TestStore;
  readonly time: TestTime;
  readonly problems: BusProblem[];
}

/** A bus on test time with a store; strict by default. */
export function openTestBus(options: Partial<EventBusOptions> = {}): BusKit {
  const store = createTestStore();
  const time = createTestTime();
  const problems: BusProblem[] = [];
  const bus = createEventBus({
    store,
    schedule: time.schedule,
    elapsedMs: () => 0,
    strictness: "strict",
    onProblem: (problem) => {
      problems.push(problem);
    },
    ...options,
  });
  return { bus, store, time, problems };
}

export function draftResumed(calls: number, sessionId = "session-1"): DraftOf<"turn.resumed"> {
  return {
    sessionId,
    turnId: "turn-1",
    type: "turn.resumed",
    payload: { llm_call_count: calls, tool_call_count: 0 },
  };
}
