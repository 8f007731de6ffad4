// Goal: what besides text decides whether a prefix is found. Method: one change between two requests.
import { describe, expect, test } from "vitest";
import { assistant, createKit, markedModel, sendResponses, user, words } from "./test-kit.ts";

describe("what else decides whether a prefix is found", () => {
  const input = [user(words("a", 1500))];
  const tool = { type: "function", name: "read", parameters: { type: "object" }, strict: true };

  test.each([
    ["tools", { tools: [tool] }],
    ["parallel calls", { parallel_tool_calls: false }],
    ["format", { text: { format: { type: "json_object" } } }],
    ["effort", { reasoning: { effort: "high" } }],
    ["verbosity", { text: { verbosity: "low" } }],
    ["service tier", { service_tier: "flex" }],
    ["instructions", { instructions: "Be brief." }],
    ["model", { model: "gpt-6.1-terra" }],
  ])("another choice of %s reads nothing", (_name, more) => {
    const kit = createKit();
    sendResponses(kit, input);
    expect(sendResponses(kit, input, more).read).toBe(0);
  });

  test("an explicit default equals leaving it out", () => {
    const kit = createKit();
    const { written } = sendResponses(kit, input);
    const defaults = {
      parallel_tool_calls: true,
      text: { format: { type: "text" }, verbosity: "medium" },
      reasoning: { effort: "medium" },
      service_tier: "auto",
      prompt_cache_options: { mode: "implicit", ttl: "30m" },
      prompt_cache_retention: "24h",
      tools: [],
    };
    expect(sendResponses(kit, input, defaults).read).toBe(written);
    expect(sendResponses(kit, input, { service_tier: "default" }).read).toBe(written);
  });

  test("tool choice, limits, metadata and streaming change nothing", () => {
    const kit = createKit();
    const { written } = sendResponses(kit, input, { tools: [tool] });
    const same = {
      tools: [tool],
      tool_choice: "none",
      max_output_tokens: 100,
      metadata: { run: "2" },
      client_metadata: { b: "1", a: "2" },
      user: "me",
    };
    expect(sendResponses(kit, input, same).read).toBe(written);
  });

  test("the order of keys in a schema counts, spaces and ids of items do not", () => {
    const kit = createKit();
    const read = (text: string): number =>
      kit.post("/v1/responses", text).json.usage.input_tokens_details.cached_tokens;
    expect(read(withSchema('{"a":1,"b":1.0}', "msg_1"))).toBe(0);
    expect(read(withSchema('{ "a": 1,\n "b": 1.0 }', "msg_2"))).toBeGreaterThan(1500);
    expect(read(withSchema('{"b":1.0,"a":1}', "msg_1"))).toBe(0);
    expect(read(withSchema('{"a":1,"b":1}', "msg_1"))).toBe(0);
  });

  test("deferred tools stand outside the prefix", () => {
    const kit = createKit();
    const { written } = sendResponses(kit, input);
    expect(sendResponses(kit, input, { tools: [{ ...tool, defer_loading: true }] }).read).toBe(
      written,
    );
  });

  test("effort changed inside the conversation keeps the prefix", () => {
    const kit = createKit();
    const { written } = sendResponses(kit, input);
    const update = { type: "configuration_update", reasoning: { effort: "high" } };
    const next = [...input, assistant("Fine."), update, user("More.")];
    expect(sendResponses(kit, next).read).toBe(written);
    const older = kit.post("/v1/responses", { model: "gpt-5.6-sol", input: next });
    expect(older.status).toBe(400);
  });
});

function withSchema(schema: string, id: string): string {
  const content = JSON.stringify(words("a", 1500));
  return `{"model":"${markedModel}","tools":[{"type":"function","name":"f","parameters":${schema}}],"input":[{"type":"message","id":"${id}","role":"user","content":${content}}]}`;
}
