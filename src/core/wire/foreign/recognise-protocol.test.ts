import { expect, test } from "vitest";
import { toJsonTree } from "../../message/json-tree.ts";
import { recogniseProtocol } from "./recognise-protocol.ts";

const says = (content: unknown, role = "user"): object => ({ role, content });

function recognise(
  body: Record<string, unknown>,
  path: string | null = null,
  headers: Record<string, string> = {},
): string | undefined {
  return recogniseProtocol({ body: toJsonTree(body), path, headers })?.name;
}

test.each<[string, Record<string, unknown>, string | undefined]>([
  ["a system text is of the Messages API", { system: "x", messages: [] }, "anthropic-messages"],
  ["blocks of tools are, too", { messages: [says([{ type: "tool_use" }])] }, "anthropic-messages"],
  [
    "a leading system message is of Chat Completions",
    { messages: [says("x", "system")] },
    "openai-chat",
  ],
  ["so is a tool's message", { messages: [says("x"), says("y", "tool")] }, "openai-chat"],
  ["so is an old list of functions", { messages: [says("x")], functions: [] }, "openai-chat"],
  ["input is of the Responses API", { input: "x" }, "openai-responses"],
  ["a conversation that the provider keeps is, too", { conversation: "c" }, "openai-responses"],
  ["an answer of the Responses API is no request", { instructions: "x", output: [] }, undefined],
  ["nothing is of no protocol", { model: "gpt-5.5" }, undefined],
])("%s", (_name, body, protocol) => {
  expect(recognise(body)).toBe(protocol);
});

test("a body that would do for two is taken by its model: Claude in the Messages API, others in Chat Completions", () => {
  const messages = [says("x")];
  expect(recognise({ model: "claude-sonnet-4-6", messages })).toBe("anthropic-messages");
  expect(recognise({ model: "gpt-5.5", messages })).toBe("openai-chat");
  expect(recognise({ messages })).toBe("openai-chat");
  const both = { messages, system: "x", max_completion_tokens: 9 };
  expect(recognise({ ...both, model: "claude-sonnet-4-6" })).toBe("anthropic-messages");
  expect(recognise({ ...both, model: "gpt-5.5" })).toBe("openai-chat");
});

test("where it was sent says more than what is in it, unless it cannot be that", () => {
  const messages = [says("x")];
  const claude = { model: "claude-sonnet-4-6", messages };
  expect(recognise(claude, "/v1/chat/completions")).toBe("openai-chat");
  expect(recognise({ messages }, "https://api.example.com/v1/messages?beta=true")).toBe(
    "anthropic-messages",
  );
  expect(recognise({ messages }, null, { "anthropic-version": "2023-06-01" })).toBe(
    "anthropic-messages",
  );
  expect(recognise({ input: "x" }, "/v1/messages")).toBe("openai-responses");
});
