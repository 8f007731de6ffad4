import { describe, expect, test } from "vitest";
import { findPolicy } from "../cache/policies.ts";
import type { PolicyName } from "../cache/policy.ts";
import type { EventMoment } from "../layers/event.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { cheapCounter } from "../tokens/cheap-counter.ts";
import { anthropicMessages } from "../wire/anthropic-messages/index.ts";
import { openSession } from "../../engine/session/open-session.ts";
import type { Session } from "../session/session.ts";
import { momentOf } from "./call-moment.ts";

const startMs = Date.UTC(2026, 10, 16, 8);

function session(policy: PolicyName = "adaptive"): Session {
  return openSession({
    model: resolveModel("claude-sonnet-4-6").facts,
    protocol: anthropicMessages,
    policy: findPolicy(policy),
    context: { role: "manager", workspaceRules: "Answer briefly." },
    counter: cheapCounter,
    options: { outputTokensMax: 300, stream: true },
  });
}

function tellAt(
  seconds: readonly number[],
  event: EventMoment = {},
  policy: PolicyName = "adaptive",
  timeSentMs: number | null = null,
): readonly string[] {
  const before = session(policy);
  const startIso = new Date(startMs).toISOString();
  let about = {
    sourceId: null,
    attachments: [],
    message: null,
    moment: event,
    context: null,
    startIso,
    timeSentMs,
  };
  return seconds.map((each) => {
    const nowMs = startMs + each * 1000;
    const said = momentOf(
      { event: about, before },
      { nowMs, nowIso: new Date(nowMs).toISOString() },
    );
    about = { ...about, timeSentMs: said.timeSentMs };
    return said.sections.map(({ text }) => text).join(" / ");
  });
}

const atEight = "Current time: 2026-11-16T08:00:00.000Z\nTimezone: UTC";

describe("the time", () => {
  test("is told with the event, and not again for a minute", () => {
    expect(tellAt([0, 5, 59])).toEqual([atEight, "", ""]);
  });

  test("is told once a minute in a turn that goes on, as it is then", () => {
    expect(tellAt([0, 60, 80, 121])).toEqual([
      atEight,
      "Current time: 2026-11-16T08:01:00.000Z\nTimezone: UTC",
      "",
      "Current time: 2026-11-16T08:02:01.000Z\nTimezone: UTC",
    ]);
  });

  test("is not told again at once to a turn that another process goes on with", () => {
    expect(tellAt([0], {}, "adaptive", startMs - 10_000)).toEqual([""]);
    expect(tellAt([0], {}, "adaptive", startMs - 60_000)).toEqual([atEight]);
  });

  test("stays as it is for the whole turn where it stands before the messages", () => {
    expect(tellAt([0, 90], {}, "hermes")).toEqual([atEight, atEight]);
  });

  test("is never told where the volatile text is memory alone; where people are still is (M-04)", () => {
    expect(tellAt([0, 90], {}, "metis")).toEqual(["", ""]);
    expect(tellAt([0], { platform: "slack" }, "metis")).toEqual(["Platform: slack"]);
  });
});

test("where people are is told with every call, and what a hook says once", () => {
  const event = {
    platform: "slack",
    platformActions: ["react"],
    hookData: [{ text: "It rains.", persist: false }],
  };
  const where = "Platform: slack\nAvailable actions: react";
  expect(tellAt([0, 5, 70], event)).toEqual([
    `${atEight}\n${where}\nIt rains.`,
    where,
    `Current time: 2026-11-16T08:01:10.000Z\nTimezone: UTC\n${where}`,
  ]);
});
