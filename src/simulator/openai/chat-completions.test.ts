// Goal: chat completions as clients read them. Method: replies and events of the surface, written out.
import { expect, test } from "vitest";
import type { Reply } from "../prompt.ts";
import { createKit, startMs, words, type Body } from "./test-kit.ts";

const path = "/v1/chat/completions";
const created = startMs / 1000;
const tools = [
  { type: "function", function: { name: "read", parameters: { type: "object" } } },
  { type: "custom", custom: { name: "exec", description: "Runs code" } },
];
const callsTool = (name: string, inputJson: string): Reply => ({
  parts: [{ kind: "tool use", name, inputJson }],
  stop: "tool use",
});
const messages = [{ role: "user", content: "Hi" }];

test("a completion has the fields and the usage of the API", () => {
  const kit = createKit();
  const { json, headers } = kit.post(path, { model: "gpt-4o", messages });
  expect(json).toEqual({
    id: "chatcmpl-1",
    created,
    model: "gpt-4o",
    service_tier: "default",
    system_fingerprint: null,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "You said: Hi", refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: {
      prompt_tokens: 8,
      completion_tokens: 4,
      total_tokens: 12,
      prompt_tokens_details: {
        cached_tokens: 0,
        audio_tokens: 0,
        image_tokens: 0,
        text_tokens: 8,
      },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
  });
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "x-request-id": "req_2",
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-remaining-requests": "9999",
  });
});

test("models with breakpoints report written tokens, in the total as well", () => {
  const kit = createKit();
  const body = { model: "gpt-6.1-sol", messages: [{ role: "user", content: words("a", 1500) }] };
  const { usage } = kit.post(path, body).json;
  expect(usage.prompt_tokens).toBe(1507);
  expect(usage.prompt_tokens_details).toMatchObject({ cached_tokens: 0, cache_write_tokens: 1504 });
  expect(kit.records[0]).toMatchObject({
    surface: "openai",
    model: "gpt-6.1-sol",
    stopReason: "stop",
    // 3 × $2 + 1,504 × $2.50 + 1,503 generated × $10, all per million.
    costUsd: "$0.018796",
  });
});

test("a stream opens with a role, ends with a reason, and reports usage only when asked", () => {
  const kit = createKit();
  const body = { model: "gpt-4o", messages, stream: true };
  const chunk = { id: "chatcmpl-1", created, model: "gpt-4o", service_tier: "default" };
  const head = { ...chunk, system_fingerprint: null, object: "chat.completion.chunk" };
  const choice = (delta: object, finish_reason: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const { events, headers } = kit.post(path, body);
  expect(events).toEqual([
    choice({ role: "assistant", content: "", refusal: null }),
    choice({ content: "You said: Hi" }),
    choice({}, "stop"),
    "[DONE]",
  ]);
  expect(headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  const more = kit.post(path, { ...body, stream_options: { include_usage: true } }).events;
  expect(more.slice(0, 3).map(({ usage }) => usage)).toEqual([null, null, null]);
  expect(more[3]).toMatchObject({ choices: [], usage: { prompt_tokens: 8, total_tokens: 12 } });
  expect(more[4]).toBe("[DONE]");
});

test("a tool call streams its name first, then its arguments", () => {
  const kit = createKit();
  kit.answer = () => callsTool("read", '{"path":"a/rather/long/path/of/some/file.ts"}');
  const { events } = kit.post(path, { model: "gpt-4o", messages, tools, stream: true });
  const deltas = events.slice(0, -1).map((event: Body) => event.choices[0].delta);
  expect(deltas).toEqual([
    { role: "assistant", content: null, refusal: null },
    {
      tool_calls: [
        { index: 0, id: "call_2", type: "function", function: { name: "read", arguments: "" } },
      ],
    },
    { tool_calls: [{ index: 0, function: { arguments: '{"path":"a/rather/long/p' } }] },
    { tool_calls: [{ index: 0, function: { arguments: 'ath/of/some/file.ts"}' } }] },
    {},
  ]);
  expect(events.at(-2).choices[0].finish_reason).toBe("tool_calls");
});

test("a custom tool is called with free text", () => {
  const kit = createKit();
  kit.answer = () => callsTool("exec", '"ls -l"');
  const { json } = kit.post(path, { model: "gpt-4o", messages, tools });
  expect(json.choices[0].message).toMatchObject({
    content: null,
    tool_calls: [{ id: "call_2", type: "custom", custom: { name: "exec", input: "ls -l" } }],
  });
  expect(kit.prompts[0]?.tools).toEqual([
    { name: "read", description: "", inputSchema: { type: "object" } },
    { name: "exec", description: "Runs code", inputSchema: null },
  ]);
});

test("a tool loop is shown to the model as turns", () => {
  const kit = createKit();
  const loop = [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "Read a and b." }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "call_a", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
        { id: "call_b", type: "function", function: { name: "read", arguments: '{"path":"b"}' } },
      ],
    },
    { role: "tool", tool_call_id: "call_b", content: "B" },
    { role: "tool", tool_call_id: "call_a", content: [{ type: "text", text: "A" }] },
    { role: "developer", content: "Hurry." },
  ];
  kit.post(path, { model: "gpt-6.1-sol", messages: loop, tools, tool_choice: "required" });
  expect(kit.prompts[0]).toMatchObject({
    system: "Be brief.",
    toolChoice: "any",
    thinks: true,
    outputTokensMax: 128_000,
    turns: [
      { role: "user", text: "Read a and b." },
      { role: "assistant", toolUses: [{ id: "call_a" }, { id: "call_b" }] },
      {
        role: "user",
        toolResults: [
          { id: "call_b", text: "B" },
          { id: "call_a", text: "A" },
        ],
      },
      { role: "system", text: "Hurry." },
    ],
  });
});

test("an output limit cuts the reply and says length", () => {
  const kit = createKit();
  kit.answer = () => ({ parts: [{ kind: "text", text: words("a", 50) }], stop: "end" });
  const { json } = kit.post(path, { model: "gpt-4o", messages, max_tokens: 10 });
  expect(json.choices[0].finish_reason).toBe("length");
  expect(json.choices[0].message.content).toBe(words("a", 10));
  expect(json.usage.completion_tokens).toBe(10);
});

test("reasoning is counted and not shown", () => {
  const kit = createKit();
  kit.answer = () => ({
    parts: [
      { kind: "thinking", text: words("hm", 20) },
      { kind: "text", text: "Yes." },
    ],
    stop: "end",
  });
  const { json } = kit.post(path, { model: "gpt-5.4", messages, reasoning_effort: "low" });
  expect(json.choices[0].message.content).toBe("Yes.");
  expect(json.usage.completion_tokens).toBe(22);
  expect(json.usage.completion_tokens_details.reasoning_tokens).toBe(20);
});

test("images are counted apart from text", () => {
  const kit = createKit();
  const png = Buffer.alloc(24);
  png.write("\u0089PNG", 0, "latin1");
  png.writeUInt32BE(750, 16);
  png.writeUInt32BE(100, 20);
  const url = `data:image/png;base64,${png.toString("base64")}`;
  const content = [
    { type: "text", text: "Look" },
    { type: "image_url", image_url: { url } },
  ];
  const { json } = kit.post(path, { model: "gpt-4o", messages: [{ role: "user", content }] });
  expect(json.usage.prompt_tokens_details).toMatchObject({ image_tokens: 100, text_tokens: 8 });
});
