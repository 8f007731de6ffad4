import { describe, expect, test } from "vitest";
import { itemsOf } from "../growing/growing-list.ts";
import { say, text, threadOf, toolResult, toolUse } from "../wire/anthropic-messages/test-kit.ts";
import { appendMessages, openThread, type Thread } from "./thread.ts";

const empty = threadOf({ system: ["Rules."] });

function textOf({ bytes }: Thread): string {
  return new TextDecoder().decode(bytes.slice(0, bytes.length));
}

describe("a thread", () => {
  test("starts at the end of its foundation", () => {
    const thread = openThread(empty.foundation);
    expect(thread.end).toEqual({ key: empty.foundation.key, tokens: 6 });
    expect([thread.messages.length, thread.blocks.length, thread.bytes.length]).toEqual([0, 0, 0]);
  });

  test("holds each message as it is sent, joined to the one before it", () => {
    const thread = appendMessages(empty, [
      say("user", "Look."),
      say("assistant", toolUse("t1", '{"2":1.0,"1":2}')),
      say("tool", toolResult("t1", "found")),
      say("user", "And?"),
    ]);
    expect(textOf(thread)).toBe(
      '{"role":"user","content":[{"type":"text","text":"Look."}' +
        ']},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"2":1.0,"1":2}}' +
        ']},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"found"}]}' +
        ',{"type":"text","text":"And?"}',
    );
    expect([...itemsOf(thread.blocks)].map(({ kind, tier }) => [kind, tier])).toEqual([
      ["text", "T3"],
      ["tool_use", "T3"],
      ["tool_result", "T3"],
      ["text", "T3"],
    ]);
    expect(thread.end.tokens).toBe(6 + 4);
  });

  test("is the same whether messages are appended at once or one by one", () => {
    const messages = [say("user", "One."), say("assistant", "Two."), say("user", "Three.")];
    const atOnce = appendMessages(empty, messages);
    const oneByOne = messages.reduce((thread, each) => appendMessages(thread, [each]), empty);
    expect(oneByOne.end).toEqual(atOnce.end);
    expect(textOf(oneByOne)).toBe(textOf(atOnce));
  });

  test("stays as it was when two others go on from it", () => {
    const start = appendMessages(empty, [say("user", "Start.")]);
    const left = appendMessages(start, [say("assistant", "Left.")]);
    const right = appendMessages(start, [say("assistant", "Right, and longer.")]);
    const leftText = `${textOf(start)}]},{"role":"assistant","content":[{"type":"text","text":"Left."}`;
    expect(textOf(left)).toBe(leftText);
    expect(textOf(right)).toContain("Right, and longer.");
    expect([start.messages.length, left.messages.length, right.messages.length]).toEqual([1, 2, 2]);
    expect(new Set([start.end.key, left.end.key, right.end.key]).size).toBe(3);
  });

  test("lists what its protocol could not carry, and keeps the message itself", () => {
    const thread = appendMessages(empty, [
      say("user", "Hi.", text("")),
      say("system", "Be brief."),
      say("assistant", "Yes."),
    ]);
    expect([...itemsOf(thread.leftOut)]).toEqual([
      { what: "a block of type text", reason: "the provider refuses text without a word" },
      { what: "a system message", reason: "the model takes none among the messages" },
    ]);
    expect(thread.messages.length).toBe(3);
    expect(textOf(thread)).not.toContain("Be brief.");
  });
});
