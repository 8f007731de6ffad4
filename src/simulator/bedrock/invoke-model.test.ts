import { expect, test } from "vitest";
import { createKit, words, type Any } from "./test-kit.ts";

const body = {
  anthropic_version: "bedrock-2023-05-31",
  max_tokens: 100,
  messages: [{ role: "user", content: "hello" }],
};

test("the reply is that of the model's own API, with counts in headers", () => {
  const { status, headers, body: reply } = createKit().post("invoke", body);
  expect(status).toBe(200);
  expect(reply).toMatchObject({
    type: "message",
    role: "assistant",
    model: "claude-sonnet-5-5",
    stop_reason: "end_turn",
  });
  expect(headers).toMatchObject({
    "x-amzn-bedrock-input-token-count": String(reply.usage.input_tokens),
    "x-amzn-bedrock-output-token-count": String(reply.usage.output_tokens),
    "x-amzn-bedrock-cache-read-input-token-count": "0",
    "x-amzn-bedrock-cache-write-input-token-count": "0",
  });
});

test("a stream is chunks of one event each, without pings, and AWS's counts in the last", () => {
  const kit = createKit();
  const { frames } = kit.post("invoke-with-response-stream", {
    ...body,
    system: [{ type: "text", text: words(800), cache_control: { type: "ephemeral", ttl: "1h" } }],
  });
  expect(new Set(frames.map(({ headers }) => headers[":event-type"]))).toEqual(new Set(["chunk"]));
  const events = frames.map((frame): Any =>
    JSON.parse(Buffer.from(frame.body.bytes, "base64").toString()),
  );
  expect(events.map(({ type }) => type)).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  const { usage } = events[0].message;
  expect(events.at(-1)).toEqual({
    type: "message_stop",
    "amazon-bedrock-invocationMetrics": {
      inputTokenCount: usage.input_tokens,
      outputTokenCount: events.at(-2).usage.output_tokens,
      invocationLatency: 0,
      firstByteLatency: 0,
      cacheReadInputTokenCount: 0,
      cacheWriteInputTokenCount: usage.cache_creation.ephemeral_1h_input_tokens,
    },
  });
});

test.each(["bedrock-2023-05-31", "2023-06-01", "2026-10-21"])("takes the version %s", (version) => {
  const { status } = createKit().post("invoke", { ...body, anthropic_version: version });
  expect(status).toBe(200);
});

test.each<[string, unknown, string | RegExp]>([
  [
    "without a version",
    { ...body, anthropic_version: undefined },
    "anthropic_version: Field required",
  ],
  [
    "of another version",
    { ...body, anthropic_version: "2020" },
    "anthropic_version: Input should be 'bedrock-2023-05-31', '2023-06-01' or '2026-10-21'",
  ],
  [
    "with a model",
    { ...body, model: "claude-sonnet-5-5" },
    "model: Extra inputs are not permitted",
  ],
  ["with a choice to stream", { ...body, stream: true }, "stream: Extra inputs are not permitted"],
  [
    "with a marker for the whole of it",
    { ...body, cache_control: { type: "ephemeral" } },
    "cache_control: Extra inputs are not permitted",
  ],
  [
    "that asks for diagnostics",
    { ...body, diagnostics: { previous_message_id: null } },
    "diagnostics: Extra inputs are not permitted",
  ],
  ["without a limit", { ...body, max_tokens: undefined }, "max_tokens: Field required"],
  ["that is no JSON", "{", "Malformed input request, please reformat your input and try again."],
])("refuses a body %s", (_name, sent, message) => {
  const { status, headers, body: refused } = createKit().post("invoke", sent);
  expect([status, headers["x-amzn-errortype"]?.split(":")[0], refused]).toEqual([
    400,
    "ValidationException",
    { message },
  ]);
});

test("betas stand in the body", () => {
  const kit = createKit();
  const beta = "context-management-2025-06-27";
  const edits = [{ type: "clear_thinking_20251015", keep: "all" }];
  const sent = { ...body, context_management: { edits } };
  expect(kit.post("invoke", sent).status).toBe(400);
  expect(kit.post("invoke", { ...sent, anthropic_beta: [beta] }).status).toBe(200);
});
