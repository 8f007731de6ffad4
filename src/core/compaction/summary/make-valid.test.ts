import { expect, test } from "vitest";
import type { Message } from "../../message/message.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { makeValid } from "./make-valid.ts";

const bound = resolveModel("claude-opus-5-5").facts;
const free = resolveModel("claude-sonnet-4-6").facts;

const messages: readonly Message[] = [
  { role: "user", content: [{ type: "text", text: "Go." }] },
  {
    role: "assistant",
    json: '{"content":[],"role":"assistant"}',
    content: [
      { type: "thinking", text: "hm", signature: "s" },
      { type: "redacted_thinking", data: "d" },
      { type: "opaque", json: '{"type":"thinking","thinking":1}' },
      { type: "opaque", json: '{"type":"server_tool_use","id":"a"}' },
      { type: "tool_use", id: "t1", name: "read", inputJson: "{}" },
    ],
  },
  { role: "assistant", content: [{ type: "thinking", text: "hm", signature: "s" }] },
];

test("thinking that is bound to what a fold replaced goes, with messages that were nothing else", () => {
  expect(makeValid(messages, bound)).toEqual({
    messages: [
      messages[0],
      {
        role: "assistant",
        content: [
          { type: "opaque", json: '{"type":"server_tool_use","id":"a"}' },
          { type: "tool_use", id: "t1", name: "read", inputJson: "{}" },
        ],
      },
    ],
    changed: true,
    thinkingRemoved: 4,
  });
});

test("other models keep their thinking to the byte", () => {
  expect(makeValid(messages, free)).toEqual({ messages, changed: false, thinkingRemoved: 0 });
});

test("what has no thinking in it is not written anew", () => {
  const plain = messages.slice(0, 1);
  expect(makeValid(plain, bound).messages).toBe(plain);
});
