import { describe, expect, test } from "vitest";
import type { Block } from "../../../message/message.ts";
import type { Reply } from "../../reply.ts";
import { bodyOn, say } from "../test-kit.ts";
import { decodeReply } from "./decode.ts";
import { bedrockConverse } from "./index.ts";

const usage = '"usage":{"inputTokens":3,"outputTokens":2,"totalTokens":5}';

function decoded(content: string, stop = "end_turn"): Reply {
  const message = `{"role":"assistant","content":[${content}]}`;
  const reply = decodeReply(
    `{"output":{"message":${message}},"stopReason":"${stop}",${usage},"metrics":{"latencyMs":7}}`,
  );
  if (reply.kind !== "reply") throw new Error(reply.detail);
  return reply;
}

describe("a whole reply", () => {
  test.each<[string, string, Block]>([
    ["text", '{"text":"Yes."}', { type: "text", text: "Yes." }],
    [
      "a tool use with its exact input",
      '{"toolUse":{"toolUseId":"t1","name":"Read","input":{"10":1.0, "2":1e3}}}',
      { type: "tool_use", id: "t1", name: "Read", inputJson: '{"10":1.0, "2":1e3}' },
    ],
    [
      "thinking",
      '{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}}',
      { type: "thinking", text: "Hm.", signature: "c2ln" },
    ],
    [
      "sealed thinking",
      '{"reasoningContent":{"redactedContent":"c2VhbA=="}}',
      { type: "redacted_thinking", data: "c2VhbA==" },
    ],
  ])("has %s, which is sent again as the same block", (_name, json, block) => {
    const { message } = decoded(json);
    expect(message.content).toEqual([block]);
    const history = [say("user", "Go."), message];
    expect(bodyOn(bedrockConverse, { history })).toContain(`"content":[${json}]},{"role":"user"`);
  });

  test.each([
    '{"citationsContent": {"content":[{"text":"A."}],"citations":[]}}',
    '{"toolUse":{"toolUseId":"s","name":"web","input":{},"type":"server_tool_use"}}',
    '{"audio":{"format":"mp3","source":{"bytes":"AA=="}}}',
  ])("keeps what it does not know byte for byte: %s", (json) => {
    const { message } = decoded(json);
    expect(message.content).toEqual([{ type: "opaque", json }]);
    const history = [say("user", "Go."), message];
    expect(bodyOn(bedrockConverse, { history })).toContain(json);
  });

  test.each([
    ["end_turn", "end_turn"],
    ["tool_use", "tool_use"],
    ["max_tokens", "max_tokens"],
    ["stop_sequence", "stop_sequence"],
    ["guardrail_intervened", "refusal"],
    ["content_filtered", "refusal"],
    ["malformed_model_output", "unknown"],
    ["malformed_tool_use", "unknown"],
    ["model_context_window_exceeded", "context_window"],
  ])("that stopped with %s", (stop, expected) => {
    expect(decoded('{"text":"A."}', stop).stopReason).toBe(expected);
  });

  test("names neither itself nor its model, and says what it used", () => {
    expect(decoded('{"text":"A."}')).toMatchObject({
      id: "",
      model: "",
      status: "complete",
      usage: { usage: { uncachedTokens: 3, outputTokens: 2 }, isReported: true },
    });
  });
});

test.each([
  ["no JSON", "<html>", "the reply is not a JSON object: <html>"],
  ["no message", '{"output":{}}', 'the reply has no list of blocks: {"output":{}}'],
  [
    "blocks that are none",
    '{"output":{"message":{"content":[1]}}}',
    'the reply has no list of blocks: {"output":{"message":{"content":[1]}}}',
  ],
])("an answer with %s is malformed", (_name, body, detail) => {
  expect(decodeReply(body)).toEqual({ kind: "malformed", detail });
});

test("an exception in place of a reply is read by its name", () => {
  const body = '{"__type":"com.amazon.coral.service#ThrottlingException","message":"Slow down."}';
  expect(decodeReply(body)).toEqual({
    kind: "rate-limited",
    detail: "Slow down.",
    retryAfterMs: undefined,
  });
});
