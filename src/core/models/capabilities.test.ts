import { expect, test } from "vitest";
import { resolveModel } from "./resolve-model.ts";

test.each([
  ["claude-fable-5-2", true],
  ["claude-mythos-preview", true],
  ["claude-opus-4-6", true],
  ["claude-opus-4-5", false],
  ["claude-sonnet-4-6", true],
  ["claude-sonnet-4-5", false],
  ["claude-haiku-5-5", false],
  ["bedrock/claude-opus-5-5", false],
  ["vertex/claude-opus-5-5", true],
  ["openrouter/anthropic/claude-opus-5-5", false],
  ["gpt-6.1-sol", true],
  ["gpt-5.5", true],
  ["azure/gpt-6.1-sol", false],
  ["openrouter/openai/gpt-6.1-sol", false],
])("%s compacts on demand: %s", (name, compactsOnDemand) => {
  expect(resolveModel(name).facts.capabilities).toMatchObject({ compactsOnDemand });
});
