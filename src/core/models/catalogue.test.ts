import { expect, test } from "vitest";
import { noUsage } from "../message/usage.ts";
import { builtInCatalogue, conservativeFacts, createCatalogue, listModels } from "./catalogue.ts";
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
  expect(changed.source).toBe(`${original.source}; changed in strata.yaml`);
  expect({ ...changed, cache: original.cache, source: original.source }).toEqual(original);
});

test("an override that changes nothing leaves the source as it was", () => {
  const override = { "claude-opus-5": {}, "gpt-5.4": { status: "legacy" } };
  const catalogue = createCatalogue({ origin, override });
  for (const id of Object.keys(override))
    expect(resolveModel(id, catalogue).facts).toEqual(resolveModel(id).facts);
});

test("a model the user calls unpriced has no price, and one the user prices has one", () => {
  const catalogue = createCatalogue({
    origin,
    override: {
      "claude-opus-5": { unpriced: "we have a contract" },
      "claude-mythos-preview": { prices: [{ input: 1, output: 2 }] },
    },
  });
  expect(resolveModel("claude-opus-5", catalogue).facts.prices).toEqual({
    kind: "unpriced",
    reason: "we have a contract",
  });
  expect(resolveModel("claude-mythos-preview", catalogue).facts.prices.kind).toBe("priced");
});

test("a model may be called like something every JavaScript object has", () => {
  const names = ["constructor", "__proto__", "toString", "hasOwnProperty"];
  const add = Object.fromEntries(names.map((name) => [name, { provider: "garage", window: 9 }]));
  const catalogue = createCatalogue({ origin, add });
  for (const name of names)
    expect(resolveModel(`garage/${name}`, catalogue).facts).toMatchObject({
      id: name,
      windowTokens: 9,
    });
  expect(conservativeFacts("__proto__").id).toBe("__proto__");
});

test("a caller cannot change a fact for the whole process", () => {
  const { facts } = resolveModel("claude-opus-5");
  const catalogue = createCatalogue({ origin, add: { mine: { provider: "garage" } } });
  const all = [...listModels(), conservativeFacts("x"), resolveModel("mine", catalogue).facts];
  expect(() => Object.assign(facts.cache, { minimumTokens: 1 })).toThrowError(TypeError);
  expect(all.flatMap((model) => unfrozenParts(model, model.id))).toEqual([]);
  expect(resolveModel("claude-opus-5").facts.cache.minimumTokens).toBe(512);
});

function unfrozenParts(value: unknown, path: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const parts = Object.entries(value).flatMap(([key, part]) =>
    unfrozenParts(part, `${path}.${key}`),
  );
  return Object.isFrozen(value) ? parts : [path, ...parts];
}

test("what a user changes in the configuration afterwards changes no fact", () => {
  const prices = [{ input: 1, output: 2 }];
  const catalogue = createCatalogue({ origin, override: { "claude-opus-5": { prices } } });
  prices[0] = { input: 9, output: 9 };
  const { facts } = resolveModel("us.anthropic.claude-opus-5[1m]", catalogue);
  expect(costOf({ ...noUsage, uncachedTokens: 1 }, facts, { at }).totalPicoUsd).toBe(1_100_000n);
});

test("facts are never made up for a route the provider does not have", () => {
  for (const route of ["azure", "constructor", ""])
    expect(() => builtInCatalogue.factsOf("claude-opus-5", { route })).toThrowError(/has no route/);
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
    'strata.yaml: gpt-5.4 has an unknown field "windw"',
    /did you mean "window"\?/,
  ],
  [
    { override: { "gpt-5.4": JSON.parse('{"__proto__":{"window":5}}') } },
    'strata.yaml: gpt-5.4 has an unknown field "__proto__"',
    /known fields/,
  ],
  [
    { override: { "gpt-5.4": { window: "large" } } },
    'strata.yaml: gpt-5.4.window is "large", but must be a whole number above 0',
    /window/,
  ],
  [
    { override: { "gpt-5.4": { prices: [{ input: 0.0000001, output: 1 }] } } },
    "strata.yaml: gpt-5.4.prices[0].input is 1e-7, but must be dollars per million tokens with at most 6 decimals",
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
    "strata.yaml: gpt-5.4.prices[1].from is misplaced",
    /date every row/,
  ],
  [
    { override: { "gpt-5.4": { use: ["window-2m"] } } },
    'strata.yaml: gpt-5.4.use names "window-2m", which its provider does not define',
    /did you mean "window-1m"\?/,
  ],
  [
    { override: { "gpt-5.4": { aliases: ["gpt-5.5"] } } },
    'strata.yaml: "gpt-5.5" is both gpt-5.5 and gpt-5.4',
    /remove one/,
  ],
  [
    { add: { mine: { provider: "anthropic", aliases: ["claude-opus-5"] } } },
    'strata.yaml: "claude-opus-5" is both claude-opus-5 and mine',
    /remove one/,
  ],
  [
    { add: { mine: { provider: "anthropic", status: "active" } } },
    "strata.yaml: mine has no prices",
    /add prices, or unpriced with the reason/,
  ],
  [
    { add: { mine: { provider: "anthropic", status: "active", unpriced: "new" } } },
    "strata.yaml: mine.window is missing, but must be a whole number above 0",
    /add strata\.yaml: mine\.window/,
  ],
  [
    { add: { mine: { provider: "garage", use: ["constructor"] } } },
    'strata.yaml: mine.use names "constructor", which its provider does not define',
    /defined are: none/,
  ],
  [
    { add: { mine: { provider: "Anthropic" } } },
    'strata.yaml: mine.provider is "Anthropic", which is another name of Anthropic',
    /write "anthropic"/,
  ],
  [
    { add: { mine: { provider: "gemini" } } },
    'strata.yaml: mine.provider is "gemini", which is another name of Google',
    /write "google"/,
  ],
  [
    { add: { mine: { provider: "azure" } } },
    'strata.yaml: mine.provider is "azure", which is another name of Azure OpenAI',
    /choose another name/,
  ],
  [
    { add: { mine: { provider: "my garage" } } },
    'strata.yaml: mine.provider is "my garage", but must have no space, ":" or "/"',
    /"garage"/,
  ],
  [
    { override: { "gpt-5.4": { checkedOn: "2026-99-99" } } },
    'strata.yaml: gpt-5.4.checkedOn is "2026-99-99", but must be a day like 2026-11-15',
    /checkedOn/,
  ],
  [
    { override: { "gpt-5.4": { prices: [{ input: 1, output: 1 }], unpriced: "no" } } },
    "strata.yaml: gpt-5.4 has both prices and unpriced",
    /remove one/,
  ],
  // The error occurs only on one route, at a regional endpoint.
  [
    { override: { "claude-opus-5": { prices: [{ input: 0.000001, output: 1 }] } } },
    "strata.yaml: claude-opus-5: 1.1 times $0.000001 per million tokens has more than 6 decimals",
    /fewer decimals/,
  ],
  // The error occurs only if the larger window is used.
  [
    { override: { "claude-opus-5": { longWindow: "1m" } } },
    'strata.yaml: claude-opus-5.longWindow is "1m", but must be a whole number above 0',
    /longWindow/,
  ],
  [
    { override: { "gpt-5.4": { provider: "garage" } } },
    'strata.yaml: gpt-5.4.provider cannot be changed from "openai"',
    /under add/,
  ],
  [{ adds: { mine: {} } }, 'strata.yaml has an unknown field "adds"', /did you mean "add"\?/],
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
