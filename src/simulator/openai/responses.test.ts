// Goal: responses as clients read them. Method: replies and events of the surface, written out.
import { describe, expect, test } from "vitest";
import type { Reply } from "../prompt.ts";
import { createKit, startMs, words, type Body } from "./test-kit.ts";

const path = "/v1/responses";
const created = startMs / 1000;
const model = "gpt-6.1-sol";

const types = (events: readonly Body[]): string[] => events.map(({ type }) => type);

const codex = (ids: string): Body => [
  {
    type: "additional_tools",
    id: `at_${ids}`,
    role: "developer",
    tools: [
      { type: "namespace", name: "functions", tools: [{ type: "custom", name: "exec" }] },
      { type: "web_search" },
    ],
  },
  {
    type: "message",
    id: `msg_${ids}`,
    role: "developer",
    content: [{ type: "input_text", text: words("rules", 1500) }],
  },
  { type: "message", role: "user", content: [{ type: "input_text", text: "List files" }] },
];

const cached = ({ events }: Body): number =>
  events.at(-1).response.usage.input_tokens_details.cached_tokens;

test("a response has the fields of the API", () => {
  const kit = createKit();
  const { json } = kit.post(path, { model, input: "Hi" });
  expect(json).toEqual({
    id: "resp_1",
    object: "response",
    created_at: created,
    access_programs: null,
    background: false,
    completed_at: created,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    model,
    output: [
      {
        id: "msg_2",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", annotations: [], logprobs: [], text: "You said: Hi" }],
      },
    ],
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_options: { mode: "implicit", ttl: "30m" },
    prompt_cache_retention: null,
    reasoning: { effort: "medium", summary: null },
    safety_identifier: null,
    service_tier: "default",
    status: "completed",
    store: true,
    temperature: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: {
      input_tokens: 8,
      input_tokens_details: {
        cached_tokens: 0,
        cache_write_tokens: 0,
        cache_write_tokens_details: { ttl_30m_tokens: 0, ttl_12h_tokens: 0 },
      },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 12,
    },
    user: null,
  });
});

test("models without breakpoints report no options and no lifetimes", () => {
  const { json } = createKit().post(path, { model: "gpt-5.5", input: "Hi" });
  expect(json).not.toHaveProperty("prompt_cache_options");
  expect(json.usage.input_tokens_details).toEqual({ cached_tokens: 0, cache_write_tokens: 0 });
});

describe("streams", () => {
  test("text comes in the documented order, numbered from zero", () => {
    const kit = createKit();
    const { events, text } = kit.post(path, { model, input: "Hi", stream: true });
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map((event: Body) => event.sequence_number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(events[0].response).toMatchObject({ status: "in_progress", output: [], usage: null });
    expect(events[2].item).toMatchObject({ id: "msg_2", status: "in_progress", content: [] });
    expect(events[4]).toMatchObject({ item_id: "msg_2", output_index: 0, content_index: 0 });
    expect(events.at(-1).response).toEqual(createKit().post(path, { model, input: "Hi" }).json);
    expect(text.startsWith("event: response.created\ndata: {")).toBe(true);
  });

  const reply: Reply = {
    parts: [
      { kind: "thinking", text: "Let me look." },
      { kind: "tool use", name: "read", inputJson: '{"path":"a"}' },
      { kind: "tool use", name: "exec", inputJson: JSON.stringify("await x()") },
    ],
    stop: "tool use",
  };
  const tools = [
    { type: "function", name: "read", parameters: {}, strict: false },
    {
      type: "namespace",
      name: "shell",
      description: "",
      tools: [{ type: "custom", name: "exec" }],
    },
  ];

  test("reasoning, function calls and custom calls stream as items of their own", () => {
    const kit = createKit();
    kit.answer = () => reply;
    const more = { reasoning: { summary: "auto" }, include: ["reasoning.encrypted_content"] };
    const { events } = kit.post(path, { model, input: "Hi", tools, stream: true, ...more });
    expect(types(events).slice(2, -1)).toEqual([
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.custom_tool_call_input.delta",
      "response.custom_tool_call_input.done",
      "response.output_item.done",
    ]);
    const { output, usage } = events.at(-1).response;
    expect(output).toEqual([
      {
        id: "rs_2",
        type: "reasoning",
        summary: [{ type: "summary_text", text: "Let me look." }],
        encrypted_content: "gAAAAAsim-TGV0IG1lIGxvb2su",
      },
      {
        id: "fc_3",
        type: "function_call",
        status: "completed",
        arguments: '{"path":"a"}',
        call_id: "call_4",
        name: "read",
      },
      {
        id: "ctc_5",
        type: "custom_tool_call",
        status: "completed",
        input: "await x()",
        call_id: "call_6",
        name: "exec",
        namespace: "shell",
      },
    ]);
    expect(usage.output_tokens_details.reasoning_tokens).toBe(4);
  });

  test("reasoning shows neither summary nor content unless asked for", () => {
    const kit = createKit();
    kit.answer = () => reply;
    const { json } = kit.post(path, { model, input: "Hi", tools });
    expect(json.output[0]).toEqual({ id: "rs_2", type: "reasoning", summary: [] });
  });

  test("an output limit ends the stream as incomplete", () => {
    const kit = createKit();
    kit.answer = () => ({ parts: [{ kind: "text", text: words("a", 50) }], stop: "end" });
    const { events } = kit.post(path, { model, input: "Hi", max_output_tokens: 16, stream: true });
    const { type, response } = events.at(-1);
    expect(type).toBe("response.incomplete");
    expect(response.status).toBe("incomplete");
    expect(response.incomplete_details).toEqual({ reason: "max_output_tokens" });
    expect(response.output[0].status).toBe("incomplete");
    expect(response.usage.output_tokens).toBe(16);
  });
});

describe("counting", () => {
  test("input_tokens is what the same request is billed for", () => {
    const kit = createKit();
    const body = {
      model,
      instructions: "Be brief.",
      tools: [{ type: "function", name: "read", parameters: { type: "object" } }],
      input: [{ role: "user", content: words("a", 300) }],
    };
    const counted = kit.post("/v1/responses/input_tokens", body).json;
    const { usage } = kit.post(path, body).json;
    expect(counted).toEqual({ object: "response.input_tokens", input_tokens: usage.input_tokens });
    expect(kit.records).toHaveLength(1);
  });

  test("input_tokens takes only what a prompt is made of", () => {
    const body = { model, input: "Hi", max_output_tokens: 100 };
    const { status, json } = createKit().post("/v1/responses/input_tokens", body);
    expect(status).toBe(400);
    expect(json.error).toEqual({
      message: "Unknown parameter: 'max_output_tokens'.",
      type: "invalid_request_error",
      param: "max_output_tokens",
      code: "unknown_parameter",
    });
  });
});

describe("state", () => {
  test("previous_response_id brings the whole conversation back, without its instructions", () => {
    const kit = createKit();
    const first = kit.post(path, {
      model,
      instructions: "Be brief.",
      input: words("a", 1500),
    }).json;
    const second = kit.post(path, { model, input: "More", previous_response_id: first.id }).json;
    expect(kit.prompts[1]?.system).toBe("");
    expect(kit.prompts[1]?.turns.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(second.previous_response_id).toBe(first.id);
    const again = { model, instructions: "Be brief.", input: "More" };
    const third = kit.post(path, { ...again, previous_response_id: first.id }).json;
    expect(third.usage.input_tokens_details.cached_tokens).toBe(
      first.usage.input_tokens_details.cache_write_tokens,
    );
  });

  test("what a client sends back itself equals what the provider remembers", () => {
    const kit = createKit();
    kit.answer = () => ({
      parts: [
        { kind: "thinking", text: "Hm." },
        { kind: "tool use", name: "read", inputJson: "{}" },
      ],
      stop: "tool use",
    });
    const start = { model, include: ["reasoning.encrypted_content"] };
    const question = { role: "user", content: words("a", 1500) };
    const first = kit.post(path, { ...start, input: [question] }).json;
    const call = first.output[1];
    const output = { type: "function_call_output", call_id: call.call_id, output: words("b", 100) };
    const second = kit.post(path, {
      ...start,
      input: [output],
      previous_response_id: first.id,
    }).json;
    const sent = kit.post(path, { ...start, input: [question, ...first.output, output] }).json;
    expect(sent.usage.input_tokens).toBe(second.usage.input_tokens);
    expect(sent.usage.input_tokens_details.cached_tokens).toBe(
      second.usage.input_tokens_details.cached_tokens +
        second.usage.input_tokens_details.cache_write_tokens,
    );
  });

  test("an unknown, an unstored and a stranger's response are not found", () => {
    const kit = createKit();
    const ask = (id: string): Body =>
      kit.post(path, { model, input: "x", previous_response_id: id });
    const error = {
      message: "Previous response with id 'resp_none' not found.",
      type: "invalid_request_error",
      param: "previous_response_id",
      code: "previous_response_not_found",
    };
    const unknown = ask("resp_none");
    expect([unknown.status, unknown.json.error]).toEqual([400, error]);
    const unstored = kit.post(path, { model, input: "x", store: false }).json;
    expect(ask(unstored.id).status).toBe(400);
    const mine = kit.post(path, { model, input: "x" }).json;
    expect(ask(mine.id).status).toBe(200);
    kit.workspace = "stranger";
    expect(ask(mine.id).status).toBe(400);
  });

  test("an item may be sent by its id", () => {
    const kit = createKit();
    const first = kit.post(path, { model, input: "Hi" }).json;
    const reference = { type: "item_reference", id: first.output[0].id };
    const history = [{ role: "user", content: "Hi" }, reference, { role: "user", content: "More" }];
    expect(kit.post(path, { model, input: history }).status).toBe(200);
    expect(kit.prompts[1]?.turns[1]).toMatchObject({ role: "assistant", text: "You said: Hi" });
    const lost = kit.post(path, { model, input: [{ type: "item_reference", id: "msg_x" }] });
    expect(lost.status).toBe(404);
    expect(lost.json.error.message).toBe(
      "Item with id 'msg_x' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    );
  });
});

describe("what agents send", () => {
  test("Codex: tools come as an item, and ids of items change from run to run", () => {
    const kit = createKit();
    kit.answer = () => ({
      parts: [{ kind: "tool use", name: "exec", inputJson: '"await tools.exec_command()"' }],
      stop: "tool use",
    });
    const more = { model, store: false, include: ["reasoning.encrypted_content"], stream: true };
    const first = kit.post(path, { ...more, input: codex("1"), client_metadata: { a: 1, b: 2 } });
    expect(kit.prompts[0]?.tools).toEqual([{ name: "exec", description: "", inputSchema: null }]);
    const [call] = first.events.at(-1).response.output;
    expect(call).toMatchObject({ type: "custom_tool_call", namespace: "functions" });
    const output = {
      type: "custom_tool_call_output",
      id: "fco_1",
      call_id: call.call_id,
      output: "a.ts",
    };
    const second = kit.post(path, {
      ...more,
      input: [...codex("2"), call, output],
      client_metadata: { b: 2, a: 1 },
    });
    expect(cached(second)).toBe(
      first.events.at(-1).response.usage.input_tokens_details.cache_write_tokens,
    );
    expect(kit.prompts[1]?.turns.at(-1)?.toolResults).toEqual([
      { id: call.call_id, text: "a.ts", isError: false },
    ]);
  });

  test("unknown items pass, and count by their own text", () => {
    const kit = createKit();
    const ask = (item: Body): number =>
      kit.post(path, { model, input: [item, { role: "user", content: words("a", 1500) }] }).json
        .usage.input_tokens_details.cached_tokens;
    const item = {
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { query: "q" },
    };
    expect(ask(item)).toBe(0);
    expect(ask({ ...item, id: "ws_2" })).toBeGreaterThan(1500);
    expect(ask({ ...item, action: { query: "other" } })).toBe(0);
    expect(ask({ type: "brand_new_item", anything: [1, 2] })).toBe(0);
  });
});
