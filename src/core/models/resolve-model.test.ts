import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInCatalogue, conservativeFacts, createCatalogue } from "./catalogue.ts";
import { findModel, nearestIds, resolveModel } from "./resolve-model.ts";

const arn = "arn:aws:bedrock:us-east-1:123456789012";
const vertex = "projects/p/locations/us-east5/publishers/anthropic/models";

// Written id → id, route, how it was found.
const spellings = [
  ["claude-sonnet-5-5", "claude-sonnet-5-5", "claude-api", "exact"],
  ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5", "claude-api", "alias"],
  ["claude-sonnet-5-5-20260928", "claude-sonnet-5-5", "claude-api", "date suffix"],
  ["claude-opus-4-20250514", "claude-opus-4", "claude-api", "alias"],
  ["claude-opus-4.8", "claude-opus-4-8", "claude-api", "dotted version"],
  ["claude-3.5-sonnet", "claude-3-5-sonnet", "claude-api", "dotted version"],
  ["claude-3-5-sonnet-latest", "claude-3-5-sonnet", "claude-api", "alias"],
  ["Claude-Opus-5", "claude-opus-5", "claude-api", "exact"],
  ["anthropic:claude-opus-5", "claude-opus-5", "claude-api", "exact"],
  ["anthropic/claude-opus-4.8", "claude-opus-4-8", "claude-api", "dotted version"],
  ["anthropic/claude-sonnet-5.5", "claude-sonnet-5-5", "claude-api", "dotted version"],
  ["claude-api:claude-opus-5", "claude-opus-5", "claude-api", "exact"],
  ["claude-aws:claude-opus-5", "claude-opus-5", "claude-aws", "exact"],
  ["openrouter:anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", "openrouter", "dotted version"],
  ["openrouter/openai/gpt-5.4", "gpt-5.4", "openrouter", "exact"],
  ["openrouter:deepseek/deepseek-chat", "deepseek-chat", "openrouter", "exact"],
  ["openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", "openrouter", "dotted version"],
  ["anthropic.claude-opus-4-7", "claude-opus-4-7", "bedrock", "exact"],
  ["anthropic.claude-opus-4.8", "claude-opus-4-8", "bedrock", "dotted version"],
  ["us.anthropic.claude-opus-4.8", "claude-opus-4-8", "bedrock", "dotted version"],
  ["openai.gpt-5.4", "gpt-5.4", "bedrock", "exact"],
  ["global.openai.gpt-5.6-terra", "gpt-5.6-terra", "bedrock", "exact"],
  ["bedrock/openai.gpt-5.4-v1:0", "gpt-5.4", "bedrock", "exact"],
  ["anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet", "bedrock", "alias"],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", "bedrock", "alias"],
  ["eu.anthropic.claude-opus-4-6-v1", "claude-opus-4-6", "bedrock", "exact"],
  ["apac.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4", "bedrock", "alias"],
  ["global.anthropic.claude-opus-5-5", "claude-opus-5-5", "bedrock", "exact"],
  ["bedrock/us.anthropic.claude-opus-5", "claude-opus-5", "bedrock", "exact"],
  [`${arn}:inference-profile/us.anthropic.claude-opus-5`, "claude-opus-5", "bedrock", "exact"],
  [`${arn}:foundation-model/anthropic.claude-opus-5`, "claude-opus-5", "bedrock", "exact"],
  ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5", "vertex", "date suffix"],
  ["publishers/anthropic/models/claude-opus-5", "claude-opus-5", "vertex", "exact"],
  [`${vertex}/claude-haiku-4-5@20251001`, "claude-haiku-4-5", "vertex", "date suffix"],
  ["vertex:claude-opus-4-8", "claude-opus-4-8", "vertex", "exact"],
  ["vertex/anthropic/claude-opus-4-5@20251101", "claude-opus-4-5", "vertex", "date suffix"],
  ["claude-sonnet-4-5[1m]", "claude-sonnet-4-5", "claude-api", "exact"],
  ["claude-opus-4-6[1m]", "claude-opus-4-6", "claude-api", "exact"],
  ["gpt-5.5-2026-04-23", "gpt-5.5", "openai-api", "alias"],
  ["gpt-5.4-2026-04-01", "gpt-5.4", "openai-api", "date suffix"],
  ["openai/gpt-5.4", "gpt-5.4", "openai-api", "exact"],
  ["openai:gpt-6.1-sol", "gpt-6.1-sol", "openai-api", "exact"],
  ["azure/gpt-4o", "gpt-4o", "azure", "exact"],
  ["azure:gpt-5.6-terra", "gpt-5.6-terra", "azure", "exact"],
  ["x-ai/grok-4.7", "grok-4.7", "xai-api", "exact"],
  ["minimax/minimax-m3", "MiniMax-M3", "minimax-api", "exact"],
  ["deepseek/deepseek-chat", "deepseek-chat", "deepseek-api", "exact"],
  ["gemini/gemini-2.5-pro", "gemini-2.5-pro", "gemini-api", "exact"],
  ["google:gemini-3.8-flash", "gemini-3.8-flash", "gemini-api", "exact"],
  ["publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro", "vertex", "exact"],
] as const;

test.each(spellings)("%s is %s on %s (%s)", (written, id, route, matched) => {
  const found = resolveModel(written);
  expect([found.facts.id, found.route, found.facts.route, found.matched]).toEqual([
    id,
    route,
    route,
    matched,
  ]);
});

test("every model named in the public traces is known", () => {
  const named = [
    "claude-3-5-haiku-20241022",
    "claude-haiku-4-5-20251001",
    "claude-opus-4-5-20251101",
    "claude-opus-4-6",
    "claude-opus-4.8",
    "claude-sonnet-4-20250514",
    "claude-sonnet-4-5",
    "claude-sonnet-4-5-20250929",
    "claude-sonnet-4-6",
    "deepseek-v4-flash",
    "gpt-4o",
    "gpt-5.3-codex-spark",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.5",
  ];
  expect(named.filter((id) => findModel(id) === null)).toEqual([]);
});

test("models that agents used over the years are known", () => {
  const named = [
    "claude-3-opus-20240229",
    "claude-3-sonnet-20240229",
    "claude-3-haiku-20240307",
    "claude-3-5-sonnet-20240620",
    "claude-3-7-sonnet-20250219",
    "claude-opus-4-1-20250805",
    "gpt-4",
    "gpt-4-turbo",
    "gpt-3.5-turbo",
    "gpt-5-codex",
    "gpt-5.1-codex",
    "gpt-5.1-codex-max",
    "gpt-5.1-codex-mini",
    "gpt-5.2-codex",
    "gpt-5.3-codex",
    "o1",
    "o1-mini",
    "o1-preview",
    "o3",
    "o3-mini",
    "o4-mini",
    "deepseek-chat",
    "deepseek-reasoner",
    "gemini-2.5-pro",
  ];
  expect(named.filter((id) => findModel(id) === null)).toEqual([]);
});

const unknown = [
  "",
  "claude",
  "claude-sonnet-5-5x",
  "claude-sonnet-9",
  "claude-sonnet-5-5-latest",
  "claude-sonnet-5-55",
  "claude-sonnet-5-5-20261340",
  "claude-sonnet-5-5-20250229x",
  "claude-sonnet-4-5-20250929-20250929",
  "claude-sonnet-4-5-99999999",
  "claude-haiku-4-5[1m]",
  "gpt-5.55",
  "gpt-5.4-turbo",
  "gpt-4o-",
  "openai/claude-opus-5",
  "anthropic:gpt-5.4",
  "azure/claude-opus-5",
  "anthropic/claude-opus-5:batch",
  "moon.anthropic.claude-opus-5",
  "anthropic.claude-opus-5-v",
  `${arn}:application-inference-profile/abc123`,
  "someone/claude-opus-5",
  "constructor",
  "__proto__",
  "toString/claude-opus-5",
] as const;

test.each(unknown)("%j is unknown", (id) => {
  expect(findModel(id)).toBeNull();
});

const contradictory = [
  "bedrock/vertex/claude-opus-5",
  "vertex/us.anthropic.claude-opus-5",
  "vertex:anthropic.claude-opus-5",
  "bedrock/publishers/anthropic/models/claude-opus-5",
  "bedrock/claude-sonnet-4-5@20250929",
  "us.anthropic.claude-sonnet-4-5@20250929",
  "anthropic/claude-sonnet-4-5@20250929",
  "openrouter/openrouter/anthropic/claude-opus-5",
  "openai/anthropic/claude-opus-5",
  `vertex/${arn}:foundation-model/anthropic.claude-opus-5`,
] as const;

test.each(contradictory)("%s, which names two ways to a model, is unknown", (id) => {
  expect(findModel(id)).toBeNull();
});

test("the nearest model is still named where the ways to it contradict each other", () => {
  expect(nearestIds("bedrock/vertex/claude-opus-5")[0]).toBe("claude-opus-5");
});

test("a date that is not in the calendar makes an id unknown", () => {
  const dated = ["20230228", "20230229", "20240229", "20250431", "20251301"];
  expect(dated.filter((date) => findModel(`claude-opus-4-5-${date}`) !== null)).toEqual([
    "20230228",
    "20240229",
  ]);
});

test.each([
  "openrouter/".repeat(10_000) + "x",
  "openrouter:".repeat(10_000) + "claude-opus-5",
  "us.anthropic.".repeat(10_000) + "claude-opus-5",
  "claude-opus-5" + "-20250101".repeat(10_000),
  "[1m]".repeat(10_000),
  "-v1".repeat(100_000),
])("a huge id made of %.20s… is unknown, and shown in one short line", (id) => {
  expect(findModel(id)).toBeNull();
  expect(nearestIds(id)).toEqual([]);
  expect(() => resolveModel(id)).toThrowError(
    expect.objectContaining({
      code: "model-unknown",
      message: `model "${id.slice(0, 60)}…" is unknown`,
      hint: "list the known ones with: strata models list",
    }),
  );
});

test.each([
  [200, "x".repeat(200)],
  [201, `${"x".repeat(60)}…`],
])("an unknown id of %i characters is shown as %s", (length, shown) => {
  expect(() => resolveModel("x".repeat(length))).toThrowError(
    expect.objectContaining({ message: `model "${shown}" is unknown` }),
  );
});

const path = (project: string) =>
  `projects/${project}/locations/l/publishers/anthropic/models/claude-opus-5x`;

test("no nearest names are looked for where an id is longer than 200 characters", () => {
  expect(nearestIds(path("p"))[0]).toBe("claude-opus-5");
  expect(nearestIds(path("p".repeat(200)))).toEqual([]);
});

test.each([" claude-opus-5", "claude-opus-5 ", "claude-opus-5\n", "\tclaude-opus-5"])(
  "%j is unknown, because no provider would know it, with a hint to remove the white space",
  (id) => {
    expect(() => resolveModel(id)).toThrowError(
      expect.objectContaining({
        message: `model ${JSON.stringify(id)} is unknown`,
        hint: "remove the white space around claude-opus-5",
      }),
    );
  },
);

test("a user's provider is written before its models like any other", () => {
  const catalogue = createCatalogue({
    origin: "strata.yaml",
    add: { llama: { provider: "Garage" }, "openai/gpt-oss": { provider: "Garage" } },
  });
  const found = (id: string) => findModel(id, catalogue)?.facts.id ?? null;
  expect(["llama", "garage:llama", "garage/llama", "Garage/Llama"].map(found)).toEqual(
    Array.from({ length: 4 }, () => "llama"),
  );
  expect(["openai/gpt-oss", "garage/openai/gpt-oss"].map(found)).toEqual(
    Array.from({ length: 2 }, () => "openai/gpt-oss"),
  );
  expect(["openai/llama", "openrouter/garage/llama"].map(found)).toEqual([null, null]);
});

test("an unknown model is an error that names the nearest ids", () => {
  expect(() => resolveModel("claude-sonnet-9")).toThrowError(
    expect.objectContaining({
      code: "model-unknown",
      message: 'model "claude-sonnet-9" is unknown',
      hint: "did you mean claude-sonnet-5, claude-sonnet-4, claude-sonnet-5-5? Others: strata models list",
    }),
  );
});

test("the nearest ids are found by letters and by words", () => {
  expect(nearestIds("gpt-5.55")[0]).toBe("gpt-5.5");
  expect(nearestIds("sonnet-5.5")[0]).toBe("claude-sonnet-5-5");
  expect(nearestIds("anthropic/claude-opus-5x")[0]).toBe("claude-opus-5");
  expect(nearestIds("zzzzzzzzzzzzzzzzzzzzzzzz")).toEqual([]);
});

// Goal: a model is never priced as its neighbour. Method: append something other than a date to every listed name.
test("a known name with something appended is unknown unless it is listed itself", () => {
  const names = [...builtInCatalogue.names.keys()];
  const tail = fc.oneof(
    fc.stringMatching(/^[a-z0-9]$/),
    fc.stringMatching(/^[a-z0-9]{1,7}$/),
    fc.stringMatching(/^[-._][a-z0-9]{1,7}$/),
    fc.constantFrom("-latest", "-preview", "-fast", "-pro", "-mini", " ", ":free", "-1", ".5"),
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), tail, (name, appended) => {
      const grown = name + appended;
      fc.pre(!builtInCatalogue.names.has(grown));
      expect([grown, findModel(grown)]).toEqual([grown, null]);
    }),
    { numRuns: 5000 },
  );
});

test("a larger window is given where the model once had it, with its price above 200,000 tokens", () => {
  const plain = resolveModel("claude-sonnet-4-5").facts;
  const long = resolveModel("claude-sonnet-4-5[1m]").facts;
  expect([plain.windowTokens, long.windowTokens]).toEqual([200_000, 1_000_000]);
  expect(long.prices).toEqual(plain.prices);
});

const inputOf = (id: string) => {
  const { prices } = resolveModel(id).facts;
  return prices.kind === "priced" ? prices.rows[0]?.rates.inputPicoUsd : null;
};

test("a regional endpoint costs a tenth more, a global one does not", () => {
  expect(inputOf("us.anthropic.claude-opus-5")).toBe(5_500_000n);
  expect(inputOf("global.anthropic.claude-opus-5")).toBe(5_000_000n);
  expect(inputOf("us.anthropic.claude-sonnet-4-20250514-v1:0")).toBe(3_000_000n);
});

test("a location in a Vertex path is a regional endpoint, unless it is global", () => {
  const at = (location: string, id: string) =>
    inputOf(`projects/p/locations/${location}/publishers/anthropic/models/${id}`);
  expect(at("us-east5", "claude-opus-5")).toBe(5_500_000n);
  expect(at("europe-west1", "claude-haiku-4-5@20251001")).toBe(1_100_000n);
  expect(at("global", "claude-opus-5")).toBe(5_000_000n);
  expect(inputOf("publishers/anthropic/models/claude-opus-5")).toBe(5_000_000n);
  // Older models cost the same everywhere.
  expect(at("us-east5", "claude-sonnet-4@20250514")).toBe(3_000_000n);
});

test("OpenAI models on Bedrock cost the vendor's price only where the id says global", () => {
  expect(inputOf("openai.gpt-5.4")).toBe(2_750_000n);
  expect(inputOf("us.openai.gpt-6-sol")).toBe(2_200_000n);
  expect(inputOf("global.openai.gpt-6-sol")).toBe(2_000_000n);
});

test("the conservative default claims little", () => {
  const facts = conservativeFacts("my-model");
  expect(facts).toMatchObject({
    id: "my-model",
    provider: "unlisted",
    windowTokens: 32_768,
    outputTokensMax: 4096,
    prices: { kind: "unpriced", reason: "nobody told us its price" },
    cache: { marking: "none", markers: null, automatic: null },
  });
  expect(facts.capabilities.thinking).toBe(false);
});

describe("a model of which only the provider is known", () => {
  test("is any name after the provider's, and is sent in the same letters", () => {
    const { facts, matched } = resolveModel("vllm/meta-llama/Llama-4-8B");
    expect([matched, facts.id, facts.sentAs]).toEqual([
      "any name",
      "vllm/meta-llama/Llama-4-8B",
      "meta-llama/Llama-4-8B",
    ]);
    expect(facts).toMatchObject({ provider: "vllm", route: "vllm", windowTokens: 32_768 });
    expect(facts.wire.systemRole).toBe("system");
    expect(resolveModel("VLLM:meta-llama/Llama-4-8B").facts).toBe(facts);
  });

  test("costs nothing on a server of one's own, and an unknown price elsewhere", () => {
    expect(inputOf("ollama/qwen3:8b")).toBe(0n);
    expect(inputOf("groq/openai/gpt-oss-120b")).toBe(null);
    expect(inputOf("openrouter/meta-llama/llama-4")).toBe(null);
  });

  test("is never another vendor's model of the same name", () => {
    const { facts } = resolveModel("ollama/deepseek-v3");
    expect([facts.id, facts.provider]).toEqual(["ollama/deepseek-v3", "ollama"]);
  });

  test("needs its vendor's name on OpenRouter, so that a misspelt one is not sent", () => {
    expect(findModel("openrouter/claude-opus-9")).toBe(null);
    expect(findModel("openrouter/groq/llama")).toBe(null);
    expect(findModel("ollama/")).toBe(null);
  });
});

test("a model is sent to OpenRouter by its name there", () => {
  expect(sentAs("claude-sonnet-4-6")).toBe(undefined);
  expect(sentAs("openrouter/claude-sonnet-4-6")).toBe("anthropic/claude-sonnet-4.6");
  expect(sentAs("openrouter/deepseek-flash")).toBe("deepseek/deepseek-v4.1-flash");
  expect(sentAs("openrouter/minimax-m3")).toBe("minimax/minimax-m3");
  expect(sentAs("openrouter/gpt-6-sol")).toBe("openai/gpt-6-sol");
});

test("a model is sent to Bedrock by its profile: the global one, or that of the region that the id asks for", () => {
  expect(sentAs("bedrock/claude-sonnet-5-5")).toBe("global.anthropic.claude-sonnet-5-5");
  expect(sentAs("anthropic.claude-sonnet-5-5")).toBe("global.anthropic.claude-sonnet-5-5");
  expect(sentAs("bedrock/eu.anthropic.claude-sonnet-5-5")).toBe("eu.anthropic.claude-sonnet-5-5");
  expect(sentAs("us.anthropic.claude-haiku-4-5")).toBe(
    "us.anthropic.claude-haiku-4-5-20251001-v1:0",
  );
  expect(sentAs("bedrock/claude-opus-4-6")).toBe("global.anthropic.claude-opus-4-6-v1");
  expect(sentAs("bedrock/claude-3-haiku")).toBe("anthropic.claude-3-haiku-20240307-v1:0");
});

test("a model is sent to Vertex by its id there, which ends with a date for older ones", () => {
  expect(sentAs("vertex/claude-sonnet-5-5")).toBe(undefined);
  expect(sentAs("vertex/claude-haiku-4-5")).toBe("claude-haiku-4-5@20251001");
});

test("the same id gives the same facts, so they can be compared and kept", () => {
  const { facts } = resolveModel("claude-opus-5");
  expect(resolveModel("anthropic:claude-opus-5").facts).toBe(facts);
  expect(resolveModel("claude-api:claude-opus-5").facts).toBe(facts);
});

function sentAs(id: string): string | undefined {
  return resolveModel(id).facts.sentAs;
}
