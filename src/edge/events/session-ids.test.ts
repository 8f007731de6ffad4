import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkTrace } from "../../../harness/check-trace.ts";
import type { StrataEvent } from "../../core/events/event.ts";
import { createEventBus } from "./event-bus.ts";
import { draftResumed, openTestBus } from "./test-kit.ts";

describe("ids", () => {
  test("grow within a session while the clock goes back", () => {
    const clock = [5_000_000, 4_000_000, 4_000_000, 0, 5_000_000];
    const { bus } = openTestBus({ nowUs: () => clock.shift() ?? 0 });
    const events = [1, 2, 3, 4, 5].map((calls) => bus.emit(draftResumed(calls)));
    const ids = events.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(5);
    expect(events.map(({ timestampUs }) => timestampUs)).toEqual([
      5_000_000, 4_000_000, 4_000_000, 0, 5_000_000,
    ]);
  });

  test("go on after what another node made, without moving other sessions", () => {
    let nowMs = 1_000;
    const { bus } = openTestBus({ nowUs: () => nowMs * 1000 });
    const elsewhere = "01JCQ3Z6VN0000000000000000";
    bus.continueSession("far", elsewhere);
    const far = bus.emit(draftResumed(1, "far"));
    const near = bus.emit(draftResumed(1, "near"));
    const followed = bus.emit({ ...draftResumed(2, "near"), parentEventId: far.id });
    const again = bus.emit(draftResumed(2, "far"));
    expect(far.id > elsewhere).toBe(true);
    expect(near.id.slice(0, 10)).toBe("00000000Z8");
    expect(followed.id > far.id).toBe(true);
    expect(again.id > far.id).toBe(true);
    nowMs = 1_900_000_000_000;
    expect(bus.emit(draftResumed(3, "far")).id.slice(0, 10)).toBe("01Q9GD6E00");
  });

  test("cannot follow the last id there is, and only that session hears of it", () => {
    const { bus } = openTestBus();
    const last = { parentEventId: "7ZZZZZZZZZZZZZZZZZZZZZZZZZ" };
    expect(() => bus.emit({ ...draftResumed(1, "a"), ...last })).toThrow("no event id can follow");
    expect(bus.emit(draftResumed(1, "b")).sessionId).toBe("b");
    expect(bus.emit(draftResumed(2, "a")).sessionId).toBe("a");
  });
});

// Goal: ids increase within a session and exceed their parent's. Method: several sessions on one bus, a clock that
// jumps, parents among what was emitted.
describe("for any clock and any order of sessions", () => {
  const step = fc.record({
    session: fc.constantFrom("a", "b", "c"),
    clockMs: fc.integer({ min: 0, max: 2 ** 43 }),
    parent: fc.option(fc.nat(), { nil: null }),
    jump: fc.boolean(),
  });

  test("ids grow within each session and parents come before their children", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let nowUs = 0;
        const bus = createEventBus({
          onProblem: () => {},
          nowUs: () => nowUs,
          strictness: "strict",
        });
        const events: StrataEvent[] = [];
        for (const { session, clockMs, parent, jump } of steps) {
          if (jump) nowUs = clockMs * 1000;
          const before = parent === null ? undefined : events[parent % (events.length || 1)];
          const draft = draftResumed(events.length, session);
          events.push(bus.emit({ ...draft, parentEventId: before?.id ?? null }));
        }
        expect(checkTrace(events)).toEqual([]);
        expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      }),
    );
  });
});
