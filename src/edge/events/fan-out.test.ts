// A failing or slow subscriber does not affect the others.
import { describe, expect, test } from "vitest";
import type { StrataEvent } from "../../core/events/event.ts";
import { draftResumed, openTestBus } from "./test-kit.ts";

const callsOf = (event: StrataEvent): unknown =>
  event.type === "turn.resumed" ? event.payload.llm_call_count : event.type;

describe("a handler's mistakes", () => {
  test("do not spread: others get the event, emit does not throw, and no event is emitted about it", async () => {
    const { bus, problems, store, time } = openTestBus();
    const seen: unknown[] = [];
    bus.subscribe(() => {
      throw new Error("broken dashboard");
    });
    bus.subscribe(() => Promise.reject(new Error("broken exporter")));
    bus.subscribe((event) => seen.push(callsOf(event)));
    const event = bus.emit(draftResumed(1));
    await time.pass(20);
    expect(seen).toEqual([1]);
    expect(problems).toEqual([
      {
        kind: "handler-failed",
        eventId: event.id,
        type: "turn.resumed",
        error: new Error("broken dashboard"),
      },
      {
        kind: "handler-failed",
        eventId: event.id,
        type: "turn.resumed",
        error: new Error("broken exporter"),
      },
    ]);
    expect(store.batches.flat()).toEqual([event]);
  });

  test("do not reach the emitter even where reporting them fails", () => {
    const { bus } = openTestBus({
      onProblem: () => {
        throw new Error("the log is gone too");
      },
    });
    bus.subscribe(() => {
      throw new Error("broken");
    });
    expect(bus.emit(draftResumed(1)).type).toBe("turn.resumed");
  });

  test("slow three times, it gets its events later: all of them, in order, reported once", async () => {
    let elapsed = 0;
    const { bus, problems, time } = openTestBus({ elapsedMs: () => elapsed, handlerMsMax: 2 });
    const slow: unknown[] = [];
    const fast: unknown[] = [];
    bus.subscribe((event) => {
      elapsed += 5;
      slow.push(callsOf(event));
    });
    bus.subscribe((event) => fast.push(callsOf(event)));
    for (let calls = 1; calls <= 6; calls++) bus.emit(draftResumed(calls));
    expect(fast).toEqual([1, 2, 3, 4, 5, 6]);
    expect(slow).toEqual([1, 2, 3]);
    expect(problems).toEqual([{ kind: "handler-slow", tookMs: 5, limitMs: 2 }]);
    await time.pass(0);
    expect(slow).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("slow now and then, it stays where it is", () => {
    let elapsed = 0;
    const { bus, problems } = openTestBus({ elapsedMs: () => elapsed, handlerMsMax: 2 });
    let count = 0;
    bus.subscribe(() => {
      count += 1;
      if (count % 4 === 0) elapsed += 5;
    });
    for (let calls = 1; calls <= 100; calls++) bus.emit(draftResumed(calls));
    expect(count).toBe(100);
    expect(problems).toEqual([]);
  });

  test("events that a slow handler misses are counted and reported", async () => {
    let elapsed = 0;
    const { bus, problems, time } = openTestBus({
      elapsedMs: () => elapsed,
      queueMax: 4,
      flushMs: 0,
    });
    let count = 0;
    bus.subscribe(() => {
      count += 1;
      elapsed += 5;
    });
    const silent = openTestBus({ queueMax: 4 });
    for (let calls = 1; calls <= 10; calls++) {
      const event = silent.bus.prepare(draftResumed(calls));
      bus.deliver(event);
    }
    await time.pass(0);
    expect(count).toBe(7);
    expect(problems.slice(1)).toEqual([
      { kind: "handler-overrun", missedCount: 1 },
      { kind: "handler-overrun", missedCount: 2 },
    ]);
  });
});
