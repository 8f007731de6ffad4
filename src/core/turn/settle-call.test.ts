import { describe, expect, test } from "vitest";
import { assemble } from "../assembly/assemble.ts";
import { planCache } from "../cache/plan-cache.ts";
import { findPolicy } from "../cache/policies.ts";
import type { Usage } from "../message/usage.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { cheapCounter } from "../tokens/cheap-counter.ts";
import { anthropicMessages } from "../wire/anthropic-messages/index.ts";
import type { ProviderFailure } from "../wire/failure.ts";
import type { Reply } from "../wire/reply.ts";
import type { Attempt } from "../../edge/providers/run-attempts.ts";
import { openSession } from "../../engine/session/open-session.ts";
import type { Session } from "../session/session.ts";
import { toAssemble, toPlan } from "./prepare-call.ts";
import { settleCall, type FinishedCall, type SettledCall } from "./settle-call.ts";

const startMs = 1_800_000_000_000;
const session = openSession({
  model: resolveModel("claude-sonnet-4-6").facts,
  protocol: anthropicMessages,
  policy: findPolicy("tail-5m"),
  context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(500) },
  counter: cheapCounter,
  options: { outputTokensMax: 100, stream: false },
});

function settle(
  sent: FinishedCall["sent"],
  from: Session = session,
  endMs: number = startMs + 5,
): SettledCall {
  const { thread, policy, model, protocol, cache: state, pace, options } = from;
  const content = [{ type: "text" as const, text: "Hi." }];
  const assembly = assemble({
    thread,
    current: [{ role: "user", content }],
    volatile: null,
    layout: policy.layout,
    model,
  });
  const { blocks } = assembly;
  const { markers } = policy;
  const plan = planCache({ blocks, rules: model, markers, state, pace, now: startMs });
  const request = protocol.encode({ assembly, plan, model, options });
  const made = { turnId: "turn-1", number: 1, assembly, plan, request };
  return settleCall(from, { ...made, sent, startMs, endMs });
}

const usage: Usage = {
  uncachedTokens: 100,
  cacheReadTokens: 0,
  cacheWriteTokens: {},
  outputTokens: 10,
  reasoningTokens: 0,
};

function reply(more: Partial<Reply> = {}): Reply {
  return {
    kind: "reply",
    id: "msg_1",
    model: "claude-sonnet-4-6",
    message: { role: "assistant", content: [{ type: "text", text: "Hello." }] },
    stopReason: "end_turn",
    usage: { usage, isReported: true, reportsCache: true, warnings: [] },
    status: "complete",
    transformations: [],
    ...more,
  };
}

const failure: ProviderFailure = { kind: "timeout", detail: "no answer" };

function attemptThatGave(discarded: Reply | null): Attempt {
  return {
    startMs,
    firstByteMs: null,
    endMs: startMs,
    status: null,
    requestId: null,
    failure,
    discarded,
    next: null,
  };
}

describe("a settled call", () => {
  test("names the prompt by what will be sent again", () => {
    const { entry, session: next } = settle({ outcome: reply(), attempts: [] });
    expect(entry.promptKey).toBe(entry.plan.markers.at(-1)?.key);
    expect(next.thread.messages.length).toBe(2);
    expect(next.cache.calls).toBe(1);
  });

  test("costs what every attempt was billed, also those that came to nothing", () => {
    // 100 in at $3 and 10 out at $15 a million, twice.
    const { entry } = settle({
      outcome: reply(),
      attempts: [attemptThatGave(reply()), attemptThatGave(null)],
    });
    expect(entry.costPicoUsd).toBe(900_000_000n);
    expect(entry.discarded).toEqual([usage]);
    const failed = settle({ outcome: failure, attempts: [attemptThatGave(reply())] }).entry;
    expect([failed.status, failed.costPicoUsd]).toEqual(["failed", 450_000_000n]);
  });

  test("costs what is known, and notes the attempts of which no usage was told", () => {
    const untold = reply({
      status: "partial",
      usage: { usage, isReported: false, reportsCache: false, warnings: [] },
    });
    const note = {
      kind: "usage",
      detail: "1 answer that began has no known cost, and may have been billed besides",
    };
    const whole = settle({ outcome: reply(), attempts: [attemptThatGave(untold)] }).entry;
    expect([whole.costPicoUsd, whole.notes]).toEqual([450_000_000n, [note]]);
    const cut = settle({ outcome: untold, attempts: [attemptThatGave(reply())] }).entry;
    expect([cut.costPicoUsd, cut.notes]).toEqual([450_000_000n, [note]]);
    const failed = settle({ outcome: failure, attempts: [attemptThatGave(untold)] }).entry;
    expect([failed.costPicoUsd, failed.notes]).toEqual([null, [note]]);
    const alone = settle({ outcome: untold, attempts: [] }).entry;
    expect([alone.costPicoUsd, alone.notes]).toEqual([null, []]);
  });

  test("says how often it was tried, where that is known", () => {
    const attempts = [attemptThatGave(null), attemptThatGave(null)];
    expect(settle({ outcome: failure, attempts }).entry.attemptCount).toBe(2);
    expect(settle({ outcome: failure, attempts: [] }).entry).not.toHaveProperty("attemptCount");
  });

  test("does not end before it began, though the clock was set back", () => {
    const { entry } = settle({ outcome: reply(), attempts: [] }, session, startMs - 3_600_000);
    expect([entry.startMs, entry.endMs]).toEqual([startMs, startMs]);
  });

  test("notes what was corrected in its counts and what the provider did to the request", () => {
    const { entry } = settle({
      outcome: reply({
        usage: {
          usage,
          isReported: true,
          reportsCache: true,
          warnings: ["the remainder was below zero"],
        },
        transformations: ["thinking_dropped at messages.1.content.0"],
      }),
      attempts: [],
    });
    expect(entry.notes).toEqual([
      { kind: "usage", detail: "the remainder was below zero" },
      { kind: "transformed", detail: "thinking_dropped at messages.1.content.0" },
    ]);
  });

  test("learns the pace from the second call on", () => {
    const first = settle({ outcome: reply(), attempts: [] }).session;
    expect(first.pace.gaps).toEqual([0, 0, 0, 0, 0, 0]);
    const second = settle({ outcome: reply(), attempts: [] }, first).session;
    expect(second.pace.gaps).toEqual([1, 0, 0, 0, 0, 0]);
  });

  test("after a pause is planned with that pause in mind", () => {
    const first = settle({ outcome: reply(), attempts: [] }).session;
    const assembly = assemble(toAssemble(first, { current: [], volatile: null }));
    const { pace } = toPlan(first, assembly, startMs + 20 * 60_000);
    expect(pace.lastWasPause).toBe(true);
    expect(pace.gaps).toEqual([0, 1, 0, 0, 0, 0]);
  });

  test("that failed gives back the session it was made from, with one call more", () => {
    const { compactionState } = session;
    expect(settle({ outcome: failure, attempts: [] }).session).toEqual({
      ...session,
      compactionState: { ...compactionState, calls: 1, callsSinceFold: 1, turnsSinceFold: 1 },
    });
  });

  test("that was cut off keeps its messages out of the thread, and what it wrote in mind", () => {
    const cut = settle({ outcome: reply({ status: "partial" }), attempts: [] });
    expect(cut.session.thread).toBe(session.thread);
    expect(cut.session.cache.calls).toBe(session.cache.calls + 1);
  });
});
