import { describe, expect, test } from "vitest";
import { toRequest, type EncodedRequest } from "../../core/wire/encoded-request.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../core/wire/openai/responses/index.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { createBodyCounter } from "./body-counter.ts";

/** One token for each word. */
const wordCounter = { count: (text: string) => text.split(/\s+/).filter(Boolean).length };

function count(protocol: Protocol, body: object): number {
  return createBodyCounter(wordCounter, protocol)(toBody(body));
}

function toBody(body: object): EncodedRequest {
  return toRequest({ path: "/", parts: [JSON.stringify(body)] });
}

function said(...texts: readonly string[]): object {
  return { messages: texts.map((content) => ({ role: "user", content })) };
}

describe("CF-F: message overhead (N-30)", () => {
  test("three for the reply and four for each message", () => {
    expect(count(anthropicMessages, said("one two"))).toBe(3 + 4 + 2);
    expect(count(anthropicMessages, said("one two", "three"))).toBe(3 + 8 + 3);
    expect(count(openaiChat, said("one two", "three"))).toBe(3 + 8 + 3);
  });

  test("two for a system prompt, however many blocks it has", () => {
    const messages = [{ role: "user", content: "one" }];
    const system = [
      { type: "text", text: "Be brief." },
      { type: "text", text: "Be kind." },
    ];
    expect(count(anthropicMessages, { system, messages })).toBe(3 + 2 + 4 + 4 + 1);
    expect(count(openaiResponses, { instructions: "Be brief.", input: "one" })).toBe(
      3 + 2 + 2 + 4 + 1,
    );
  });

  test("names and JSON of tool uses count, and what tools gave", () => {
    const messages = [
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "read file", input: {} }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t", content: "a b c" }],
      },
    ];
    expect(count(anthropicMessages, { messages })).toBe(3 + 8 + 2 + 1 + 3);
    const calls = [
      { id: "t", type: "function", function: { name: "read", arguments: '{"a": 1}' } },
    ];
    expect(count(openaiChat, { messages: [{ role: "assistant", tool_calls: calls }] })).toBe(
      3 + 4 + 1 + 2,
    );
  });

  test("an image is not counted by its letters", () => {
    const source = { type: "base64", media_type: "image/png", data: "a ".repeat(50_000) };
    const messages = [{ role: "user", content: [{ type: "image", source }] }];
    expect(count(anthropicMessages, { messages })).toBe(3 + 4 + 1_600);
  });
});

test("a long text is counted once", () => {
  let counted = 0;
  const counting = {
    count: (text: string) => {
      counted += 1;
      return wordCounter.count(text);
    },
  };
  const countBody = createBodyCounter(counting, anthropicMessages);
  const request = toBody({ messages: [{ role: "user", content: "word ".repeat(100) }] });
  expect([countBody(request), countBody(request), counted]).toEqual([107, 107, 1]);
});

test("a body of no known shape is counted by its length", () => {
  expect(count(anthropicMessages, { prompt: "x".repeat(23) })).toBe(10);
});
