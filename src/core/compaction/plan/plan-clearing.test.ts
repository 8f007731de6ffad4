import { expect, test } from "vitest";
import type { Message } from "../../message/message.ts";
import { validateConversation } from "../../message/validate-conversation.ts";
import type { HistoryMessage } from "../history.ts";
import { planClearing } from "./plan-clearing.ts";
import { defaultCompactionSettings } from "./settings.ts";
import { byHistoryRead, byRunningAgain } from "./recall-hint.ts";
import { toResult, toTurn } from "./test-kit.ts";

const clearing = defaultCompactionSettings.clearing;

/** Four characters per token. */
function countMessage(message: Message): number {
  return Math.ceil(JSON.stringify(message).length / 4);
}

/** A turn that runs a tool whose result has this many bytes. */
function toolTurn(turnId: string, bytes: number, name = "bash"): readonly HistoryMessage[] {
  const id = `use-${turnId}`;
  return toTurn(turnId, [
    ["user", 10],
    [`use ${id}`, 10],
    [`result ${id}`, 10],
    ["text", 10],
  ]).map((each, index) => {
    if (index === 1) {
      const use = { type: "tool_use", id, name, inputJson: "{}" } as const;
      return { ...each, message: { role: "assistant", content: [use] } };
    }
    if (index !== 2) return each;
    const message = toResult(id, "x".repeat(bytes));
    return { ...each, message, tokens: countMessage(message) };
  });
}

const turns = ["a", "b", "c", "d", "e", "f"];
const bulky = turns.flatMap((id) => toolTurn(id, 40_000));
const question = {
  settings: clearing,
  protectedFrom: 12,
  contextTokens: 60_000,
  countMessage,
  recallHint: byHistoryRead,
};

test("old results of bulky tools are cleared in one batch, their ids kept (N-28)", () => {
  const plan = planClearing(bulky, question);
  expect(plan?.cleared.map(({ at, toolUseId, bytes }) => [at, toolUseId, bytes])).toEqual([
    [2, "use-a", 40_000],
    [6, "use-b", 40_000],
    [10, "use-c", 40_000],
  ]);
  expect(plan?.history[2]?.message).toEqual(
    toResult(
      "use-a",
      '[Old output of bash, 40000 bytes, was cleared: history_read with tool_use_id "use-a" shows it whole]',
    ),
  );
  expect(plan?.history.filter((each, at) => each === bulky[at])).toHaveLength(21);
  expect(validateConversation((plan?.history ?? []).map(({ message }) => message))).toEqual([]);
});

test("an agent without history_read is told to run the tool again", () => {
  const plan = planClearing(bulky, { ...question, recallHint: byRunningAgain });
  const text = "run the tool again, for a part if it can, to see it";
  expect(plan?.history[2]?.message).toEqual(
    toResult("use-a", `[Old output of bash, 40000 bytes, was cleared: ${text}]`),
  );
});

test("clearing what is cleared changes nothing", () => {
  const history = planClearing(bulky, question)?.history ?? [];
  expect(planClearing(history, question)).toBeNull();
});

test.each<[string, readonly HistoryMessage[], Partial<typeof question>]>([
  ["of other tools", turns.flatMap((id) => toolTurn(id, 40_000, "ask_user")), {}],
  ["of 16 KiB and less", turns.flatMap((id) => toolTurn(id, 16_384)), {}],
  ["in the protected tail", bulky, { protectedFrom: 0 }],
  ["among the last three", ["a", "b", "c"].flatMap((id) => toolTurn(id, 40_000)), {}],
])("results %s stay", (_name, history, changes) => {
  expect(planClearing(history, { ...question, ...changes })).toBeNull();
});

test("a gain below 10k tokens and below a tenth of the prompt is not worth it", () => {
  const one = { ...question, protectedFrom: 4 };
  expect(planClearing(bulky, { ...one, contextTokens: 200_000 })).toBeNull();
  expect(planClearing(bulky, { ...one, contextTokens: 90_000 })?.cleared).toHaveLength(1);
});
