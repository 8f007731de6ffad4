// What the ledger itself did is in the trace, written with the deed: who forked, archived, deleted, gave up.
import { expect, test } from "vitest";
import type { StrataEvent } from "../../../src/core/events/event.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import { leaseMs, type OpenLedger } from "../stores.ts";
import {
  all,
  call,
  open as openTurn,
  openSession,
  refusal,
  run,
  startMs,
  openWith,
} from "../test-kit.ts";
import { eventId, newEvent } from "./new-event.ts";

export function auditContract(open: OpenLedger): void {
  test("a fork says where it comes from", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await ledger.forkSession({ id: "b", from: { turnId: "t1" }, like: "a" });
    expect(await eventsOf(ledger, "b")).toMatchObject([
      {
        type: "session.forked",
        actor: "user",
        payload: { from_session_id: "a", from_turn_id: "t1" },
      },
    ]);
    await refusal(ledger.forkSession({ id: "b", from: { turnId: "t2" } }));
    expect(await eventsOf(ledger, "b")).toHaveLength(1);
  });

  test("archiving is reported once, with what the session was by then", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await ledger.setStatus("a", "archived");
    await ledger.setStatus("a", "archived");
    expect(await eventsOf(ledger, "a")).toMatchObject([
      {
        type: "session.archived",
        payload: { reason: "user_request", turn_count: 1, total_cost_usd: "0.000000001" },
      },
    ]);
    await ledger.setStatus("a", "active");
    await ledger.setStatus("a", "archived");
    expect(await eventsOf(ledger, "a")).toHaveLength(2);
  });

  test("a deletion is reported without the name of what was deleted", async () => {
    const { ledger } = await open();
    await openSession(ledger, "ada lovelace");
    await run(ledger, "ada lovelace", "t1");
    await ledger.appendEvents([newEvent("ada lovelace", 1)]);
    await ledger.deleteSession("ada lovelace");
    const events = await all(ledger.readEvents({}));
    expect(events).toMatchObject([
      { type: "session.deleted", payload: { turn_count: 1, event_count: 1 } },
    ]);
    expect(JSON.stringify(events)).not.toContain("lovelace");
    expect(await ledger.sweepEvents(startMs * 100)).toBe(0);
  });

  test("a turn that was found interrupted is reported once, and so is giving it up", async () => {
    const { ledger, reopen, advance } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1), { events: [newEvent("a", 1)] });
    advance(leaseMs + 1);
    const other = await reopen();
    await other.findUnfinished("a");
    await other.findUnfinished("a");
    const told = await eventsOf(ledger, "a");
    expect(told.map(({ type }) => type)).toEqual(["session.resumed", "turn.interrupted"]);
    expect(told[1]).toMatchObject({
      turnId: "t1",
      payload: { llm_call_count: 1, total_cost_usd: "0.000000001" },
    });
    await other.abandonTurn("a");
    expect((await eventsOf(ledger, "a")).slice(2).map(({ turnId }) => turnId)).toEqual(["t1"]);
  });

  test("the ledger's own events come after all earlier events of the session", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const last = `7ZZZZZZZZZ${"0".repeat(16)}`;
    await ledger.appendEvents([newEvent("a", 1), { ...newEvent("a", 2), id: last }]);
    await ledger.setStatus("a", "archived");
    const ids = (await eventsOf(ledger, "a")).map(({ id }) => id);
    expect(ids.slice(0, 2)).toEqual([eventId(1), last]);
    expect(ids).toHaveLength(3);
  });
}

function eventsOf(ledger: Ledger, sessionId: string): Promise<readonly StrataEvent[]> {
  return all(ledger.readEvents({ sessionId }));
}
