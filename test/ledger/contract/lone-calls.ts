// Calls without a turn: they cost the session they belong to, and leave with it.
import { expect, test } from "vitest";
import { askLedger } from "../../../src/analytics/ask-ledger.ts";
import { sessions } from "../../../src/analytics/sessions.ts";
import { builtInCatalogue } from "../../../src/core/models/catalogue.ts";
import { createLedger } from "../../../src/edge/stores/ledger/create-ledger.ts";
import type { TestStore } from "../stores.ts";
import { noUsage } from "../../../src/core/message/usage.ts";
import {
  all,
  call,
  each,
  lines,
  loneCall,
  open as openTurn,
  openSession,
  refusal,
  run,
  startMs,
} from "../test-kit.ts";
import { newEvent } from "./new-event.ts";

export function loneCallsContract({ open, blank, connect }: TestStore): void {
  test("a call without a turn is recorded once, and its session pays for it", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const warm = loneCall("a", "w1", { costPicoUsd: 9_007_199_254_740_993n });
    await ledger.recordCall(warm, { events: [newEvent("a", 1)] });
    await ledger.recordCall(warm, { events: [newEvent("a", 1)] });
    expect(await ledger.readLoneCalls("a")).toEqual([warm]);
    expect(await ledger.findSession("a")).toMatchObject({
      costPicoUsd: 9_007_199_254_741_993n,
      turnCount: 1,
    });
    expect(await ledger.readCalls("t1")).toHaveLength(1);
    expect(await all(ledger.readEvents({ sessionId: "a" }))).toHaveLength(1);
    expect(await all(ledger.check())).toEqual([]);
  });

  test("another call under the same name, and a call of no session, are refused", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await ledger.recordCall(loneCall("a", "w1"));
    expect(await refusal(ledger.recordCall(loneCall("a", "w1", { endMs: 1 })))).toEqual({
      code: "conflict",
      message: "session a already has a different call w1",
      hint: "give every call its own id, and record it once",
    });
    expect(await refusal(ledger.recordCall(loneCall("nobody", "w1")))).toMatchObject({
      code: "not-found",
      message: "there is no session nobody",
    });
    expect(await ledger.findSession("a")).toMatchObject({ costPicoUsd: 500n });
  });

  test("what a call without a turn taught is stored unless a turn runs or the session moved on", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const record = (id: string, json: string, headTurnId: string | null): Promise<void> =>
      ledger.recordCall(loneCall("a", id), { state: { json, headTurnId } });
    await record("w1", '{"at":1}', "t1");
    expect(await ledger.readState("a")).toBe('{"at":1}');
    await record("w2", '{"at":2}', null);
    const turn = await openTurn(ledger, "a", "t2");
    await record("w3", '{"at":3}', "t1");
    expect(await ledger.readState("a")).toBe('{"at":1}');
    await turn.release();
    expect(await ledger.findSession("a")).toMatchObject({ costPicoUsd: 2500n });
  });

  test("sums are by kind and time, over all sessions", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await openSession(ledger, "b");
    await ledger.recordCall(loneCall("a", "w1", { startMs: startMs - 1 }));
    await ledger.recordCall(loneCall("a", "w2"));
    await ledger.recordCall(loneCall("b", "w2", { costPicoUsd: null }));
    await ledger.recordCall(loneCall("b", "w3", { costPicoUsd: 7n }));
    expect(await ledger.sumLoneCalls("warm", startMs)).toBe(507n);
    expect(await ledger.sumLoneCalls("warm", startMs - 1)).toBe(1007n);
    expect(await ledger.sumLoneCalls("warm", startMs + 9000)).toBe(0n);
  });

  test("billed calls of unknown price are counted by session and turn", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { costPicoUsd: null, usage: noUsage }));
    await turn.append(call("t1", 2, { costPicoUsd: null, usage: null }));
    await turn.release();
    await ledger.recordCall(loneCall("a", "w1", { costPicoUsd: null }));
    expect(await ledger.readUnpriced(["a", "nowhere"])).toEqual(
      expect.arrayContaining([
        { sessionId: "a", turnId: "t1", calls: 1 },
        { sessionId: "a", turnId: null, calls: 1 },
      ]),
    );
    expect(await ledger.readUnpriced([])).toEqual([]);
    expect((await ledger.stats()).unpricedCallCount).toBe(2);
  });

  test("analytics count its cost, but neither a call nor a turn", async () => {
    const { ledger, database } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await ledger.recordCall(loneCall("a", "w1", { costPicoUsd: 2_000_000_000n }));
    const world = { nowMs: startMs + 1000, catalogue: builtInCatalogue };
    const { data } = await askLedger(database, sessions, {}, world);
    expect(data).toMatchObject([
      { session: "a", turn_count: 1, call_count: 1, cost_usd: "0.002000" },
    ]);
  });

  test("it moves to another ledger with its session, and is deleted with it", async () => {
    const { ledger, database } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await ledger.forkSession({ id: "fork", from: { turnId: "t1" } });
    await ledger.recordCall(loneCall("a", "w1"));
    const written = await lines(ledger, "a");
    const other = await createLedger(await connect(await blank()));
    await other.importSession(each(written), { isTrusted: true, as: "moved" });
    expect(await other.readLoneCalls("moved")).toEqual([loneCall("moved", "w1")]);
    expect(await all(other.check())).toEqual([]);
    await other.close();
    await ledger.deleteSession("a");
    expect(await database.query("SELECT turn_id, session_id FROM calls")).toEqual([
      { turn_id: "t1", session_id: "" },
    ]);
    expect(await all(ledger.check())).toEqual([]);
  });

  test("a check finds one without its session or of a kind that does not fit, a repair removes its absurd counts", async () => {
    const { ledger, database, expectDamage } = await open();
    await openSession(ledger, "a");
    await ledger.recordCall(loneCall("a", "w1"));
    await ledger.recordCall(loneCall("a", "w2"));
    await database.query("UPDATE calls SET read_tokens = 2000000000 WHERE id = 'w1'");
    expect(await all(ledger.check())).toEqual([
      "call w1 of session a has counts that cannot be true",
    ]);
    const [change] = await all(ledger.repair());
    expect(change).toMatch(/^call w1 of session a: the recorded usage cannot be true/);
    expect(await all(ledger.check())).toEqual([]);
    expect(await ledger.findSession("a")).toMatchObject({ costPicoUsd: 500n });
    expectDamage();
    await database.query("UPDATE calls SET kind = 'turn', session_id = 'gone' WHERE id = 'w2'");
    expect(await all(ledger.check())).toContain(
      "call w2 belongs to session gone, which does not exist",
    );
    expect(await all(ledger.check())).toContain(
      "call w2 of session gone is of kind turn, which does not fit",
    );
  });
}
