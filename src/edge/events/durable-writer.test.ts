import { describe, expect, test } from "vitest";
import type { StrataEvent } from "../../core/events/event.ts";
import { createEventBus } from "./event-bus.ts";
import { draftResumed, openTestBus } from "./test-kit.ts";

const sizes = (batches: readonly (readonly StrataEvent[])[]): number[] =>
  batches.map(({ length }) => length);
const calls = (events: readonly StrataEvent[]): unknown[] =>
  events.map(({ payload }) => ("llm_call_count" in payload ? payload.llm_call_count : null));

describe("batches", () => {
  test("wait for company, not for long, and never within emit", async () => {
    const { bus, store, time } = openTestBus({ flushMs: 20 });
    bus.emit(draftResumed(1));
    bus.emit(draftResumed(2));
    expect(store.batches).toEqual([]);
    await time.pass(19);
    expect(store.batches).toEqual([]);
    await time.pass(1);
    expect(store.batches.map(calls)).toEqual([[1, 2]]);
  });

  test("are written as soon as they are full, the rest in its time", async () => {
    const { bus, store, time } = openTestBus({ batchMax: 3, flushMs: 20 });
    for (let count = 1; count <= 7; count++) bus.emit(draftResumed(count));
    expect(store.batches).toEqual([]);
    await time.pass(0);
    expect(store.batches.map(calls)).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    await time.pass(20);
    expect(calls(store.batches.flat())).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test("go one at a time, and hold what came during the write before", async () => {
    const { bus, store, time } = openTestBus({ flushMs: 20 });
    const write = store.appendEvents.bind(store);
    let running = 0;
    store.appendEvents = async (events) => {
      running += 1;
      expect(running).toBe(1);
      await new Promise<void>((resolve) => time.schedule(100, resolve));
      running -= 1;
      await write(events);
    };
    bus.emit(draftResumed(1));
    await time.pass(20);
    bus.emit(draftResumed(2));
    bus.emit(draftResumed(3));
    await time.pass(300);
    expect(store.batches.map(calls)).toEqual([[1], [2, 3]]);
  });
});

describe("a write that fails", () => {
  test("is tried again, later every time, and order is kept", async () => {
    const { bus, store, time, problems } = openTestBus({ retryMs: 50, flushMs: 0 });
    store.failures = 3;
    bus.emit(draftResumed(1));
    await time.pass(0);
    bus.emit(draftResumed(2));
    await time.pass(349);
    expect(store.batches).toEqual([]);
    await time.pass(1);
    expect(calls(store.batches.flat())).toEqual([1, 2]);
    const retried = { kind: "write-retried", eventCount: 1, error: new Error("disk full") };
    expect(problems).toEqual([
      { ...retried, attempt: 1, delayMs: 50 },
      { ...retried, attempt: 2, delayMs: 100 },
      { ...retried, attempt: 3, delayMs: 200 },
    ]);
  });

  test("is given up in the end and reported with its events; the next batch has its own chance", async () => {
    const { bus, store, time, problems } = openTestBus({ attemptsMax: 3, batchMax: 2, flushMs: 0 });
    store.failures = 3;
    const events = [1, 2, 3].map((count) => bus.emit(draftResumed(count)));
    await time.pass(10_000);
    expect(problems.at(-1)).toEqual({
      kind: "write-failed",
      eventCount: 2,
      events: events.slice(0, 2),
      error: new Error("disk full"),
    });
    expect(calls(store.batches.flat())).toEqual([3]);
  });

  test("also where the store throws synchronously", async () => {
    const { bus, store, time, problems } = openTestBus({ attemptsMax: 1 });
    store.appendEvents = () => {
      throw new Error("no such table");
    };
    bus.emit(draftResumed(1));
    await time.pass(20);
    expect(problems).toMatchObject([{ kind: "write-failed", eventCount: 1 }]);
  });

  test("never waits longer than five seconds for its next attempt", async () => {
    const { bus, store, time, problems } = openTestBus({ attemptsMax: 10, retryMs: 1000 });
    store.failures = 9;
    bus.emit(draftResumed(1));
    await time.pass(60_000);
    expect(problems.map((problem) => "delayMs" in problem && problem.delayMs)).toEqual([
      1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000, 5000,
    ]);
    expect(sizes(store.batches)).toEqual([1]);
  });
});

describe("flush", () => {
  test("resolves when everything emitted before is stored, without waiting for company", async () => {
    const { bus, store, time } = openTestBus({ batchMax: 2, flushMs: 1_000_000 });
    for (let count = 1; count <= 5; count++) bus.emit(draftResumed(count));
    let isDone = false;
    const flushed = bus.flush().then(() => {
      isDone = true;
    });
    expect(isDone).toBe(false);
    await time.pass(0);
    await flushed;
    expect(sizes(store.batches)).toEqual([2, 2, 1]);
    await bus.flush();
  });

  test("does not wait for what is emitted later", async () => {
    const { bus, store, time } = openTestBus({ batchMax: 1 });
    bus.emit(draftResumed(1));
    const flushed = bus.flush();
    bus.emit(draftResumed(2));
    store.appendEvents = (events) => {
      store.batches.push(events);
      store.appendEvents = () => new Promise(() => {});
      return Promise.resolve();
    };
    await time.pass(0);
    await flushed;
    expect(calls(store.batches.flat())).toEqual([1]);
  });

  test("rejects when events were given up, once to everybody who waited or asks first", async () => {
    const { bus, store, time } = openTestBus({ attemptsMax: 2, retryMs: 10 });
    store.failures = 2;
    bus.emit(draftResumed(1));
    bus.emit(draftResumed(2));
    const waited = Promise.allSettled([bus.flush(), bus.flush()]);
    await time.pass(100);
    const reasons = (await waited).map((each) => each.status === "rejected" && String(each.reason));
    expect(reasons).toEqual([
      "StrataError: 2 events could not be stored",
      "StrataError: 2 events could not be stored",
    ]);
    bus.emit(draftResumed(3));
    await Promise.all([time.pass(20), bus.flush()]);

    store.failures = 2;
    bus.emit(draftResumed(4));
    await time.pass(100);
    await expect(bus.flush()).rejects.toThrow("1 event could not be stored");
    await bus.flush();
  });

  test("has nothing to do without events or without a store", async () => {
    const { bus, store } = openTestBus();
    await bus.flush();
    await bus.close();
    expect(store.batches).toEqual([]);
    const storeless = createEventBus({ onProblem: () => {} });
    storeless.emit(draftResumed(1));
    await expect(storeless.flush()).resolves.toBe(undefined);
  });

  test("makes close reject too, and the bus is still closed", async () => {
    const { bus, store, time } = openTestBus({ attemptsMax: 1 });
    store.failures = 1;
    bus.emit(draftResumed(1));
    const closed = bus.close();
    await Promise.all([
      time.pass(0),
      expect(closed).rejects.toThrow("1 event could not be stored"),
    ]);
    expect(() => bus.emit(draftResumed(2))).toThrow("the event bus is closed");
  });
});
