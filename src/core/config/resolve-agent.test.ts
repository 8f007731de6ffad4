import { describe, expect, test } from "vitest";
import { configOf } from "../../edge/config/test-kit.ts";
import { modelOf, resolveAgent } from "./resolve-agent.ts";

describe("an agent", () => {
  const config = configOf(`
context_optimization:
  prompt_cache: { enabled: true }
  compaction: { enabled: false }
models: { default: fast, aliases: { fast: claude-haiku-4-5 } }
agents:
- id: ana
  policy: tail-1h
  model: claude-opus-5-5
  context_optimization: { compaction: true, token_counter: null }
- id: bob
  context_optimization: { prompt_cache: false, workspace_cache: false }
`);

  test("nobody named has what all have (N-05)", () => {
    expect(resolveAgent(config, "someone")).toEqual({
      promptCache: true,
      compaction: false,
      tokenCounter: true,
      workspaceCache: true,
      policy: "adaptive",
      toolset: "workspace",
      role: null,
      model: "claude-haiku-4-5",
      modelFrom: "global default",
    });
  });

  test("has its own switches, policy and model; null inherits (N-05)", () => {
    expect(resolveAgent(config, "ana")).toMatchObject({
      promptCache: true,
      compaction: true,
      tokenCounter: true,
      policy: "tail-1h",
      model: "claude-opus-5-5",
      modelFrom: "agent",
    });
    expect(resolveAgent(config, "bob")).toMatchObject({
      promptCache: false,
      compaction: false,
      workspaceCache: false,
    });
  });

  test("has no model where nobody chose one", () => {
    expect(resolveAgent(configOf(""), "ana")).toMatchObject({ model: null, modelFrom: null });
  });

  test("has the workspace's model before everybody's", () => {
    const yaml =
      "routing: { workspace_default: claude-opus-5-5 }\nmodels: { default: claude-haiku-4-5 }";
    expect(resolveAgent(configOf(yaml), "ana")).toMatchObject({
      model: "claude-opus-5-5",
      modelFrom: "workspace default",
    });
  });

  test("a name that is no alias is a model's own", () => {
    expect(modelOf(config, "fast")).toBe("claude-haiku-4-5");
    expect(modelOf(config, "gpt-5.6")).toBe("gpt-5.6");
  });
});
