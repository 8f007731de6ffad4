// Goal: prewarm, diagnostics and compaction. Method: pairs of requests through the surface.
import { describe, expect, test } from "vitest";
import { createKit, words, type Body, type Kit } from "./test-kit.ts";

const path = "/v1/responses";
const model = "gpt-6.1-sol";
const user = (text: string): Body => ({ role: "user", content: text });

const compare = (kit: Kit, id: string, body: Body): Body =>
  kit.post(path, {
    ...body,
    prompt_cache_options: { ...body.prompt_cache_options, comparison_response_id: id },
  }).json;

const summarise = (kit: Kit): void => {
  kit.answer = () => ({ parts: [{ kind: "text", text: "They read a file." }], stop: "end" });
};

describe("prewarm", () => {
  test("writes without generating, at the price of a write", () => {
    const kit = createKit();
    const input = [{ role: "developer", content: words("a", 1500) }];
    const warm = kit.post(path, { model, input, prompt_cache_options: { prewarm: true } }).json;
    expect(warm).toMatchObject({ status: "completed", output: [] });
    expect(warm.usage).toMatchObject({
      input_tokens: 1507,
      output_tokens: 0,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 1504 },
    });
    expect(kit.prompts).toEqual([]);
    // 3 × $2 + 1,504 × $2.50 per million.
    expect(kit.records[0]).toMatchObject({ costUsd: "$0.003766", stopReason: "prewarm" });
    const used = kit.post(path, { model, input: [...input, user("Hi")] }).json;
    expect(used.usage.input_tokens_details.cached_tokens).toBe(1504);
  });

  test("warms instructions and tools alone", () => {
    const kit = createKit();
    const fixed = {
      model,
      instructions: words("a", 1500),
      tools: [{ type: "function", name: "f", parameters: {} }],
    };
    const options = { prompt_cache_options: { prewarm: true } };
    const warm = kit.post(path, { ...fixed, input: [], ...options }).json.usage;
    const used = kit.post(path, { ...fixed, input: "Hi" }).json.usage;
    expect(used.input_tokens_details.cached_tokens).toBe(
      warm.input_tokens_details.cache_write_tokens,
    );
    expect(warm.input_tokens_details.cache_write_tokens).toBe(warm.input_tokens - 3);
  });

  test("streams three events and nothing else", () => {
    const options = { prompt_cache_options: { prewarm: true }, stream: true };
    const { events } = createKit().post(path, { model, input: "x", ...options });
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.completed",
    ]);
  });

  test("belongs to Responses alone", () => {
    const body = { model, messages: [user("x")], prompt_cache_options: { prewarm: true } };
    expect(createKit().post("/v1/chat/completions", body).json.error.message).toBe(
      "Unknown parameter: 'prompt_cache_options.prewarm'.",
    );
  });
});

describe("diagnostics", () => {
  const base = { model, input: [user(words("a", 1500))] };

  test("a continuation of the compared response is a hit", () => {
    const kit = createKit();
    const first = kit.post(path, base).json;
    const next = { ...base, input: [...base.input, ...first.output, user("More")] };
    const reply = compare(kit, first.id, next);
    expect(reply.prompt_cache_diagnostics).toEqual({ type: "cache_hit" });
    expect(reply.prompt_cache_options).toEqual({
      mode: "implicit",
      ttl: "30m",
      comparison_response_id: first.id,
    });
    expect(first).not.toHaveProperty("prompt_cache_diagnostics");
  });

  test.each([
    ["model_changed", { model: "gpt-6.1-terra" }],
    ["prompt_cache_key_changed", { prompt_cache_key: "other" }],
    ["service_tier_changed", { service_tier: "priority" }],
    ["tools_changed", { tools: [{ type: "function", name: "f", parameters: {} }] }],
    ["text_format_changed", { text: { format: { type: "json_object" } } }],
    ["reasoning_effort_changed", { reasoning: { effort: "low" } }],
    ["verbosity_changed", { text: { verbosity: "high" } }],
    ["input_changed", { input: [user(words("b", 1500))] }],
    [
      "context_compacted",
      { input: [{ type: "compaction", encrypted_content: "x" }, user("Go on")] },
    ],
  ])("%s is named", (reason, change) => {
    const kit = createKit();
    const first = kit.post(path, base).json;
    const reply = compare(kit, first.id, { ...base, ...change });
    expect(reply.prompt_cache_diagnostics).toEqual({
      type: "cache_miss",
      reason,
      cache_missed_tokens: reply.usage.input_tokens,
      comparison_reusable_tokens: 1504,
    });
  });

  test("missed tokens start at the first difference", () => {
    const kit = createKit();
    const start = user(words("a", 1000));
    const first = kit.post(path, { model, input: [start, user(words("b", 1000))] }).json;
    const reply = compare(kit, first.id, { model, input: [start, user("Other")] });
    expect(reply.prompt_cache_diagnostics).toMatchObject({
      reason: "input_changed",
      cache_missed_tokens: reply.usage.input_tokens - 1004,
    });
  });

  test("an unknown response is not found, an expired entry has no reason", () => {
    const kit = createKit();
    expect(compare(kit, "resp_none", base).prompt_cache_diagnostics).toEqual({
      type: "comparison_response_not_found",
    });
    const first = kit.post(path, base).json;
    kit.nowMs += 31 * 60_000;
    expect(compare(kit, first.id, base).prompt_cache_diagnostics).toEqual({ type: "unavailable" });
  });
});

describe("compaction", () => {
  const conversation = [
    { role: "developer", content: "Be brief." },
    user(words("a", 1500)),
    { role: "assistant", content: "Fine." },
    { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "text" },
    {
      role: "user",
      content: [
        { type: "input_text", text: "And now?", prompt_cache_breakpoint: { mode: "explicit" } },
      ],
    },
  ];

  test("keeps all user messages and adds one opaque item", () => {
    const kit = createKit();
    summarise(kit);
    const { json } = kit.post("/v1/responses/compact", { model, input: conversation });
    expect(json).toMatchObject({ id: "resp_1", object: "response.compaction" });
    expect(json.output).toEqual([
      {
        id: "msg_2",
        type: "message",
        status: "completed",
        role: "user",
        content: [{ type: "input_text", text: words("a", 1500) }],
      },
      {
        id: "msg_3",
        type: "message",
        status: "completed",
        role: "user",
        content: [{ type: "input_text", text: "And now?" }],
      },
      { id: "cmp_4", type: "compaction", encrypted_content: "gAAAAAsim-VGhleSByZWFkIGEgZmlsZS4" },
    ]);
    expect(json.usage.output_tokens).toBe(5);
    expect(kit.prompts[0]?.wants).toBe("summary");
    expect(kit.records).toHaveLength(1);
  });

  test("its output is taken back as input, and the model reads the summary", () => {
    const kit = createKit();
    summarise(kit);
    const { output } = kit.post("/v1/responses/compact", { model, input: conversation }).json;
    const reply = kit.post(path, { model, input: [...output, user("Go on")] });
    expect(reply.status).toBe(200);
    expect(kit.prompts[1]?.turns.map(({ text }) => text)).toContain("They read a file.");
  });

  test("it reads the cache of the conversation it compacts", () => {
    const kit = createKit();
    const first = kit.post(path, { model, input: conversation.slice(0, 2) }).json;
    const { usage } = kit.post("/v1/responses/compact", { model, input: conversation }).json;
    expect(usage.input_tokens_details.cached_tokens).toBe(
      first.usage.input_tokens_details.cache_write_tokens,
    );
  });

  test("it also takes a response that is remembered", () => {
    const kit = createKit();
    const first = kit.post(path, { model, input: "Hi" }).json;
    const compacted = kit.post("/v1/responses/compact", { model, previous_response_id: first.id });
    expect(compacted.json.output).toHaveLength(2);
  });

  test("compaction by threshold is refused, not ignored", () => {
    const context_management = [{ type: "compaction", compact_threshold: 1000 }];
    const reply = createKit().post(path, { model, input: "x", context_management });
    expect(reply.status).toBe(400);
    expect(reply.json.error.message).toBe("Compaction by 'context_management' is not simulated.");
  });
});
