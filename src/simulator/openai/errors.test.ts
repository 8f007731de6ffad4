// Goal: the provider's errors, word for word. Method: bad requests and faults.
import { describe, expect, test } from "vitest";
import { createKit, words, type Body } from "./test-kit.ts";

const chat = "/v1/chat/completions";
const responses = "/v1/responses";
const user = (text: string): Body => ({ role: "user", content: text });
const newId = (prefix: string): string => `${prefix}1`;

const authenticate = (header: string | null): Body =>
  createKit().surface.authenticate(
    {
      method: "POST",
      path: chat,
      params: {},
      query: new URLSearchParams(),
      headers: new Map(header === null ? [] : [["authorization", header]]),
      bodyText: "",
    },
    { newId, nowMs: 0 },
  );

const fault = (
  kind: Parameters<ReturnType<typeof createKit>["surface"]["fault"]>[0],
  path = "/v1/responses",
): Body => {
  const { status, headers, body } = createKit().surface.fault(kind, {
    newId,
    path,
    nowMs: 0,
    workspace: "ours",
  });
  return { status, headers, error: JSON.parse(typeof body === "string" ? body : "").error };
};

describe("keys", () => {
  test("any bearer key is taken", () => {
    expect(authenticate("Bearer sk-test")).toEqual({ key: "sk-test" });
    expect(authenticate("bearer x")).toEqual({ key: "x" });
  });

  test("no key and no bearer are 401, and the key is not repeated", () => {
    const none = authenticate(null).refusal;
    expect(none.status).toBe(401);
    expect(none.headers["x-request-id"]).toBe("req_1");
    expect(JSON.parse(none.body).error).toMatchObject({
      message: expect.stringContaining("You didn't provide an API key."),
      type: "invalid_request_error",
      code: null,
    });
    const basic = authenticate("Basic c2VjcmV0").refusal;
    expect(JSON.parse(basic.body).error).toMatchObject({
      message: expect.stringContaining("Incorrect API key provided: ****."),
      code: "invalid_api_key",
    });
    expect(basic.body).not.toContain("c2VjcmV0");
  });
});

const refusals: [string, string, Body, number, Body][] = [
  [
    "an unknown model",
    responses,
    { model: "gpt-9", input: "x" },
    404,
    {
      message: "The model `gpt-9` does not exist or you do not have access to it.",
      type: "invalid_request_error",
      param: null,
      code: "model_not_found",
    },
  ],
  [
    "a retired model",
    chat,
    { model: "gpt-4-32k", messages: [user("x")] },
    404,
    {
      message:
        "The model `gpt-4-32k` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations",
      code: "model_not_found",
    },
  ],
  ["another provider's model", chat, { model: "claude-opus-5-5", messages: [user("x")] }, 404, {}],
  [
    "no model",
    chat,
    { messages: [user("x")] },
    400,
    {
      message: "Missing required parameter: 'model'.",
      param: "model",
      code: "missing_required_parameter",
    },
  ],
  [
    "no input",
    responses,
    { model: "gpt-5.5" },
    400,
    { message: "Missing required parameter: 'input'." },
  ],
  [
    "a body that is no JSON",
    responses,
    "{",
    400,
    { message: expect.stringContaining("We could not parse the JSON body of your request.") },
  ],
  ["a body nested too deep", responses, "[".repeat(9_999) + "]".repeat(9_999), 400, { code: null }],
  [
    "a wrong type",
    chat,
    { model: "gpt-4o", messages: "x" },
    400,
    {
      message:
        "Invalid type for 'messages': expected an array of objects, but got a string instead.",
      param: "messages",
      code: "invalid_type",
    },
  ],
  [
    "a wrong role",
    chat,
    { model: "gpt-4o", messages: [{ role: "robot", content: "x" }] },
    400,
    {
      message:
        "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
      param: "messages[0].role",
      code: "invalid_value",
    },
  ],
  [
    "a part of the other API",
    chat,
    { model: "gpt-4o", messages: [{ role: "user", content: [{ type: "input_text", text: "x" }] }] },
    400,
    { param: "messages[0].content[0].type", code: "invalid_value" },
  ],
  [
    "a model's own part without a model's role",
    responses,
    {
      model: "gpt-5.5",
      input: [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }],
    },
    400,
    { message: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'." },
  ],
  [
    "max_tokens on a reasoning model",
    chat,
    { model: "gpt-5.5", messages: [user("x")], max_tokens: 10 },
    400,
    {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      param: "max_tokens",
      code: "unsupported_parameter",
    },
  ],
  [
    "temperature on a reasoning model",
    chat,
    { model: "gpt-5.5", messages: [user("x")], temperature: 0.2 },
    400,
    {
      message:
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      code: "unsupported_value",
    },
  ],
  [
    "too small a limit",
    responses,
    { model: "gpt-5.5", input: "x", max_output_tokens: 1 },
    400,
    {
      message:
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
      code: "integer_below_min_value",
    },
  ],
  [
    "too large a limit",
    chat,
    { model: "gpt-4o", messages: [user("x")], max_tokens: 99_999 },
    400,
    {
      message:
        "max_tokens is too large: 99999. This model supports at most 16384 completion tokens, whereas you provided 99999.",
      param: "max_tokens",
    },
  ],
  [
    "a function call without its output",
    responses,
    {
      model: "gpt-5.5",
      input: [user("x"), { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" }],
    },
    400,
    {
      message: "No tool output found for function call call_1.",
      type: "invalid_request_error",
      param: "input",
      code: null,
    },
  ],
  [
    "an output without its function call",
    responses,
    { model: "gpt-5.5", input: [{ type: "function_call_output", call_id: "call_1", output: "x" }] },
    400,
    { message: "No tool call found for function call output with call_id call_1." },
  ],
  [
    "a chat tool call without its answer",
    chat,
    {
      model: "gpt-4o",
      messages: [
        user("x"),
        {
          role: "assistant",
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } },
          ],
        },
        user("y"),
      ],
    },
    400,
    {
      message:
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
      param: "messages",
      code: null,
    },
  ],
  [
    "a chat tool message without its call",
    chat,
    {
      model: "gpt-4o",
      messages: [user("x"), { role: "tool", tool_call_id: "call_1", content: "" }],
    },
    400,
    {
      message:
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      param: "messages.[1].role",
    },
  ],
  [
    "more than one choice",
    chat,
    { model: "gpt-4o", messages: [user("x")], n: 2 },
    400,
    { message: "More than one choice is not simulated." },
  ],
];

test.each(refusals)("%s is refused", (_name, path, body, status, error) => {
  const kit = createKit();
  const reply = kit.post(path, body);
  expect(reply.json.error).toMatchObject(error);
  expect(reply.status).toBe(status);
  expect(reply.headers["x-request-id"]).toMatch(/^req_/);
  expect(Object.keys(reply.json.error)).toEqual(["message", "type", "param", "code"]);
  expect(kit.records).toEqual([]);
});

describe("too long a prompt", () => {
  const long = words("a", 130_000);

  test("Responses speak of the context window, with and without a stream", () => {
    const error = {
      message:
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
      type: "invalid_request_error",
      param: "input",
      code: "context_length_exceeded",
    };
    for (const stream of [false, true]) {
      const reply = createKit().post(responses, { model: "gpt-4o", input: long, stream });
      expect([reply.status, reply.json.error]).toEqual([400, error]);
    }
  });

  test("Chat names both lengths", () => {
    const reply = createKit().post(chat, { model: "gpt-4o", messages: [user(long)] });
    expect(reply.json.error).toEqual({
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130007 tokens. Please reduce the length of the messages.",
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    });
  });
});

describe("faults", () => {
  test("a rate limit says when to try again", () => {
    const limited = fault({ kind: "rate limited", retryAfterSeconds: 2 });
    expect(limited.status).toBe(429);
    expect(limited.error).toMatchObject({ code: "rate_limit_exceeded", param: null });
    expect(limited.error.message).toContain("Please try again in 2s.");
    expect(limited.headers).toMatchObject({
      "retry-after": "2",
      "retry-after-ms": "2000",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "2s",
    });
    expect(fault({ kind: "rate limited", retryAfterSeconds: null }).headers).not.toHaveProperty(
      "retry-after",
    );
  });

  test("server errors, overload and overflow have the provider's types and codes", () => {
    expect(fault({ kind: "server error" })).toMatchObject({
      status: 500,
      error: { type: "server_error" },
    });
    expect(fault({ kind: "overloaded" })).toMatchObject({
      status: 503,
      error: {
        message: "Our servers are currently overloaded. Please try again later.",
        type: "service_unavailable_error",
        code: "server_is_overloaded",
      },
    });
    expect(fault({ kind: "overflow", tokens: 300, tokensMax: 200 })).toMatchObject({
      status: 400,
      error: { code: "context_length_exceeded", param: "input" },
    });
    expect(
      fault({ kind: "overflow", tokens: 300, tokensMax: 200 }, "/v1/chat/completions"),
    ).toMatchObject({ error: { code: "context_length_exceeded", param: "messages" } });
  });
});

test("the list of models has what is served and nothing retired", () => {
  const { json } = createKit().get("/v1/models");
  const ids = json.data.map(({ id }: Body) => id);
  expect(json.object).toBe("list");
  expect(ids).toContain("gpt-6.1-sol");
  expect(ids).not.toContain("gpt-4-32k");
  expect(json.data[0]).toEqual({ id: ids[0], object: "model", created: 0, owned_by: "openai" });
});
