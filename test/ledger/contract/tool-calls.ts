// Tool calls: what a reply asks for is answered before the turn is history.
import { expect, test } from "vitest";
import type { Message } from "../../../src/core/message/message.ts";
import type { OpenLedger } from "../stores.ts";
import {
  answers,
  asks,
  call,
  counted,
  open as openTurn,
  openSession,
  refusal,
  startMs,
  thread,
  user,
} from "../test-kit.ts";

export function toolCallsContract(open: OpenLedger): void {
  test("a turn is not completed while a tool use has no answer (X-34)", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1", "u2") }));
    await turn.answer([counted(answers("u1", "done"))]);
    expect(await refusal(turn.close({ status: "completed", endMs: startMs }))).toEqual({
      code: "input-invalid",
      message: "turn t1 cannot be completed: tool use u2 has no answer",
      hint: "record the tool's answer, or close the turn as failed",
    });
    await turn.answer([counted(answers("u2", "done"))]);
    await turn.append(call("t1", 2, { sent: [answers("u1", "done"), answers("u2", "done")] }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual([
      "question of t1",
      "?u1 ?u2",
      "!u1 done",
      "!u2 done",
      "answer of t1",
    ]);
  });

  test("a call that goes on without an answer does not make the question go away", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1") }));
    const work = (async () => {
      await turn.append(call("t1", 2, { sent: [user("never mind")] }));
      await turn.close({ status: "completed", endMs: startMs });
    })();
    expect(await refusal(work)).toMatchObject({ code: "input-invalid" });
    await turn.close({ status: "failed", endMs: startMs });
  });

  test("an answer may come with the call that sends it", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1") }));
    await turn.append(call("t1", 2, { sent: [answers("u1", "42")] }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await ledger.readToolCalls("t1")).toMatchObject([{ status: "succeeded" }]);
  });

  test("tool calls are pending, then succeeded, failed or cancelled (D-06)", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1", "u2", "u3") }));
    const statuses = async (): Promise<readonly string[]> =>
      (await ledger.readToolCalls("t1")).map(({ toolUseId, status }) => `${toolUseId} ${status}`);
    expect(await statuses()).toEqual(["u1 pending", "u2 pending", "u3 pending"]);
    await turn.answer([counted(answers("u1", "ok")), counted(answers("u2", "no such file", true))]);
    expect(await statuses()).toEqual(["u1 succeeded", "u2 failed", "u3 pending"]);
    await turn.close({ status: "failed", endMs: startMs });
    expect(await statuses()).toEqual(["u1 succeeded", "u2 failed", "u3 cancelled"]);
    const messages = await ledger.readMessages("t1");
    expect(await ledger.readToolCalls("t1")).toContainEqual({
      turnId: "t1",
      toolUseId: "u1",
      name: "Read",
      callNumber: 1,
      status: "succeeded",
      position: 0,
      inputJson: "{}",
      messageId: messages[1]?.messageId,
      resultMessageId: messages[2]?.messageId,
      startMs: null,
      endMs: expect.any(Number),
      spawnedSessionId: null,
    });
    expect((await ledger.findTurn("t1"))?.toolCallCount).toBe(3);
  });

  test("a tool call has its parameters, when it ran, its result and the session it started (X-31, D-06)", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    const inputJson = '{"10":1.0,"b":2}';
    const reply: Message = {
      role: "assistant",
      content: [
        { type: "text", text: "Both." },
        { type: "tool_use", id: "z", name: "delegate", inputJson },
        { type: "tool_use", id: "a", name: "Read", inputJson: "{}" },
      ],
    };
    await turn.append(call("t1", 1, { reply }));
    const parent = { sessionId: "a", turnId: "t1", toolUseId: "z" };
    await openSession(ledger, "worker", { parent });
    const ran = { startMs: startMs + 7, endMs: startMs + 9 };
    await turn.answer([
      { ...counted(answers("z", "ok")), ran },
      counted(answers("a", "no such file", true)),
    ]);
    const [, asked, first, second] = await ledger.readMessages("t1");
    expect(await ledger.readToolCalls("t1")).toMatchObject([
      {
        toolUseId: "z",
        position: 1,
        inputJson,
        messageId: asked?.messageId,
        resultMessageId: first?.messageId,
        ...ran,
        spawnedSessionId: "worker",
      },
      { toolUseId: "a", position: 2, inputJson: "{}", resultMessageId: second?.messageId },
    ]);
    await turn.release();
  });

  test("a reply with thousands of tool uses is answered", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    const ids = Array.from({ length: 1100 }, (_, index) => `u${index}`);
    await turn.append(call("t1", 1, { reply: asks(...ids) }));
    await turn.answer(ids.map((id) => counted(answers(id, "ok"))));
    const read = await ledger.readToolCalls("t1");
    expect(read.map(({ toolUseId }) => toolUseId)).toEqual(ids);
    expect(read.filter(({ status }) => status !== "succeeded")).toEqual([]);
    await turn.release();
  });

  test("models that count their tool uses from one in each call are answered in each call", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("call_0") }));
    await turn.answer([counted(answers("call_0", "first"))]);
    await turn.append(call("t1", 2, { sent: [answers("call_0", "first")], reply: asks("call_0") }));
    await turn.answer([counted(answers("call_0", "second", true))]);
    await turn.append(call("t1", 3, { sent: [answers("call_0", "second", true)] }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await ledger.readToolCalls("t1")).toMatchObject([
      { toolUseId: "call_0", callNumber: 1, status: "succeeded" },
      { toolUseId: "call_0", callNumber: 2, status: "failed" },
    ]);
  });

  test("a tool may answer after a call that came to nothing", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1") }));
    await turn.append(call("t1", 2, { status: "failed", stopReason: null, reply: null }));
    await turn.answer([counted(answers("u1", "ok"))]);
    await turn.append(call("t1", 3, { sent: [answers("u1", "ok")] }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await ledger.readToolCalls("t1")).toMatchObject([{ status: "succeeded" }]);
    expect(await thread(ledger, "a")).toEqual(["question of t1", "?u1", "!u1 ok", "answer of t1"]);
  });

  test("an answer without a question is refused", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1") }));
    expect(await refusal(turn.answer([counted(answers("u2", "ok"))]))).toMatchObject({
      code: "input-invalid",
    });
    expect(await ledger.readMessages("t1")).toHaveLength(2);
    await turn.close({ status: "failed", endMs: startMs });
  });

  test("the same answer twice is recorded once", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1") }));
    await turn.answer([counted(answers("u1", "ok"))]);
    await turn.answer([counted(answers("u1", "ok"))]).catch(() => {});
    await turn.append(call("t1", 2, { sent: [answers("u1", "ok")] }));
    await turn.close({ status: "completed", endMs: startMs });
    expect(await thread(ledger, "a")).toEqual(["question of t1", "?u1", "!u1 ok", "answer of t1"]);
  });
}
