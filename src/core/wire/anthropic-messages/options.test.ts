import { describe, expect, test } from "vitest";
import type { ModelFacts } from "../../models/model-facts.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import type { CallOptions } from "../protocol.ts";
import { encodeOptions } from "./options.ts";
import { bodyOf, haiku, planOf, sonnet } from "./test-kit.ts";

function encoded(options: Partial<CallOptions>, model: ModelFacts = haiku, hasTools = true) {
  const call: CallOptions = { outputTokensMax: 100, stream: false, ...options };
  const { members, notes } = encodeOptions(call, model, { requestMarker: null, hasTools });
  return {
    json: `{${[...members].map(([name, json]) => `"${name}":${json}`).join(",")}}`,
    ignored: notes.map(({ detail }) => detail),
  };
}

describe("options", () => {
  test.each<[Partial<CallOptions>, string]>([
    [{}, "{}"],
    [{ temperature: 0 }, '{"temperature":0}'],
    [{ stopSequences: [] }, "{}"],
    [{ stopSequences: ["END", '"'] }, '{"stop_sequences":["END","\\""]}'],
    [
      { thinkingJson: '{"type":"enabled","budget_tokens":1024}' },
      '{"thinking":{"type":"enabled","budget_tokens":1024}}',
    ],
    [{ effort: "low" }, '{"output_config":{"effort":"low"}}'],
    [
      { outputSchemaJson: '{"type":"object"}' },
      '{"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}',
    ],
    [
      { effort: "low", outputSchemaJson: "{}" },
      '{"output_config":{"effort":"low","format":{"type":"json_schema","schema":{}}}}',
    ],
    [{ toolChoice: "auto" }, '{"tool_choice":{"type":"auto"}}'],
    [{ toolChoice: "none", parallelToolUse: false }, '{"tool_choice":{"type":"none"}}'],
    [{ toolChoice: "any" }, '{"tool_choice":{"type":"any"}}'],
    [
      { toolChoice: { name: "read" }, parallelToolUse: false },
      '{"tool_choice":{"type":"tool","name":"read","disable_parallel_tool_use":true}}',
    ],
    [
      { parallelToolUse: false },
      '{"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}',
    ],
    [{ parallelToolUse: true }, "{}"],
    [
      { extraJson: { metadata: '{"user_id":"u"}', service_tier: '"auto"' } },
      '{"metadata":{"user_id":"u"},"service_tier":"auto"}',
    ],
    [
      { effort: "low", extraJson: { output_config: '{"effort":"max"}' } },
      '{"output_config":{"effort":"max"}}',
    ],
  ])("%j are spelled as the provider does", (options, json) => {
    expect(encoded(options)).toEqual({ json, ignored: [] });
  });

  test.each<[string, Partial<CallOptions>, string, boolean]>([
    [
      "claude-sonnet-5-5",
      { temperature: 1 },
      "temperature: the model takes no sampling controls",
      true,
    ],
    [
      "claude-opus-5-5",
      { toolChoice: "any" },
      "tool choice: the model cannot be made to call a tool",
      true,
    ],
    [
      "claude-haiku-4-5",
      { toolChoice: { name: "read" } },
      "tool choice: there are no tools",
      false,
    ],
    [
      "claude-3-opus",
      { outputSchemaJson: "{}" },
      "the output schema: the model follows none",
      true,
    ],
    [
      "claude-haiku-4-5",
      { extraJson: { messages: "[]" } },
      "messages: written from the call itself",
      true,
    ],
  ])("%s ignores %j and says so", (model, options, detail, hasTools) => {
    expect(encoded(options, resolveModel(model).facts, hasTools)).toEqual({
      json: "{}",
      ignored: [detail],
    });
  });

  test("still forbid parallel calls where a call cannot be demanded", () => {
    expect(encoded({ toolChoice: "any", parallelToolUse: false }, sonnet)).toEqual({
      json: '{"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}',
      ignored: ["tool choice: the model cannot be made to call a tool"],
    });
  });

  test("follow the messages, and the model's name is the one the provider knows", () => {
    const options: CallOptions = {
      modelName: "claude-haiku-4-5-20251001",
      outputTokensMax: 5,
      stream: true,
      temperature: 0.5,
    };
    expect(bodyOf({}, planOf(), options)).toBe(
      '{"model":"claude-haiku-4-5-20251001","max_tokens":5,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],"temperature":0.5}',
    );
  });
});
