// Goal: bad input gets the provider's error, word for word (providers.md §1.14). Method: one request per row.
import { describe, expect, test } from "vitest";
import {
  createClient,
  marked,
  marked1h,
  text,
  tool,
  words,
  type Answer,
  type Any,
} from "./test-kit.ts";

const hi = [{ role: "user", content: "hi" }];
const base = { model: "claude-opus-5", max_tokens: 100, messages: hi };

function messageOf({ status, body, headers }: Answer): string {
  expect(status).toBe(400);
  expect(body).toEqual({
    type: "error",
    error: { type: "invalid_request_error", message: body.error.message, ...detailsOf(body) },
    request_id: headers["request-id"],
  });
  return body.error.message;
}

function detailsOf({ error }: Any): object {
  return error.details === undefined ? {} : { details: error.details };
}

function refusal(extra: object): string {
  return messageOf(createClient().create({ ...base, ...extra }));
}

function ofBlocks(content: readonly unknown[]): object {
  return { messages: [{ role: "user", content }] };
}

describe("markers", () => {
  test("more than four", () => {
    const five = [1, 2, 3, 4, 5].map((index) => text(`b${index}`, marked));
    expect(refusal(ofBlocks(five))).toBe(
      "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
  });

  test("markers on tools, system and inside results all count", () => {
    const message = refusal({
      tools: [tool("read", marked)],
      system: [text("s", marked)],
      messages: [
        { role: "user", content: [text("a", marked)] },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "a", name: "read", input: {}, ...marked }],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "a", content: [text("x", marked)] }],
        },
      ],
    });
    expect(message).toBe("A maximum of 4 blocks with cache_control may be provided. Found 5.");
  });

  test("markers inside a document count too", () => {
    const content = [1, 2, 3, 4, 5].map((index) => text(`b${index}`, marked));
    const document = { type: "document", source: { type: "content", content } };
    expect(refusal(ofBlocks([document]))).toBe(
      "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
    const late = { type: "document", source: { type: "content", content: [text("a", marked1h)] } };
    expect(refusal(ofBlocks([text("s", marked), late]))).toContain(
      "messages.0.content.1.document.source.content.0.cache_control.ttl: a ttl='1h'",
    );
  });

  test("an hour after five minutes", () => {
    const note =
      "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.";
    expect(refusal({ system: [text("s", marked)], ...ofBlocks([text("a", marked1h)]) })).toBe(
      `messages.0.content.0.cache_control.ttl: ${note}`,
    );
    expect(refusal({ tools: [tool("read", marked)], system: [text("s", marked1h)] })).toBe(
      `system.0.cache_control.ttl: ${note}`,
    );
    expect(refusal({ tools: [tool("a", marked), tool("b", marked1h)] })).toBe(
      `tools.1.cache_control.ttl: ${note}`,
    );
  });

  test("on empty text", () => {
    const turns = [...hi, { role: "assistant", content: "ok" }];
    expect(refusal({ messages: [...turns, { role: "user", content: [text("", marked)] }] })).toBe(
      "messages.2.content.0.text: cache_control cannot be set for empty text blocks",
    );
  });

  test("on thinking", () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "s", ...marked };
    const messages = [...hi, { role: "assistant", content: [thinking, text("ok")] }, ...hi];
    expect(refusal({ messages })).toBe(
      "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    );
  });

  test("on a deferred tool", () => {
    const tools = [tool("read"), tool("rare", { defer_loading: true, ...marked })];
    expect(refusal({ tools })).toBe(
      "Tool 'rare' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.",
    );
  });

  test("of an unknown lifetime", () => {
    const odd = { cache_control: { type: "ephemeral", ttl: "2h" } };
    expect(refusal(ofBlocks([text("a", odd)]))).toBe(
      "messages.0.content.0.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    );
  });
});

describe("length", () => {
  const long = [{ role: "user", content: words(95_000) }];

  test("a prompt longer than the window", () => {
    const client = createClient();
    const model = "claude-haiku-4-5";
    const { input_tokens: tokens } = client.count({ model, messages: long }).body;
    expect(tokens).toBeGreaterThan(200_000);
    expect(messageOf(client.create({ model, max_tokens: 10, messages: long }))).toBe(
      `prompt is too long: ${tokens} tokens > 200000 maximum`,
    );
    expect(client.records).toEqual([]);
  });

  const nearly = [{ role: "user", content: words(75_000) }];

  test("prompt and output together longer than the window, before 4.5", () => {
    const client = createClient();
    const model = "claude-sonnet-4";
    const { input_tokens: tokens } = client.count({ model, messages: nearly }).body;
    expect(messageOf(client.create({ model, max_tokens: 40_000, messages: nearly }))).toBe(
      `input length and \`max_tokens\` exceed context limit: ${tokens} + 40000 > 200000, decrease input length or \`max_tokens\` and try again`,
    );
  });

  test("the same is accepted from 4.5 on, and may end at the window", () => {
    const client = createClient();
    const { status, body } = client.create({
      model: "claude-sonnet-4-5",
      max_tokens: 60_000,
      messages: nearly,
    });
    expect(status).toBe(200);
    expect(body.stop_reason).toBe("model_context_window_exceeded");
  });

  test("an output limit beyond the model's", () => {
    expect(refusal({ max_tokens: 200_000 })).toBe(
      "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5",
    );
  });
});

describe("tool uses and results", () => {
  test("a missing result", () => {
    expect(refusal({ messages: [...hi, use("a", "b", "c"), result("b")] })).toBe(
      missing(1, "a, c"),
    );
    expect(refusal({ messages: [...hi, use("a"), ...hi] })).toBe(missing(1, "a"));
    expect(refusal({ messages: [...hi, use("a")] })).toBe(missing(1, "a"));
  });

  test("a result behind other content", () => {
    const content = [text("first"), ...result("a").content];
    expect(refusal({ messages: [...hi, use("a"), { role: "user", content }] })).toBe(
      missing(1, "a"),
    );
  });

  test("a result without its use", () => {
    expect(refusal({ messages: [...hi, use("a"), result("a", "b")] })).toBe(
      "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: b. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
    );
  });

  test("two results for one use", () => {
    expect(refusal({ messages: [...hi, use("a"), result("a", "a")] })).toBe(
      "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
    );
  });

  test("one id for two uses", () => {
    expect(refusal({ messages: [...hi, use("a"), result("a"), use("a"), result("a")] })).toBe(
      "messages: `tool_use` ids must be unique",
    );
  });

  test("results may be spread over consecutive user messages", () => {
    const messages = [...hi, use("a", "b"), result("a"), result("b")];
    expect(createClient().create({ ...base, messages }).status).toBe(200);
  });
});

test.each<readonly [string, object, string]>([
  ["empty text", ofBlocks([text("")]), "messages: text content blocks must be non-empty"],
  [
    "blank text",
    ofBlocks([text(" \n")]),
    "messages: text content blocks must contain non-whitespace text",
  ],
  ["empty system text", { system: [text("")] }, "system: text content blocks must be non-empty"],
  [
    "an empty message",
    { messages: [{ role: "user", content: "" }] },
    "messages.0: all messages must have non-empty content except for the optional final assistant message",
  ],
  ["an unknown field", { frobnicate: 1 }, "frobnicate: Extra inputs are not permitted"],
  [
    "an unknown field of a block",
    ofBlocks([text("a", { color: "red" })]),
    "messages.0.content.0.text.color: Extra inputs are not permitted",
  ],
  [
    "an unknown field of a message",
    { messages: [{ role: "user", content: "a", name: "me" }] },
    "messages.0.name: Extra inputs are not permitted",
  ],
  ["no messages", { messages: [] }, "messages: at least one message is required"],
  ["messages that are no list", { messages: "hi" }, "messages: Input should be a valid list"],
  ["no output limit", { max_tokens: null }, "max_tokens: Field required"],
  ["a text for a number", { max_tokens: "9" }, "max_tokens: Input should be a valid integer"],
  [
    "a conversation that begins with the assistant",
    { messages: [{ role: "assistant", content: "hi" }, ...hi] },
    'messages: first message must use the "user" role',
  ],
  [
    "an unknown role",
    { messages: [{ role: "robot", content: "hi" }] },
    "messages.0.role: Input should be 'user', 'assistant' or 'system'",
  ],
  [
    "an assistant ending in a space",
    { messages: [...hi, { role: "assistant", content: "So " }] },
    "messages: final assistant content cannot end with trailing whitespace",
  ],
  ["two tools of one name", { tools: [tool("a"), tool("a")] }, "tools: Tool names must be unique."],
  [
    "a tool without a schema",
    { tools: [{ name: "a" }] },
    "tools.0.custom.input_schema: Field required",
  ],
  [
    "a tool with an odd name",
    { tools: [tool("a b")] },
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  ],
  [
    "forced choice of an unknown tool",
    { tools: [tool("a")], tool_choice: { type: "tool", name: "b" } },
    "Tool 'b' not found in provided tools",
  ],
  [
    "a small thinking budget",
    { thinking: { type: "enabled", budget_tokens: 10 } },
    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
  ],
  [
    "context editing without its beta",
    { context_management: { edits: [] } },
    "context_management: Extra inputs are not permitted",
  ],
  [
    "sampling where the model has none",
    { temperature: 0 },
    "`temperature` is deprecated for this model.",
  ],
  ["MCP servers", { mcp_servers: [] }, "mcp_servers: not simulated"],
])("%s is refused in the provider's words", (_what, extra, message) => {
  expect(refusal(extra)).toBe(message);
});

describe("what some models do not take", () => {
  test.each(["claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1", "claude-fable-5-2"])(
    "%s refuses a forced tool, and thinking switched on or off",
    (model) => {
      const tools = [tool("a")];
      for (const tool_choice of [{ type: "any" }, { type: "tool", name: "a" }])
        expect(refusal({ model, tools, tool_choice })).toBe(
          'tool_choice: type "tool" and "any" are not supported for this model.',
        );
      expect(refusal({ model, thinking: { type: "disabled" } })).toBe(adaptiveOnly("disabled"));
      expect(refusal({ model, thinking: { type: "enabled", budget_tokens: 2000 } })).toBe(
        adaptiveOnly("enabled"),
      );
    },
  );

  test("thinking between tools is for Sonnet 5.5", () => {
    const thinking = { type: "between_tools" };
    const client = createClient();
    expect(client.create({ ...base, model: "claude-sonnet-5-5", thinking }).status).toBe(200);
    expect(client.prompts[0]?.thinks).toBe(false);
    expect(refusal({ thinking })).toBe(adaptiveOnly("between_tools"));
  });

  test("adaptive thinking is not for old models", () => {
    expect(refusal({ model: "claude-sonnet-4-5", thinking: { type: "adaptive" } })).toBe(
      "adaptive thinking is not supported on this model",
    );
  });

  test.each(["claude-sonnet-5", "claude-sonnet-4-5", "claude-opus-4-7"])(
    "%s takes no system messages among the messages",
    (model) => {
      expect(refusal({ model, messages: [...hi, { role: "system", content: "s" }] })).toBe(
        "role 'system' is not supported on this model",
      );
    },
  );
});

test("an unknown model is not found", () => {
  for (const model of ["claude-opus-99", "gpt-5", "anthropic/claude-opus-5", "claude-opus-4.5"]) {
    const { status, body } = createClient().create({ ...base, model });
    expect([status, body.error]).toEqual([
      404,
      { type: "not_found_error", message: `model: ${model}` },
    ]);
  }
});

test.each([
  ["{", "expected a key", 1],
  ["", "unexpected end of data", 0],
  ['{"a":1,}', "expected a key", 7],
  ['{"a":"\\ud800"}', "no low surrogate in string", 6],
  ["[".repeat(100_000), "recursion limit exceeded", 501],
])("a body that is no JSON is refused: %#", (bodyText, fault, at) => {
  const answer = createClient().call("POST", "/v1/messages", bodyText);
  expect(messageOf(answer)).toBe(
    `The request body is not valid JSON: ${fault}: line 1 column ${at + 1} (char ${at})`,
  );
});

test("what is not simulated says so", () => {
  const client = createClient();
  client.betas = ["context-management-2025-06-27", "compact-2026-01-12"];
  const edited = (edit: object): string =>
    messageOf(client.create({ ...base, context_management: { edits: [edit] } }));
  expect(edited({ type: "compact_20260112" })).toBe(
    "context_management.edits.0.compact_20260112: not simulated",
  );
  expect(edited({ type: "clear_tool_uses_20250919" })).toBe(
    "context_management.edits.0.clear_tool_uses_20250919: not simulated",
  );
  const keepAll = { edits: [{ type: "clear_thinking_20251015", keep: "all" }] };
  expect(client.create({ ...base, context_management: keepAll }).body.context_management).toEqual({
    applied_edits: [],
  });
});

test("the failures one can ask for have the provider's shape", () => {
  const { fault } = createClient().surface;
  const shape = (kind: Parameters<typeof fault>[0]): unknown => {
    const { status, headers, body } = fault(kind, {
      newId: (prefix) => `${prefix}1`,
      path: "/v1/messages",
      nowMs: 0,
      workspace: "ours",
    });
    return [
      status,
      headers["retry-after"],
      typeof body === "string" ? JSON.parse(body).error : body,
    ];
  };
  expect(shape({ kind: "rate limited", retryAfterSeconds: 7 })).toMatchObject([
    429,
    "7",
    { type: "rate_limit_error" },
  ]);
  expect(shape({ kind: "rate limited", retryAfterSeconds: null })).toMatchObject([
    429,
    undefined,
    {},
  ]);
  expect(shape({ kind: "server error" })).toMatchObject([500, undefined, { type: "api_error" }]);
  expect(shape({ kind: "overloaded" })).toEqual([
    529,
    undefined,
    { type: "overloaded_error", message: "Overloaded" },
  ]);
  expect(shape({ kind: "overflow", tokens: 213_462, tokensMax: 200_000 })).toEqual([
    400,
    undefined,
    {
      type: "invalid_request_error",
      message: "prompt is too long: 213462 tokens > 200000 maximum",
    },
  ]);
});

function use(...ids: readonly string[]): Any {
  const content = ids.map((id) => ({ type: "tool_use", id, name: "read", input: {} }));
  return { role: "assistant", content };
}

function result(...ids: readonly string[]): Any {
  const content = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "x" }));
  return { role: "user", content };
}

function missing(index: number, ids: string): string {
  return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function adaptiveOnly(type: string): string {
  return `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
}
