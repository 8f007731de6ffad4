import { describe, expect, test } from "vitest";
import type { Recorded } from "../recording.ts";
import { createRequestLogReader } from "./read-request-log.ts";
import { excerptsIn, promptsIn, recordingsOf, requestsIn, skippedIn } from "./test-kit.ts";

const read = (...lines: object[]): Recorded[] => recordingsOf(createRequestLogReader, lines);
const text = (said: string, more: object = {}): object => ({ type: "text", text: said, ...more });
const says = (role: string, content: unknown): object => ({ role, content });
const marked = { cache_control: { type: "ephemeral" } };
const long = { cache_control: { type: "ephemeral", ttl: "1h" } };
const tool = { name: "Read", description: "Reads.", input_schema: { type: "object" } };
const body = (messages: readonly object[], more: object = {}): object => ({
  model: "claude-opus-4-6",
  max_tokens: 100,
  tools: [tool],
  system: [text("Rules.")],
  messages,
  ...more,
});

const use = (input: object): object[] => [{ type: "tool_use", id: "t", name: "f", input }];

describe("requests of the Messages API", () => {
  test("become what changed, however text is written and wherever markers are", () => {
    const recorded = read(
      body([says("user", [text("One", marked)])], {
        tools: [{ ...tool, ...long }],
        system: [text("Rules.", long)],
      }),
      body([says("user", "One"), says("assistant", "first"), says("user", [text("Two", marked)])]),
    );
    expect(requestsIn(recorded).map(({ keep, append }) => [keep, append.length])).toEqual([
      [0, 3],
      [3, 2],
    ]);
    expect(requestsIn(recorded).map(({ markers }) => markers)).toEqual([
      [
        { block: 0, lifetime: "1h" },
        { block: 1, lifetime: "1h" },
        { block: 2, lifetime: "5m" },
      ],
      [{ block: 4, lifetime: "5m" }],
    ]);
    expect(recorded[0]).toMatchObject({
      type: "session",
      session: { id: "a.jsonl", format: "request-log", wire: "anthropic-messages", agent: null },
    });
    expect(requestsIn(recorded)[0]).toMatchObject({ thread: "", startMs: null, usage: null });
  });

  test("a marker in a tool result or for the whole request is put on the block it ends up on", () => {
    const content = [{ type: "tool_result", tool_use_id: "t", content: [text("ok", marked)] }];
    const thinking = [{ type: "thinking", thinking: "", signature: "s" }];
    const recorded = read(
      body([says("user", content)]),
      body([says("user", "One"), says("assistant", thinking)], long),
    );
    expect(requestsIn(recorded).map(({ markers }) => markers)).toEqual([
      [{ block: 2, lifetime: "5m" }],
      [{ block: 2, lifetime: "1h" }],
    ]);
  });

  test("blocks have the kinds that marker rules speak of", () => {
    const content = [
      text(""),
      { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      { type: "web_search_tool_result", tool_use_id: "s", content: [] },
      { type: "redacted_thinking", data: "x" },
      { type: "fallback" },
    ];
    const late = { role: "system", content: "Now.", clear_at: "next_user_message" };
    const recorded = read(body([says("user", "One"), says("assistant", content), late]));
    expect(
      promptsIn(recorded)[0]
        ?.slice(3)
        .map(({ kind, role, mayCarryMarker }) => [kind, role, mayCarryMarker]),
    ).toEqual([
      ["empty text", "assistant", false],
      ["server tool block", "assistant", true],
      ["server tool block", "assistant", true],
      ["redacted_thinking", "assistant", false],
      ["other", "assistant", true],
      ["system message cleared at the next user message", "system", false],
    ]);
  });

  test("deferred tools are outside the prompt: new ones change nothing", () => {
    const deferred = { name: "Other", input_schema: {}, defer_loading: true };
    const recorded = read(
      body([says("user", "One")]),
      body([says("user", "One"), says("assistant", "two")], { tools: [deferred, tool] }),
    );
    expect(requestsIn(recorded).map(({ keep, append }) => [keep, append.length])).toEqual([
      [0, 3],
      [3, 1],
    ]);
  });

  test("what is not text is compared without regard to the order of keys, but a tool's input with it", () => {
    const recorded = read(
      body([says("user", "One"), says("assistant", use({ a: 1, b: 2 }))]),
      body([says("user", "One"), says("assistant", use({ a: 1, b: 2 }))], {
        tools: [{ input_schema: { type: "object" }, description: "Reads.", name: "Read" }],
      }),
      body([says("user", "One"), says("assistant", use({ b: 2, a: 1 }))]),
    );
    expect(requestsIn(recorded).map(({ keep }) => keep)).toEqual([0, 4, 3]);
  });
});

describe("requests of Chat Completions", () => {
  const messages = [
    says("developer", "Rules."),
    says("user", [text("One", { prompt_cache_breakpoint: { mode: "explicit" } })]),
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
    },
    { role: "tool", tool_call_id: "c", content: "ok" },
    says("system", "Be quick."),
  ];
  const recorded = read({
    request: {
      model: "gpt-5.5",
      messages,
      tools: [{ type: "function", function: { name: "f", parameters: {} } }],
      parallel_tool_calls: false,
      prompt_cache_key: "k",
      reasoning_effort: "low",
      service_tier: "auto",
    },
    time: 1_770_000_000,
    response: {
      status: 200,
      usage: {
        prompt_tokens: 100,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 64 },
      },
    },
  });

  test("give tools, the first system messages and then the conversation", () => {
    expect(recorded[0]).toMatchObject({ session: { wire: "openai-chat" } });
    expect(
      promptsIn(recorded)[0]?.map(({ tier, kind, role, mayCarryMarker }) => [
        tier,
        kind,
        role,
        mayCarryMarker,
      ]),
    ).toEqual([
      ["T0", "tool definition", "tools", false],
      ["T1", "system text", "system", true],
      ["T3", "text", "user", true],
      ["T3", "tool_use", "assistant", false],
      ["T3", "tool_result", "user", false],
      ["T3", "system text", "system", true],
    ]);
    expect(requestsIn(recorded)[0]).toMatchObject({
      startMs: 1_770_000_000_000,
      usage: { uncachedTokens: 36, cacheReadTokens: 64, outputTokens: 5 },
      markers: [{ block: 2, lifetime: "30m" }],
      settings: { "parallel tool use": "off", "cache key": "k", effort: "low" },
    });
  });
});

const responses = (id: string, more: readonly object[]): object => ({
  model: "gpt-5.5",
  instructions: "Rules.",
  tools: [{ type: "function", name: "f", parameters: {} }],
  input: [
    {
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "Late rules." }],
    },
    { id, type: "message", role: "user", content: [{ type: "input_text", text: "One" }] },
    ...more,
  ],
  text: { verbosity: "low", format: { type: "text" } },
});

describe("requests of the Responses API", () => {
  test("give tools, instructions and items, compared without their ids", () => {
    const more = [
      { type: "custom_tool_call", call_id: "c", name: "exec", input: "ls()" },
      {
        type: "custom_tool_call_output",
        call_id: "c",
        output: [{ type: "input_text", text: "a" }],
      },
    ];
    const recorded = read(responses("msg_1", []), responses("msg_2", more));
    expect(requestsIn(recorded).map(({ keep, append }) => [keep, append.length])).toEqual([
      [0, 4],
      [4, 2],
    ]);
    expect(excerptsIn(recorded)[1]).toEqual([
      'tools: {"name":"f","parameters":{},"type":"function"}',
      "system: Rules.",
      "system: Late rules.",
      "user: One",
      "assistant: exec ls()",
      "user: a",
    ]);
    expect(requestsIn(recorded)[0]?.settings).toEqual({ verbosity: "low" });
  });

  test("text alone is a message of the user", () => {
    expect(excerptsIn(read({ model: "gpt-5.5", input: "Hi" }))).toEqual([["user: Hi"]]);
  });
});

const logged = (messages: readonly object[]): object => ({
  body: body(messages),
  session_id: "s1",
});

describe("threads of a log", () => {
  test("differ by what comes before the messages and by the first user message", () => {
    const title = {
      model: "claude-haiku-4-5",
      max_tokens: 9,
      system: "Title",
      messages: [says("user", "One")],
    };
    const recorded = read(
      body([says("user", "One")]),
      title,
      body([says("user", "One"), says("assistant", "two")]),
      body([says("user", "Other")]),
    );
    const [main, second, again, third] = requestsIn(recorded);
    expect([main?.thread, again?.thread, again?.keep]).toEqual(["", "", 3]);
    expect(second?.thread).toMatch(/^[0-9a-f]{12}$/);
    expect(third?.thread).toMatch(/^[0-9a-f]{12}$/);
    expect(third?.thread).not.toBe(second?.thread);
  });

  test("are one if the client gives one id, even after a compaction", () => {
    const recorded = read(logged([says("user", "One")]), logged([says("user", "Summary")]));
    expect(requestsIn(recorded).map(({ thread, keep }) => [thread, keep])).toEqual([
      ["", 0],
      ["", 2],
    ]);
  });

  test("of different wires are sessions of their own", () => {
    const recorded = read(body([says("user", "One")]), { model: "gpt-5.5", input: "Hi" });
    expect(recorded.flatMap((each) => (each.type === "session" ? [each.session.id] : []))).toEqual([
      "a.jsonl",
      "a.jsonl openai-responses",
    ]);
  });
});

describe("lines around a request", () => {
  test("bodies as text, times in seconds, usage from a stream", () => {
    const body_raw = [
      "event: message_start",
      'data: {"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}}}',
      "",
      'data: {"type":"message_delta","usage":{"output_tokens":12}}',
      "data: [DONE]",
    ].join("\n");
    const recorded = read({
      request: {
        timestamp: 1_770_000_000.25,
        url: "https://api.anthropic.com/v1/messages",
        body: JSON.stringify(body([says("user", "One")])),
      },
      response: { timestamp: 1_770_000_003, status_code: 200, body_raw },
    });
    expect(requestsIn(recorded)[0]).toMatchObject({
      startMs: 1_770_000_000_250,
      endMs: 1_770_000_003_000,
      usage: { uncachedTokens: 3, cacheReadTokens: 7, outputTokens: 12 },
    });
  });

  test("what was refused, only counted, or continued at the provider is named", () => {
    const request = body([says("user", "One")]);
    const recorded = read(
      { request, response: { status: 429 } },
      { request: { url: "/v1/messages/count_tokens", body: request } },
      { model: "gpt-5.5", input: "Hi", previous_response_id: "resp_1" },
      body([says("user", "One")], { thread: { type: "continue", previous_message_id: "m" } }),
      { note: "nothing" },
    );
    expect(skippedIn(recorded)).toEqual([
      "1: the provider refused it with status 429",
      "2: it only counts tokens",
      "3: it continues a conversation that only the provider has",
      "4: it continues a conversation that only the provider has",
      "5: it holds no request",
    ]);
  });
});
