// Messages that wait for a session: kept in order, taken by one turn in the commit that opens it, dropped with a reason.
import { expect, test } from "vitest";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { QueueMode } from "../../../src/core/config/schema/queue.ts";
import { SessionBusy } from "../../../src/core/ledger/queue-record.ts";
import type { OpenLedger } from "../stores.ts";
import {
  all,
  answers,
  asks,
  assistant,
  call,
  counted,
  newTurn,
  open as openTurn,
  openSession,
  refusal,
  startMs,
  user,
} from "../test-kit.ts";

function add(ledger: Ledger, id: string, mode: QueueMode = "follow-up", sessionId = "a") {
  const eventJson = JSON.stringify({ content: `words of ${id}`, source: "human" });
  return ledger.enqueue({ id, sessionId, mode, eventJson, model: null, queuedMs: startMs });
}

async function waiting(ledger: Ledger, sessionId = "a"): Promise<readonly string[]> {
  return (await ledger.readQueue(sessionId)).map(({ id, status }) => `${id} ${status}`);
}

const queued = (...takes: readonly string[]) => ({ takes });

export function queueContract(open: OpenLedger): void {
  test("messages wait in the order they came, also before their session is recorded", async () => {
    const { ledger, reopen } = await open();
    await add(ledger, "q1");
    await openSession(ledger, "a");
    expect(await add(await reopen(), "q2", "steer")).toMatchObject({
      id: "q2",
      seq: 2,
      mode: "steer",
      status: "waiting",
      turnId: null,
      eventJson: '{"content":"words of q2","source":"human"}',
    });
    await add(ledger, "other", "collect", "b");
    expect(await waiting(ledger)).toEqual(["q1 waiting", "q2 waiting"]);
    // The same again is stored once; another one under the same name is refused.
    expect(await add(ledger, "q1")).toMatchObject({ id: "q1", seq: 1 });
    const other = refusal(add(ledger, "q1", "steer", "b"));
    expect((await other).message).toBe("item q1 is already in a queue");
  });

  test("of many that queue at the same time none is lost, and no two have one place", async () => {
    const { ledger, reopen } = await open();
    const nodes = [ledger, await reopen(), await reopen()];
    const ids = Array.from({ length: 18 }, (_, n) => `q${n}`);
    await Promise.all(ids.map((id, n) => add(nodes[n % 3] ?? ledger, id)));
    const items = await ledger.readQueue("a");
    expect(items.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(items.map(({ seq }) => seq)).toEqual(ids.map((_, n) => n + 1));
  });

  test("a turn takes its messages in the commit that opens it, and no other turn gets them", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    for (const id of ["q1", "q2", "q3"]) await add(ledger, id);
    const turn = await ledger.openTurn(newTurn("a", "q1", null, queued("q1", "q2")));
    expect(await waiting(await reopen())).toEqual(["q3 waiting"]);
    expect(await ledger.findQueued("q2")).toMatchObject({ status: "taken", turnId: "q1" });
    await turn.append(call("q1", 1));
    await turn.close({ status: "completed", endMs: startMs });
    const again = ledger.openTurn(newTurn("a", "t2", "q1", queued("q2", "q3")));
    await expect(again).rejects.toBeInstanceOf(SessionBusy);
    expect(await waiting(ledger)).toEqual(["q3 waiting"]);
    expect(await ledger.findSession("a")).toMatchObject({ openTurnId: null });
  });

  test("of many that would take one message one gets it", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    await add(ledger, "q1");
    const nodes = [ledger, await reopen(), await reopen()];
    const tries = nodes.map((node) => node.openTurn(newTurn("a", "q1", null, queued("q1"))));
    const won = (await Promise.allSettled(tries)).filter(({ status }) => status === "fulfilled");
    expect(won).toHaveLength(1);
    expect((await ledger.stats()).rows).toMatchObject({ turns: 1, queue_items: 1 });
  });

  test("a new message does not pass those that wait; a turn without a queue does not look at it", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await add(ledger, "q1");
    const passing = ledger.openTurn(newTurn("a", "t1", null, queued()));
    await expect(passing).rejects.toBeInstanceOf(SessionBusy);
    expect((await refusal(passing)).message).toBe("1 messages wait in the queue of session a");
    await openTurn(ledger, "a", "t1");
    expect(await waiting(ledger)).toEqual(["q1 waiting"]);
  });

  test("steered words are taken with the commit that records them", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1"), stopReason: "tool_use" }));
    await add(ledger, "q1", "steer");
    const sent = [answers("u1", "done"), user("words of q1")];
    await turn.answer(
      sent.map((message) => counted(message)),
      ["q1"],
    );
    expect(await (await reopen()).findQueued("q1")).toMatchObject({
      status: "taken",
      turnId: "t1",
    });
    await turn.append(call("t1", 2, { sent, reply: assistant("ok") }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await all(ledger.check())).toEqual([]);
  });

  test("what is dropped says why; what a turn has is not dropped any more", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    for (const id of ["q1", "q2", "q3"]) await add(ledger, id);
    await ledger.openTurn(newTurn("a", "q1", null, queued("q1")));
    const reason = "the queue has room for 1";
    expect(await ledger.dropQueued(["q1", "q2"], { status: "dropped", reason })).toEqual(["q2"]);
    expect(await ledger.dropQueued(["q3"], { status: "summarized", reason })).toEqual(["q3"]);
    expect(await ledger.findQueued("q2")).toMatchObject({ status: "dropped", reason });
    expect(await waiting(ledger)).toEqual(["q3 summarized"]);
  });

  test("a deleted session leaves no message behind", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await add(ledger, "q1");
    await ledger.deleteSession("a");
    expect(await ledger.findQueued("q1")).toBeNull();
  });
}
