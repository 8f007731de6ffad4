// Turns: opened, filled call by call, closed. Only what was completed is history; everything is in the bill.
import { expect, test } from "vitest";
import type { OpenLedger } from "../stores.ts";
import {
  all,
  answers,
  asks,
  assistant,
  call,
  counted,
  fail,
  newTurn,
  open as openTurn,
  openSession,
  refusal,
  run,
  startMs,
  thread,
  wordsOf,
  user,
} from "../test-kit.ts";

export function turnsContract(open: OpenLedger): void {
  test("a turn goes from pending over calls and answers to completed, and then it is history", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    expect(await ledger.findTurn("t1")).toMatchObject({ status: "pending", endMs: null });
    await turn.append(call("t1", 1, { reply: asks("u1"), stopReason: "tool_use" }));
    await turn.answer([counted(answers("u1", "42 lines"))]);
    await turn.append(call("t1", 2, { sent: [answers("u1", "42 lines")] }));
    expect(await thread(ledger, "a")).toEqual([]);
    expect(await ledger.findSession("a")).toMatchObject({ headTurnId: null, openTurnId: "t1" });

    await turn.close({ status: "completed", endMs: startMs + 9, permissionsUsed: ["read"] });
    const other = await reopen();
    expect(await thread(other, "a")).toEqual([
      "question of t1",
      "?u1",
      "!u1 42 lines",
      "answer of t1",
    ]);
    expect(await other.findSession("a")).toMatchObject({ headTurnId: "t1", openTurnId: null });
    expect(await other.findTurn("t1")).toMatchObject({ status: "completed", endMs: startMs + 9 });
  });

  test("what a turn was run with is kept (X-30)", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await ledger.openTurn(
      newTurn("a", "t1", null, {
        role: "manager",
        model: "opus",
        toolset: { name: "review", tools: ["Read", "Grep"], permissionsGranted: ["read", "run"] },
        sourceEventId: "01JCQ3Z6VN0000000000000000",
        workspacePath: "/shop",
      }),
    );
    await turn.append(call("t1", 1));
    await turn.close({ status: "completed", endMs: startMs + 9, permissionsUsed: ["read"] });
    expect(await ledger.findTurn("t1")).toEqual({
      id: "t1",
      parentTurnId: null,
      type: "normal",
      status: "completed",
      endReason: null,
      model: "opus",
      provider: "anthropic",
      switches: [],
      role: "manager",
      toolset: { name: "review", tools: ["Read", "Grep"], permissionsGranted: ["read", "run"] },
      permissionsUsed: ["read"],
      startMs,
      endMs: startMs + 9,
      callCount: 1,
      toolCallCount: 0,
      usage: {
        uncachedTokens: 10,
        cacheReadTokens: 100,
        cacheWriteTokens: { "5m": 7 },
        outputTokens: 20,
        reasoningTokens: 0,
      },
      costPicoUsd: 1000n,
      sourceEventId: "01JCQ3Z6VN0000000000000000",
      workspacePath: "/shop",
    });
    expect(await ledger.findTurn("t2")).toBeNull();
  });

  test("a turn follows the session's head; a writer that goes on from another one learns where it is (X-35)", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    expect(await refusal(ledger.openTurn(newTurn("a", "t2", null)))).toEqual({
      code: "conflict",
      message: "session a has moved on: it points at t1, not at no turn",
      hint: "read the session again and continue from there, or fork it from your turn",
    });
    await run(ledger, "a", "t2");
    expect((await ledger.findTurn("t2"))?.parentTurnId).toBe("t1");
  });

  test("every turn has an id of its own, whatever became of the first one that had it", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await openSession(ledger, "b");
    await run(ledger, "a", "t1");
    await fail(ledger, "a", "t2");
    for (const [session, id] of [
      ["a", "t1"],
      ["a", "t2"],
      ["b", "t1"],
    ] as const) {
      expect(await refusal(openTurn(ledger, session, id))).toMatchObject({ code: "conflict" });
    }
    expect(await ledger.findSession("b")).toMatchObject({ openTurnId: null });
    expect(await thread(ledger, "b")).toEqual([]);
  });

  test("a failed turn is hidden from history, and the pointer stays", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await fail(ledger, "a", "t2");
    await run(ledger, "a", "t3");
    expect(await thread(ledger, "a")).toEqual([
      "question of t1",
      "answer of t1",
      "question of t3",
      "answer of t3",
    ]);
    expect(await ledger.findTurn("t2")).toMatchObject({ status: "failed", endReason: "cut off" });
    expect(await ledger.findTurn("t3")).toMatchObject({ parentTurnId: "t1" });
    expect((await ledger.readMessages("t2")).map(({ message }) => wordsOf(message))).toEqual([
      "question of t2",
      "answer of t2",
    ]);
  });

  test("every call is in the bill, also of a turn that failed, with writes per lifetime", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(
      call("t1", 1, {
        costPicoUsd: 9_007_199_254_740_993n,
        usage: {
          uncachedTokens: 1,
          cacheReadTokens: 2,
          cacheWriteTokens: { "5m": 3, "1h": 4 },
          outputTokens: 5,
          reasoningTokens: 6,
        },
      }),
    );
    await turn.append(
      call("t1", 2, {
        costPicoUsd: 10n,
        usage: {
          uncachedTokens: 10,
          cacheReadTokens: 20,
          cacheWriteTokens: { "1h": 40, "24h": 50 },
          outputTokens: 60,
          reasoningTokens: 70,
        },
      }),
    );
    await turn.append(call("t1", 3, { costPicoUsd: null, usage: null }));
    await turn.close({ status: "failed", endMs: startMs });
    expect(await ledger.findTurn("t1")).toMatchObject({
      callCount: 3,
      costPicoUsd: 9_007_199_254_741_003n,
      usage: {
        uncachedTokens: 11,
        cacheReadTokens: 22,
        cacheWriteTokens: { "5m": 3, "1h": 44, "24h": 50 },
        outputTokens: 65,
        reasoningTokens: 76,
      },
    });
    expect((await ledger.findSession("a"))?.costPicoUsd).toBe(9_007_199_254_741_003n);
    expect((await ledger.stats()).costPicoUsd).toBe(9_007_199_254_741_003n);
  });

  test("a call comes back with all that was expected of it and all it reported", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    const entry = call("t1", 1, {
      plan: {
        ...call("t1", 1).plan,
        markers: [{ block: 2, key: "k", lifetime: "1h", slot: "tail", reason: "pays" }],
        expected: { ...call("t1", 1).plan.expected, costPicoUsd: 12_345_678_901_234_567_890n },
      },
      status: "partial",
      stopReason: null,
      discarded: [{ ...call("t1", 1).usage!, outputTokens: 1 }],
      failure: { kind: "rate-limited", detail: "slow \u0000 \ud800 down", retryAfterMs: 1500 },
      verdict: { kind: "read less", expectedTokens: 100, reportedTokens: 3, promise: null },
      notes: [{ kind: "usage", detail: "no count of writes" }],
    });
    await turn.append(entry);
    const { sent: _sent, reply: _reply, ...record } = entry;
    expect(await (await reopen()).readCalls("t1")).toEqual([record]);
  });

  test("the same call twice is recorded and billed once", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1));
    await turn.append(call("t1", 1));
    await turn.append(call("t1", 2, { reply: assistant("more") }));
    await turn.append(call("t1", 1));
    await turn.append(call("t1", 2, { reply: assistant("more") }));
    await turn.append(call("t1", 3, { reply: assistant("end") }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await ledger.findTurn("t1")).toMatchObject({ callCount: 3, costPicoUsd: 3000n });
    expect(await thread(ledger, "a")).toEqual(["question of t1", "answer of t1", "more", "end"]);
  });

  test("another call under the same number is a conflict, and nothing changes", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1));
    for (const other of [
      call("t1", 1, { reply: assistant("another answer") }),
      call("t1", 1, { costPicoUsd: 1n }),
      call("t1", 1, { endMs: 1 }),
    ]) {
      const stateJson = '{"changed":true}';
      expect(await refusal(turn.append(other, { stateJson }))).toMatchObject({ code: "conflict" });
    }
    expect((await ledger.findSession("a"))?.costPicoUsd).toBe(1000n);
    expect(await ledger.readState("a")).toBeNull();
    await turn.append(call("t1", 2, { reply: assistant("more") }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["question of t1", "answer of t1", "more"]);
  });

  test("calls come in order, each to its own turn", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    expect(await refusal(turn.append(call("t1", 2)))).toEqual({
      code: "input-invalid",
      message: "call 2 of turn t1 cannot follow call 0 of turn t1",
      hint: "record calls in order, each in its own turn",
    });
    expect((await refusal(turn.append(call("t2", 1)))).code).toBe("input-invalid");
    expect((await refusal(turn.append(call("t1", 0)))).code).not.toBe("nothing");
    expect(await ledger.readCalls("t1")).toEqual([]);
  });

  test("what is staged is recorded before it is sent, and not again with the call", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    const staged = await ledger.readMessages("t1");
    expect(staged.map(({ message, callNumber }) => [wordsOf(message), callNumber])).toEqual([
      ["question of t1", 1],
    ]);
    await turn.append(call("t1", 1, { sent: [user("question of t1"), user("and one more")] }), {
      tokens: [3, 5, 7],
    });
    const kept = await ledger.readMessages("t1");
    expect(
      kept.map(({ message, index, callNumber, tokens }) => [
        wordsOf(message),
        index,
        callNumber,
        tokens,
      ]),
    ).toEqual([
      ["question of t1", 0, 1, 3],
      ["and one more", 1, 1, 5],
      ["answer of t1", 2, 1, 7],
    ]);
  });

  test("where words come from and how many tokens they are is kept with each message (X-22)", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const contextJson =
      '{"platform":"slack","hooks":2,"attachments":[{"path":"a.ts","lines":[1,20]}],"injectedAt":"2026-11-16"}';
    const turn = await ledger.openTurn(
      newTurn("a", "t1", null, {
        messages: [
          { message: user("hello"), tokens: 12, source: "webhook", contextJson },
          { message: user("and"), tokens: 1, source: "human" },
        ],
      }),
    );
    await turn.append(call("t1", 1, { sent: [user("hello"), user("and")] }), {
      tokens: [12, 1, 30],
    });
    await turn.close({ status: "completed", endMs: startMs });
    const shown = await all(ledger.readThread({ sessionId: "a" }));
    expect(shown.map(({ tokens, source, contextJson: from }) => [tokens, source, from])).toEqual([
      [12, "webhook", contextJson],
      [1, "human", null],
      [30, null, null],
    ]);
  });

  test("a reply that was cut off is kept and never sent again, and its tools count as cancelled", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { status: "partial", stopReason: null, reply: asks("u1") }));
    await turn.append(call("t1", 2, { sent: [user("question of t1")] }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["question of t1", "answer of t1"]);
    const kept = await ledger.readMessages("t1");
    expect(
      kept.filter(({ isReplayed }) => !isReplayed).map(({ message }) => wordsOf(message)),
    ).toContain("?u1");
    expect(await ledger.readToolCalls("t1")).toMatchObject([{ status: "cancelled" }]);
  });

  test("what a failed call was about to send is recorded once, though the next call sends it again", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    const failure = { kind: "timeout", detail: "60 s" } as const;
    await turn.append(call("t1", 1, { status: "failed", stopReason: null, reply: null, failure }));
    await turn.append(call("t1", 2, { sent: [user("question of t1")] }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["question of t1", "answer of t1"]);
    expect(await ledger.readCalls("t1")).toMatchObject([
      { status: "failed", failure },
      { status: "complete", failure: null },
    ]);
  });

  test("a whole reply that must not be sent again says so", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: assistant("") }), { isReplayed: false });
    await turn.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["question of t1"]);
    expect(await ledger.readMessages("t1")).toHaveLength(2);
  });

  test("a turn that is closed is over", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1));
    await turn.close({ status: "completed", endMs: startMs });
    for (const work of [
      turn.append(call("t1", 2)),
      turn.answer([counted(user("more"))]),
      turn.close({ status: "failed", endMs: startMs + 1 }),
      turn.release(),
    ]) {
      expect(await refusal(work)).toMatchObject({ code: "conflict" });
    }
    expect(await ledger.findTurn("t1")).toMatchObject({ status: "completed", callCount: 1 });
    expect(await ledger.findSession("a")).toMatchObject({ turnCount: 1, headTurnId: "t1" });
    expect(await ledger.pointerHistory("a")).toHaveLength(2);
  });

  test("a call may end its turn: both are recorded, or neither", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    const end = { status: "completed", endMs: startMs + 9, permissionsUsed: ["read"] } as const;
    const asking = call("t1", 1, { reply: asks("u1"), stopReason: "tool_use" });
    expect(await refusal(turn.append(asking, { end }))).toMatchObject({ code: "input-invalid" });
    expect(await ledger.findTurn("t1")).toMatchObject({ status: "pending", callCount: 0 });

    await turn.append(call("t1", 1), { end, stateJson: '{"calls":1}' });
    await turn.append(call("t1", 1), { end });
    expect(await refusal(turn.append(call("t1", 2)))).toMatchObject({ code: "conflict" });
    const other = await reopen();
    const ended = { status: "completed", endMs: startMs + 9, permissionsUsed: ["read"] };
    expect(await other.findTurn("t1")).toMatchObject({ ...ended, callCount: 1 });
    expect(await other.findSession("a")).toMatchObject({ headTurnId: "t1", openTurnId: null });
    expect(await other.readState("a")).toBe('{"calls":1}');
    expect(await other.pointerHistory("a")).toHaveLength(2);
    await run(other, "a", "t2");
    expect(await thread(ledger, "a")).toHaveLength(4);
  });

  test("a process that closed the last turn learns from the next one that another process moved on", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await run(await reopen(), "a", "t2");
    const late = ledger.openTurn(newTurn("a", "t3", "t1"));
    expect((await refusal(late)).message).toContain("points at t2, not at t1");
    await run(ledger, "a", "t3");
    expect(await thread(ledger, "a")).toHaveLength(6);
  });

  test("a turn without a message and without a call can be completed", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await ledger.openTurn(newTurn("a", "t1", null, { messages: [] }));
    await turn.close({ status: "completed", endMs: startMs });
    await run(ledger, "a", "t2");
    expect(await thread(ledger, "a")).toEqual(["question of t2", "answer of t2"]);
  });

  test("a turn that is closed twice in the same way is closed once, and in no other way", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.close({ status: "completed", endMs: startMs });
    await turn.close({ status: "completed", endMs: startMs });
    expect(await refusal(turn.close({ status: "failed", endMs: startMs }))).toMatchObject({
      code: "conflict",
    });
    expect(await ledger.pointerHistory("a")).toHaveLength(2);
  });
}
