// What the bus promises emitters. Handlers, ids and the durable side have their own tests.
import { describe, expect, test } from "vitest";
import { checkTrace } from "../../../harness/check-trace.ts";
import type { EventDraft, StrataEvent } from "../../core/events/event.ts";
import { createEventBus } from "./event-bus.ts";
import { draftResumed, openTestBus } from "./test-kit.ts";

const callsOf = (event: StrataEvent): unknown =>
  event.type === "turn.resumed" ? event.payload.llm_call_count : event.type;

describe("an emitted event", () => {
  test("is completed with id, time and the catalogue's defaults, and returned", () => {
    const { bus } = openTestBus({ nowUs: () => 1_763_000_000_000_123 });
    const event = bus.emit({ ...draftResumed(2), parentEventId: "01BX5ZZKBKACTAV9WEVGEMMVRZ" });
    expect(event).toEqual({
      id: event.id,
      timestampUs: 1_763_000_000_000_123,
      sessionId: "session-1",
      turnId: "turn-1",
      parentEventId: "01BX5ZZKBKACTAV9WEVGEMMVRZ",
      type: "turn.resumed",
      actor: "system",
      sensitivity: "aggregatable",
      payload: { llm_call_count: 2, tool_call_count: 0 },
    });
    expect(event.id).toMatch(/^01K9X/);
  });

  test("reaches subscribers before emit returns, in the order they subscribed", () => {
    const { bus } = openTestBus();
    const seen: string[] = [];
    bus.subscribe((event) => seen.push(`first ${String(callsOf(event))}`));
    bus.subscribe((event) => seen.push(`second ${String(callsOf(event))}`));
    bus.emit(draftResumed(1));
    bus.emit(draftResumed(2));
    expect(seen).toEqual(["first 1", "second 1", "first 2", "second 2"]);
  });

  test("cannot be changed by a handler or through the draft", () => {
    const { bus, problems } = openTestBus();
    const payload = { tool_name: "Read", validation_errors: ["path is missing"] };
    bus.subscribe((event) => {
      Object.assign(event.payload, { tool_name: "other" });
    });
    const event = bus.emit({ sessionId: "s", type: "tool.input_invalid", payload });
    payload.validation_errors.push("more");
    expect(event.payload).toEqual({
      tool_name: "Read",
      validation_errors: ["path is missing"],
    });
    expect(problems.map(({ kind }) => kind)).toEqual(["handler-failed"]);
  });

  test("holds no credential in its free text", () => {
    const { bus } = openTestBus();
    const event = bus.emit({
      sessionId: "s",
      type: "llm.call_failed",
      payload: {
        model: "m",
        provider: "p",
        error_class: "auth",
        error_message_redacted: "Incorrect API key provided: sk-proj-0123456789abcdef",
        retry_count: 0,
        latency_ms: 12.5,
      },
    });
    expect(event.payload.error_message_redacted).toBe("Incorrect API key provided: [redacted]");
  });
});

describe("subscriptions", () => {
  test("filter by type and by session", () => {
    const { bus } = openTestBus();
    const seen: unknown[] = [];
    bus.subscribe((event) => seen.push(["typed", callsOf(event)]), { types: ["session.forked"] });
    bus.subscribe((event) => seen.push(["of b", callsOf(event)]), { sessionId: "b" });
    bus.emit(draftResumed(1, "a"));
    bus.emit(draftResumed(2, "b"));
    bus.emit({
      sessionId: "a",
      type: "session.forked",
      payload: { from_session_id: "b", from_turn_id: null },
    });
    expect(seen).toEqual([
      ["of b", 2],
      ["typed", "session.forked"],
    ]);
  });

  test("may end and begin while an event is delivered", () => {
    const { bus } = openTestBus();
    const seen: string[] = [];
    const endFirst = bus.subscribe(() => {
      seen.push("first");
      endFirst();
      endLast();
      bus.subscribe(() => seen.push("newcomer"));
    });
    const endLast = bus.subscribe(() => seen.push("last"));
    bus.emit(draftResumed(1));
    expect(seen).toEqual(["first"]);
    bus.emit(draftResumed(2));
    expect(seen).toEqual(["first", "newcomer"]);
  });

  test("what a handler emits comes after the event it is about, for everybody", async () => {
    const { bus, store, time } = openTestBus();
    const seen: unknown[] = [];
    bus.subscribe((event) => {
      if (callsOf(event) === 1) {
        bus.emit({ ...draftResumed(2), parentEventId: event.id });
        bus.emit({ ...draftResumed(3), parentEventId: event.id });
      }
      if (callsOf(event) === 2) bus.emit({ ...draftResumed(4), parentEventId: event.id });
      seen.push(["emits", callsOf(event)]);
    });
    bus.subscribe((event) => seen.push(["reads", callsOf(event)]));
    bus.emit(draftResumed(1));
    expect(seen).toEqual(
      [1, 2, 3, 4].flatMap((calls) => [
        ["emits", calls],
        ["reads", calls],
      ]),
    );
    await time.pass(20);
    const stored = store.batches.flat();
    expect(stored.map(callsOf)).toEqual([1, 2, 3, 4]);
    expect(checkTrace(stored)).toEqual([]);
  });

  test("a handler that answers every event with another is stopped, also without a store", () => {
    const problems: string[] = [];
    const bus = createEventBus({ queueMax: 50, onProblem: ({ kind }) => problems.push(kind) });
    let count = 0;
    bus.subscribe(() => {
      count += 1;
      bus.emit(draftResumed(count));
    });
    bus.emit(draftResumed(0));
    expect(count).toBe(50);
    expect(problems).toEqual(["queue-full", "handler-failed"]);
    expect(bus.emit({ ...draftResumed(1) }).type).toBe("turn.resumed");
  });
});

describe("an event that violates the catalogue", () => {
  const broken = {
    sessionId: "s",
    type: "turn.resumed",
    payload: { llm_call_count: -1, node: "b" },
  };

  test("is refused by a strict bus, and reaches no subscriber", async () => {
    const { bus, problems, store, time } = openTestBus({ strictness: "strict" });
    let count = 0;
    bus.subscribe(() => {
      count += 1;
    });
    expect(() => bus.emit(broken as unknown as EventDraft)).toThrow(
      "the event does not match the catalogue: payload.llm_call_count must be a whole number from 0 (and 2 more)",
    );
    await time.pass(20);
    expect([count, store.batches.length]).toEqual([0, 0]);
    expect(problems).toMatchObject([{ kind: "event-invalid", isRefused: true }]);
  });

  test("is delivered by a lenient bus with what can be kept, and reported", async () => {
    const { bus, problems, store, time } = openTestBus({ strictness: "lenient" });
    const payload = { ...broken.payload, secret: "Bearer abcdef123456", big: 10n, loop: {} };
    const event = bus.emit({ ...broken, payload } as unknown as EventDraft);
    expect(event.payload).toEqual({
      llm_call_count: -1,
      node: "b",
      secret: "Bearer [redacted]",
    });
    await time.pass(20);
    expect(store.batches).toEqual([[event]]);
    expect(problems).toMatchObject([
      {
        kind: "event-invalid",
        isRefused: false,
        violations: [
          { path: "payload.llm_call_count", rule: "value-invalid" },
          { path: "payload.tool_call_count", rule: "field-missing" },
          { path: "payload.node", rule: "field-unknown" },
          { path: "payload.secret", rule: "field-unknown" },
          { path: "payload.big", rule: "field-unknown" },
          { path: "payload.loop", rule: "field-unknown" },
        ],
      },
    ]);
  });

  test("is refused by both where its type is unknown: the catalogue is closed", () => {
    const { bus, problems } = openTestBus({ strictness: "lenient" });
    const draft = { ...draftResumed(1), type: "turn.complete" } as unknown as EventDraft;
    expect(() => bus.emit(draft)).toThrow(
      "turn.complete is not an event type; did you mean turn.completed?",
    );
    expect(problems).toMatchObject([{ kind: "event-invalid", type: "turn.complete" }]);
  });

  test("loses a parent that is no id, on a lenient bus", () => {
    const { bus } = openTestBus({ strictness: "lenient" });
    expect(bus.emit({ ...draftResumed(1), parentEventId: "turn-1" }).parentEventId).toBe(null);
  });
});

test("an event stored elsewhere is prepared, then delivered, and not stored again", async () => {
  const { bus, store, time } = openTestBus();
  const seen: unknown[] = [];
  bus.subscribe((event) => seen.push(callsOf(event)));
  const event = bus.prepare(draftResumed(1));
  expect(seen).toEqual([]);
  bus.deliver(event);
  await time.pass(20);
  expect(seen).toEqual([1]);
  expect(store.batches).toEqual([]);
});

test("ten thousand events fit without a store to take them, and the next is refused", async () => {
  const { bus, store, time, problems } = openTestBus();
  for (let calls = 0; calls < 10_000; calls++) bus.emit(draftResumed(calls));
  const refused = (): void => void bus.emit(draftResumed(0));
  expect(refused).toThrow("the event was refused: 10000 others wait");
  expect(refused).toThrow("the event was refused");
  expect(refused).toThrow("the event was refused");
  await time.pass(20);
  bus.emit(draftResumed(10_000));
  await time.pass(20);
  expect(problems).toEqual([
    { kind: "queue-full", refusedCount: 1, queueMax: 10_000 },
    { kind: "queue-full", refusedCount: 2, queueMax: 10_000 },
    { kind: "queue-recovered", refusedCount: 3 },
  ]);
  expect(store.batches.flat().map(callsOf)).toEqual(Array.from({ length: 10_001 }, (_, n) => n));
});

test("a closed bus has stored everything, given slow handlers the rest, and refuses more", async () => {
  let elapsed = 0;
  const { bus, store, time } = openTestBus({ elapsedMs: () => elapsed });
  const slow: unknown[] = [];
  bus.subscribe((event) => {
    elapsed += 5;
    slow.push(callsOf(event));
  });
  for (let calls = 1; calls <= 5; calls++) bus.emit(draftResumed(calls));
  const closed = bus.close();
  expect(slow).toEqual([1, 2, 3, 4, 5]);
  expect(() => bus.emit(draftResumed(6))).toThrow("the event bus is closed");
  expect(() => bus.prepare(draftResumed(6))).toThrow("the event bus is closed");
  await Promise.all([time.pass(0), closed, bus.close()]);
  expect(store.batches.flat().map(callsOf)).toEqual([1, 2, 3, 4, 5]);
});

test("works with the machine's clock, timers and randomness", async () => {
  const stored: StrataEvent[] = [];
  const bus = createEventBus({
    onProblem: () => {},
    flushMs: 1,
    store: {
      appendEvents: (events) => {
        stored.push(...events);
        return Promise.resolve();
      },
    },
  });
  for (let calls = 0; calls < 1000; calls++) bus.emit(draftResumed(calls));
  await bus.flush();
  expect(stored).toHaveLength(1000);
  expect(checkTrace(stored)).toEqual([]);
  await bus.close();
});
