import { expect, test } from "vitest";
import { noUsage } from "../message/usage.ts";
import { builtInCatalogue, createCatalogue } from "./catalogue.ts";
import { costOf } from "./cost.ts";
import { findModel, resolveModel } from "./resolve-model.ts";

const origin = "strata.yaml";
const at = "2026-11-15";

test("a user's model uses the families and rules of its provider", () => {
  const catalogue = createCatalogue({
    origin,
    add: {
      "claude-next": {
        provider: "anthropic",
        use: ["window-1m", "keeps-thinking"],
        status: "active",
        prices: [{ input: "1.5", output: 7, read: 0.15, write: { "5m": 1.875, "1h": 3 } }],
        cache: { minimum: 256 },
      },
    },
  });
  const { facts } = resolveModel("anthropic:claude-next", catalogue);
  expect(facts).toMatchObject({
    windowTokens: 1_000_000,
    source: "strata.yaml",
    cache: { minimumTokens: 256, marking: "explicit", readMultiplier: 0.1 },
  });
  const cost = costOf({ ...noUsage, uncachedTokens: 2 }, facts, { at });
  expect(cost.totalPicoUsd).toBe(3_000_000n);
});

test("a user's own provider starts from the conservative defaults", () => {
  const catalogue = createCatalogue({
    origin,
    add: { "llama-local": { provider: "garage", window: 8192, maxOutput: 1024 } },
  });
  const { facts, route } = resolveModel("garage:llama-local", catalogue);
  expect([facts.provider, route, facts.windowTokens]).toEqual(["garage", "direct", 8192]);
  expect(facts.prices.kind).toBe("unpriced");
  expect(facts.cache.marking).toBe("none");
});

test("an override replaces only what it names", () => {
  const catalogue = createCatalogue({
    origin,
    override: { "claude-opus-5": { cache: { minimum: 2048 } } },
  });
  const changed = resolveModel("claude-opus-5", catalogue).facts;
  const original = resolveModel("claude-opus-5").facts;
  expect(changed.cache.minimumTokens).toBe(2048);
  expect(original.cache.minimumTokens).toBe(512);
  expect({ ...changed, cache: original.cache }).toEqual(original);
});

test("changes never reach another catalogue", () => {
  createCatalogue({ origin, add: { mine: { provider: "garage" } } });
  expect(findModel("mine")).toBeNull();
  expect(builtInCatalogue.ids).not.toContain("mine");
});

const mistakes = [
  [
    { override: { "claude-opus-6": { window: 1 } } },
    "strata.yaml: claude-opus-6 overrides a model that is not known",
    /did you mean claude-opus-5/,
  ],
  [
    { add: { "gpt-5.4": { provider: "openai" } } },
    "strata.yaml: gpt-5.4 is already known",
    /override/,
  ],
  [
    { override: { "gpt-5.4": { windw: 5 } } },
    'openai.json: gpt-5.4 has an unknown field "windw"',
    /did you mean "window"\?/,
  ],
  [
    { override: { "gpt-5.4": JSON.parse('{"__proto__":{"window":5}}') } },
    'openai.json: gpt-5.4 has an unknown field "__proto__"',
    /known fields/,
  ],
  [
    { override: { "gpt-5.4": { window: "large" } } },
    'openai.json: gpt-5.4.window is "large", but must be a whole number above 0',
    /window/,
  ],
  [
    { override: { "gpt-5.4": { prices: [{ input: 0.0000001, output: 1 }] } } },
    "openai.json: gpt-5.4.prices[0].input is 1e-7, but must be dollars per million tokens with at most 6 decimals",
    /0\.125/,
  ],
  [
    {
      override: {
        "gpt-5.4": {
          prices: [
            { input: 1, output: 1 },
            { input: 2, output: 2 },
          ],
        },
      },
    },
    "openai.json: gpt-5.4.prices[1].from is misplaced",
    /date every row/,
  ],
  [
    { override: { "gpt-5.4": { use: ["window-2m"] } } },
    'openai.json: gpt-5.4.use names "window-2m", which the file does not define',
    /did you mean "window-1m"\?/,
  ],
  [
    { override: { "gpt-5.4": { aliases: ["gpt-5.5"] } } },
    'openai.json: "gpt-5.5" is both gpt-5.5 and gpt-5.4',
    /remove one/,
  ],
  [{ add: { mine: {} } }, "strata.yaml: mine.provider is missing, but must be a text", /provider/],
  [{ add: ["mine"] }, 'strata.yaml: add is ["mine"], but must be an object', /object/],
] as const;

test.each(mistakes)("a mistake in %j is named with its place", (changes, message, hint) => {
  expect(() => createCatalogue({ origin, ...changes })).toThrowError(
    expect.objectContaining({
      code: "config-invalid",
      message,
      hint: expect.stringMatching(hint),
    }),
  );
});
