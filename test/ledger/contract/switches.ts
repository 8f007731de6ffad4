// A turn that changes its model on the way: every call and every message keeps its own.
import { expect, test } from "vitest";
import type { NextModel } from "../../../src/core/ledger/turn-record.ts";
import { hashContent } from "../../../src/core/hash.ts";
import type { OpenLedger } from "../stores.ts";
import {
  all,
  answers,
  asks,
  call,
  counted,
  newTurn,
  openSession,
  refusal,
  startMs,
} from "../test-kit.ts";

const next: NextModel = {
  model: "gpt",
  provider: "openai",
  foundation: "tools and system text for gpt",
  setupJson: '{"padding":null}',
  left: { through: 2, model: "opus", provider: "anthropic", name: "claude-api/opus" },
  stateJson: '{"format":1}',
};

const failed = {
  status: "failed",
  stopReason: null,
  usage: null,
  costPicoUsd: null,
  reply: null,
  failure: { kind: "unreachable", detail: "no answer" },
} as const;

export function switchesContract(open: OpenLedger): void {
  test("a turn goes on with another model, in this process and in the next one", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a");
    const turn = await ledger.openTurn(newTurn("a", "t1", null, { model: "opus" }));
    await turn.append(call("t1", 1, { model: "opus", reply: asks("u1"), stopReason: "tool_use" }));
    await turn.answer([counted(answers("u1", "42 lines"))]);
    await turn.append(
      call("t1", 2, { ...failed, model: "opus", sent: [answers("u1", "42 lines")] }),
    );
    await turn.switchModel(next);
    await turn.switchModel(next);
    expect(await ledger.findTurn("t1")).toMatchObject({
      model: "gpt",
      provider: "openai",
      switches: [next.left],
    });
    expect(await ledger.readState("a")).toBe('{"format":1}');
    await turn.release();

    const other = await reopen();
    expect(await other.findFoundation({ turnId: "t1" }, next)).toEqual({
      turnId: "t1",
      foundationHash: hashContent("tools and system text for gpt"),
      setupJson: '{"padding":null}',
    });
    expect(await other.findFoundation({ turnId: "t1" }, next.left)).toBeNull();
    const resumed = await other.resumeTurn("a");
    await resumed.append(call("t1", 3, { model: "gpt", sent: [answers("u1", "42 lines")] }));
    await resumed.close({ status: "completed", endMs: startMs + 9 });
    expect((await other.readCalls("t1")).map(({ model }) => model)).toEqual([
      "opus",
      "opus",
      "gpt",
    ]);
    const told = await all(other.readThread({ sessionId: "a" }));
    expect(told.map(({ model, provider }) => `${provider}/${model}`)).toEqual([
      "anthropic/opus",
      "anthropic/opus",
      "anthropic/opus",
      "openai/gpt",
    ]);
    expect(await all(other.check())).toEqual([]);
  });

  test("a model is left once, after its last call", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await ledger.openTurn(newTurn("a", "t1", null));
    await turn.append(call("t1", 1));
    expect(await refusal(turn.switchModel(next))).toMatchObject({ code: "input-invalid" });
    await turn.append(call("t1", 2));
    await turn.switchModel(next);
    const another = { ...next, model: "haiku" };
    expect(await refusal(turn.switchModel(another))).toMatchObject({ code: "conflict" });
  });
}
