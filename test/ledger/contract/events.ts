// Events: the trace beside the turns. Read in the order of their ids, swept except for what audits need.
import { expect, test } from "vitest";
import { checkTrace } from "../../../harness/check-trace.ts";
import type { StrataEvent } from "../../../src/core/events/event.ts";
import type { OpenLedger } from "../stores.ts";
import {
  all,
  call,
  newTurn,
  open as openTurn,
  openSession,
  refusal,
  startMs,
} from "../test-kit.ts";
import { eventId, newAuditEvent, newEvent } from "./new-event.ts";

export function eventsContract(open: OpenLedger): void {
  test("events come back as they were, in the order of their ids (D-07)", async () => {
    const { ledger, reopen } = await open();
    const first: StrataEvent = {
      id: eventId(1),
      timestampUs: startMs * 1000 + 123_456,
      sessionId: "a",
      turnId: "t1",
      parentEventId: null,
      type: "llm.call_completed",
      actor: "agent",
      sensitivity: "aggregatable",
      payload: {
        model: "claude\u0000\ud800",
        provider: "anthropic",
        input_tokens: 10,
        output_tokens: 20,
        cached_input_tokens: 5,
        cache_creation_input_tokens: 0,
        cost_usd: "0.000000000001",
        pricing_version: null,
        latency_ms: 12.5,
        stop_reason: "end_turn",
        produced_tool_calls: 0,
        produced_thinking_blocks: 0,
      },
    };
    const second = newEvent("a", 2, { parentEventId: eventId(1), turnId: "t1" });
    await ledger.appendEvents([second, first]);
    const read = await all((await reopen()).readEvents({}));
    expect(read).toEqual([first, second]);
    expect(JSON.stringify(read[0])).toBe(JSON.stringify(first));
    expect(checkTrace(read)).toEqual([]);
  });

  test("events are read by session, by type, and after an id", async () => {
    const { ledger } = await open();
    await ledger.appendEvents([
      newEvent("a", 1),
      newAuditEvent("a", 2),
      newEvent("b", 3),
      newEvent("a", 4),
    ]);
    const ids = async (query: Parameters<typeof ledger.readEvents>[0]): Promise<number[]> =>
      (await all(ledger.readEvents(query))).map(({ id }) => Number(id.slice(10)));
    expect(await ids({})).toEqual([1, 2, 3, 4]);
    expect(await ids({ sessionId: "a" })).toEqual([1, 2, 4]);
    expect(await ids({ types: ["session.forked"] })).toEqual([2]);
    expect(await ids({ types: ["session.forked", "session.resumed"], sessionId: "b" })).toEqual([
      3,
    ]);
    expect(await ids({ types: [] })).toEqual([]);
    expect(await ids({ afterId: eventId(2) })).toEqual([3, 4]);
    expect(await ids({ sessionId: "nobody" })).toEqual([]);
  });

  test("1,200 events are read over several pages, none twice and none left out", async () => {
    const { ledger } = await open();
    const events = Array.from({ length: 1200 }, (_, n) => newEvent(n % 5 === 0 ? "b" : "a", n + 1));
    await ledger.appendEvents(events.slice(0, 700));
    await ledger.appendEvents(events.slice(700));
    const read = await all(ledger.readEvents({}));
    expect(read.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect(await all(ledger.readEvents({ sessionId: "a" }))).toHaveLength(960);
  });

  test("a batch is kept whole or not at all", async () => {
    const { ledger } = await open();
    await ledger.appendEvents([newEvent("a", 5)]);
    const batch = [newEvent("a", 4), newAuditEvent("a", 5), newEvent("a", 6)];
    expect(await refusal(ledger.appendEvents(batch))).toMatchObject({ code: "conflict" });
    expect((await all(ledger.readEvents({}))).map(({ id }) => id)).toEqual([eventId(5)]);
  });

  test("a batch that was not heard of may be sent again, and an empty one does nothing", async () => {
    const { ledger } = await open();
    const batch = [newEvent("a", 1), newEvent("a", 2)];
    await ledger.appendEvents(batch);
    await ledger.appendEvents(batch);
    await ledger.appendEvents([]);
    expect(await all(ledger.readEvents({}))).toEqual(batch);
  });

  test("another event under the same id is refused, also at the end of a batch", async () => {
    const { ledger } = await open();
    await ledger.appendEvents([newEvent("a", 2)]);
    const changed = { ...newEvent("a", 2), timestampUs: 1 };
    expect(await refusal(ledger.appendEvents([newEvent("a", 1), changed]))).toMatchObject({
      code: "conflict",
    });
    expect(await all(ledger.readEvents({}))).toEqual([newEvent("a", 2)]);
  });

  test("events come with a call or with the closing of a turn in one write", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await ledger.appendEvents([newEvent("a", 1)]);
    const turn = await openTurn(ledger, "a", "t1");
    const taken = newAuditEvent("a", 1);
    expect(await refusal(turn.append(call("t1", 1), { events: [taken] }))).toMatchObject({
      code: "conflict",
    });
    expect(await ledger.readCalls("t1")).toEqual([]);
    expect((await ledger.findSession("a"))?.costPicoUsd).toBe(0n);
    await turn.append(call("t1", 1), { events: [newEvent("a", 2)] });
    const end = { status: "completed", endMs: startMs } as const;
    expect(await refusal(turn.close(end, [taken]))).toMatchObject({ code: "conflict" });
    expect(await ledger.findSession("a")).toMatchObject({ headTurnId: null, openTurnId: "t1" });
    await turn.close(end, [newEvent("a", 3)]);
    expect(await all(ledger.readEvents({}))).toHaveLength(3);
    await ledger.openTurn(newTurn("a", "t2", "t1"));
  });

  test("a sweep removes what is older, spares what audits need, and says how many", async () => {
    const { ledger } = await open();
    await ledger.appendEvents([
      { ...newEvent("a", 1), timestampUs: 1_000_000 },
      { ...newAuditEvent("a", 2), timestampUs: 1_000_000 },
      { ...newEvent("a", 3), timestampUs: 2_000_000 },
      { ...newEvent("a", 4), timestampUs: 3_000_000 },
    ]);
    expect(await ledger.sweepEvents(2000)).toBe(1);
    expect(await ledger.sweepEvents(2000)).toBe(0);
    expect((await all(ledger.readEvents({}))).map(({ id }) => id)).toEqual([2, 3, 4].map(eventId));
    expect(await ledger.sweepEvents(10_000)).toBe(2);
    expect((await all(ledger.readEvents({}))).map(({ type }) => type)).toEqual(["session.forked"]);
  });

  test("a batch that overlaps with what is kept is refused whole, not kept in part", async () => {
    const { ledger } = await open();
    await ledger.appendEvents([newEvent("a", 2)]);
    const batch = [newEvent("a", 1), newEvent("a", 2)];
    expect(await refusal(ledger.appendEvents(batch))).toMatchObject({ code: "conflict" });
    expect(await all(ledger.readEvents({}))).toEqual([newEvent("a", 2)]);
  });

  test("an event of a later program is named, and does not stand in the way of others", async () => {
    const { ledger, database } = await open();
    await ledger.appendEvents([newEvent("a", 1), newEvent("a", 2), newAuditEvent("a", 3)]);
    await database.commit({
      guards: [],
      writes: [
        { sql: "UPDATE events SET type = 'future.thing' WHERE id = ?", values: [eventId(1)] },
      ],
    });
    expect(await refusal(all(ledger.readEvents({})))).toEqual({
      code: "store-unavailable",
      message: `event ${eventId(1)} is of type future.thing, which this program does not know`,
      hint: "use a later version of strata, or ask for the types you need",
    });
    const types = ["session.resumed", "session.forked"];
    expect(await all(ledger.readEvents({ types }))).toHaveLength(2);
  });
}
