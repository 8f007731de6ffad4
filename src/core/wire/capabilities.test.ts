import { describe, expect, test } from "vitest";
import { conservativeFacts } from "../models/catalogue.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { bedrockConverse } from "./bedrock/converse/index.ts";
import { declareCapabilities } from "./capabilities.ts";
import { vertexAnthropic } from "./vertex-anthropic/index.ts";

const marking = { writesMarkers: true };
const plain = { writesMarkers: false };

function facts(id: string): ModelFacts {
  return resolveModel(id).facts;
}

describe("an adapter", () => {
  test("declares what its model can do (D-04)", () => {
    expect(declareCapabilities(marking, facts("claude-sonnet-5-5"))).toEqual({
      supportsThinking: true,
      supportsImages: true,
      supportsTools: true,
      supportsSystemPrompt: true,
      supportsStructuredOutput: true,
      supportsStreaming: true,
      supportsStreamingToolCalls: true,
      supportsParallelToolCalls: true,
      supportsPromptCaching: true,
      supportsSystemMessagesInList: true,
      contextTokensMax: 1_000_000,
      outputTokensMax: 128_000,
      acceptedImageMediaTypes: ["image/jpeg", "image/png", "image/gif", "image/webp"],
    });
  });

  test("declares nothing that is not known of its model", () => {
    expect(declareCapabilities(marking, conservativeFacts("some-model"))).toMatchObject({
      supportsThinking: false,
      supportsImages: false,
      supportsPromptCaching: false,
      supportsSystemMessagesInList: false,
      acceptedImageMediaTypes: [],
    });
  });
});

describe("prompt caching is declared (M-18, C-15)", () => {
  const haiku = facts("claude-haiku-4-5");
  const automatic = facts("gpt-5.5");
  const unpriced: ModelFacts = { ...haiku, cache: { ...haiku.cache, readMultiplier: null } };

  test.each([
    ["where markers are taken and written", marking, haiku, true],
    [
      "not where the protocol writes no markers",
      plain,
      { ...haiku, cache: markersOnly(haiku) },
      false,
    ],
    ["where the provider caches by itself", plain, automatic, true],
    ["on Bedrock, by cache points", bedrockConverse, facts("bedrock/claude-haiku-4-5"), true],
    ["on Vertex", vertexAnthropic, facts("vertex/claude-haiku-4-5"), true],
    ["not on Bedrock for a model of old", bedrockConverse, facts("bedrock/claude-2.1"), false],
    ["not where reading has no price", marking, unpriced, false],
    ["not where neither side caches", marking, { ...haiku, cache: nothing(haiku) }, false],
  ])("%s", (_when, protocol, model, expected) => {
    expect(declareCapabilities(protocol, model).supportsPromptCaching).toBe(expected);
  });
});

function markersOnly({ cache }: ModelFacts): ModelFacts["cache"] {
  return { ...cache, automatic: null };
}

function nothing({ cache }: ModelFacts): ModelFacts["cache"] {
  return { ...cache, automatic: null, markers: null };
}
