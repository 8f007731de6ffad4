// The committed facts, copied from the reference tables of 2026-11-15, and rules that hold for all of them.
import { describe, expect, test } from "vitest";
import { lifetimes } from "../message/usage.ts";
import { builtInFiles } from "./built-in-files.ts";
import { builtInCatalogue, listModels } from "./catalogue.ts";
import { describeModel } from "./describe-model.ts";
import type { ModelFacts } from "./model-facts.ts";
import { resolveModel } from "./resolve-model.ts";

const at = "2026-11-15";
const models = listModels();
const described = (id: string) => describeModel(resolveModel(id).facts, { at });
const idsOf = (list: readonly ModelFacts[]) => list.map((model) => model.id);
const rowsOf = ({ prices }: ModelFacts) => (prices.kind === "priced" ? prices.rows : []);
const readOf = (id: string, day: string) =>
  describeModel(resolveModel(id).facts, { at: day }).usdPerMTok?.read;
const takesSystemMessages = (id: string) =>
  resolveModel(id).facts.capabilities.midConversationSystem;

// id, window, max out, in, out, w5m, w1h, read, minimum, tokenizer
const claude = [
  ["claude-fable-5-2", 1_000_000, 128_000, 8, 40, 10, 16, 0.2, 512, "claude-new"],
  ["claude-mythos-5-2", 1_000_000, 128_000, 8, 40, 10, 16, 0.2, 512, "claude-new"],
  ["claude-fable-5-1", 1_000_000, 128_000, 10, 50, 12.5, 20, 0.25, 512, "claude-new"],
  ["claude-mythos-5-1", 1_000_000, 128_000, 10, 50, 12.5, 20, 0.25, 512, "claude-new"],
  ["claude-fable-5", 1_000_000, 128_000, 10, 50, 12.5, 20, 1, 512, "claude-new"],
  ["claude-mythos-5", 1_000_000, 128_000, 10, 50, 12.5, 20, 1, 512, "claude-new"],
  ["claude-opus-5-5", 1_000_000, 128_000, 4, 20, 5, 8, 0.2, 512, "claude-new"],
  ["claude-opus-5", 1_000_000, 128_000, 5, 25, 6.25, 10, 0.5, 512, "claude-new"],
  ["claude-opus-4-8", 1_000_000, 128_000, 5, 25, 6.25, 10, 0.5, 1024, "claude-new"],
  ["claude-opus-4-7", 1_000_000, 128_000, 5, 25, 6.25, 10, 0.5, 2048, "claude-new"],
  ["claude-opus-4-6", 1_000_000, 128_000, 5, 25, 6.25, 10, 0.5, 4096, "claude-old"],
  ["claude-opus-4-5", 200_000, 64_000, 5, 25, 6.25, 10, 0.5, 4096, "claude-old"],
  ["claude-sonnet-5-5", 1_000_000, 128_000, 2, 10, 2.5, 4, 0.1, 512, "claude-new"],
  ["claude-sonnet-5", 1_000_000, 128_000, 2, 10, 2.5, 4, 0.2, 1024, "claude-new"],
  ["claude-sonnet-4-6", 1_000_000, 128_000, 3, 15, 3.75, 6, 0.3, 1024, "claude-old"],
  ["claude-sonnet-4-5", 200_000, 64_000, 3, 15, 3.75, 6, 0.3, 1024, "claude-old"],
  ["claude-haiku-5-5", 1_000_000, 128_000, 0.1, 0.5, 0.125, 0.2, 0.01, 512, "claude-new"],
  ["claude-haiku-4-5", 200_000, 64_000, 1, 5, 1.25, 2, 0.1, 4096, "claude-old"],
] as const;

test.each(claude)("%s has the facts of the Claude table", (id, window, out, ...facts) => {
  const model = described(id);
  expect([model.windowTokens, model.outputTokensMax]).toEqual([window, out]);
  expect([
    model.usdPerMTok?.input,
    model.usdPerMTok?.output,
    model.usdPerMTok?.write5m,
    model.usdPerMTok?.write1h,
    model.usdPerMTok?.read,
    model.minimumTokens,
    model.tokenizer,
  ]).toEqual(facts);
});

test("older Claude models have the minimums of their time", () => {
  const minimums = [
    ["claude-opus-4-1", 1024],
    ["claude-opus-4", 1024],
    ["claude-sonnet-4", 1024],
    ["claude-3-5-haiku", 2048],
    ["claude-mythos-preview", 2048],
  ] as const;
  expect(minimums.map(([id]) => [id, described(id).minimumTokens])).toEqual(minimums);
});

// id, in, out, read, write (null: none)
const openai = [
  ["gpt-6-astra", 10, 50, 1, 12.5],
  ["gpt-6.1-sol", 2, 10, 0.1, 2.5],
  ["gpt-6.1-terra", 1, 5, 0.05, 1.25],
  ["gpt-6-sol", 2, 10, 0.2, 2.5],
  ["gpt-6-luna", 0.1, 0.5, 0.01, 0.125],
  ["gpt-5.6-sol", 4, 20, 0.4, 5],
  ["gpt-5.6-terra", 2, 12, 0.2, 2.5],
  ["gpt-5.6-luna", 0.2, 1.2, 0.02, 0.25],
  ["gpt-5.5", 5, 30, 0.5, undefined],
  ["gpt-5.4", 2.5, 15, 0.25, undefined],
  ["gpt-5.4-mini", 0.75, 4.5, 0.075, undefined],
  ["gpt-5.4-nano", 0.2, 1.25, 0.02, undefined],
  ["gpt-5.2", 1.75, 14, 0.175, undefined],
  ["gpt-5.1", 1.25, 10, 0.125, undefined],
  ["gpt-5", 1.25, 10, 0.125, undefined],
  ["gpt-5-mini", 0.25, 2, 0.025, undefined],
  ["gpt-5-nano", 0.05, 0.4, 0.005, undefined],
  ["gpt-4.1", 2, 8, 0.5, undefined],
  ["gpt-4.1-mini", 0.4, 1.6, 0.1, undefined],
  ["gpt-4.1-nano", 0.1, 0.4, 0.025, undefined],
  ["gpt-4o", 2.5, 10, 1.25, undefined],
  ["gpt-4o-mini", 0.15, 0.6, 0.075, undefined],
  ["o3", 2, 8, 0.5, undefined],
  ["o4-mini", 1.1, 4.4, 0.275, undefined],
] as const;

test.each(openai)("%s has the prices of the OpenAI table", (id, ...prices) => {
  const price = described(id).usdPerMTok;
  expect([price?.input, price?.output, price?.read, price?.write30m]).toEqual(prices);
  expect(described(id).minimumTokens).toBe(1024);
});

test("the large OpenAI window leaves 922,000 tokens for input and doubles in price above 272,000", () => {
  const long = ["gpt-6-astra", "gpt-6.1-sol", "gpt-6-luna", "gpt-5.6-terra", "gpt-5.5", "gpt-5.4"];
  for (const id of long) {
    const model = described(id);
    expect([model.windowTokens, model.inputTokensMax, model.outputTokensMax]).toEqual([
      1_050_000, 922_000, 128_000,
    ]);
    expect(model.usdPerMTok?.tiers[0]?.aboveTokens).toBe(272_000);
    expect(model.usdPerMTok?.tiers[0]?.input).toBe((model.usdPerMTok?.input ?? 0) * 2);
    expect(model.usdPerMTok?.tiers[0]?.output).toBe((model.usdPerMTok?.output ?? 0) * 1.5);
  }
  expect(described("gpt-5.4-mini").windowTokens).toBe(400_000);
  expect(described("gpt-5.4-mini").usdPerMTok?.tiers).toEqual([]);
});

test("a write for twelve hours has no published price", () => {
  expect(described("gpt-6.1-sol").usdPerMTok?.write12h).toBeNull();
});

// id, window, in, out, read
const others = [
  ["gemini-4-argon", 1_048_576, 2, 10, 0.1],
  ["gemini-3.8-flash", 1_048_576, 0.75, 3.75, 0.075],
  ["gemini-3.7-flash", 1_048_576, 0.75, 3.75, 0.075],
  ["gemini-3.6-flash", 1_048_576, 0.75, 3.75, 0.075],
  ["gemini-3.5-flash", 1_048_576, 1.5, 9, 0.15],
  ["gemini-3.1-pro-preview", 1_048_576, 2, 12, 0.2],
  ["gemini-2.5-pro", 1_048_576, 1.25, 10, 0.125],
  ["gemini-2.5-flash", 1_048_576, 0.3, 2.5, 0.03],
  ["deepseek-flash", 1_000_000, 0.3, 1.2, 0.006],
  ["deepseek-v4-pro", 1_000_000, 1.32, 3.96, 0.044],
  ["kimi-k3", 1_048_576, 3, 15, 0.3],
  ["kimi-k3.1-pro", 1_048_576, 2, 10, 0.2],
  ["kimi-k2.7-code", 262_144, 0.95, 4, 0.19],
  ["grok-4.7", 500_000, 2, 6, 0.5],
  ["grok-4.5", 500_000, 2, 6, 0.3],
  ["grok-4.3", 1_000_000, 1.25, 2.5, 0.2],
  ["glm-5.3", 1_000_000, 1.4, 4.4, 0.26],
  ["glm-5.3-flash", 1_000_000, 0.15, 0.5, 0.03],
  ["MiniMax-M3", 1_000_000, 0.3, 1.2, 0.06],
  ["qwen3.8-max", 1_000_000, 2, 6, 0.25],
  ["qwen3.7-max", 1_000_000, 1.475, 4.425, 0.295],
  ["mistral-large-4", 1_048_576, 0.7, 2.1, 0.07],
  ["mistral-medium-latest", 262_144, 1.5, 7.5, 0.15],
] as const;

test.each(others)("%s has the facts of the table of other providers", (id, window, ...prices) => {
  const model = described(id);
  expect(model.windowTokens).toBe(window);
  expect([model.usdPerMTok?.input, model.usdPerMTok?.output, model.usdPerMTok?.read]).toEqual(
    prices,
  );
});

test("prices change on their day", () => {
  expect(readOf("claude-sonnet-5-5", "2026-09-28")).toBe(0.2);
  expect(readOf("claude-sonnet-5-5", "2026-10-06")).toBe(0.2);
  expect(readOf("claude-sonnet-5-5", "2026-10-07")).toBe(0.1);
  expect(readOf("gpt-5.6-sol", "2026-08-20")).toBe(0.5);
  expect(readOf("gpt-5.6-sol", "2026-08-21")).toBe(0.4);
  expect(readOf("gemini-3.8-flash", "2026-12-31")).toBe(0.075);
  expect(readOf("gemini-3.8-flash", "2027-01-01")).toBe(0.15);
});

describe("for every model", () => {
  test("the catalogue is not empty", () => {
    expect(models.length).toBeGreaterThan(130);
    expect(new Set(models.map((model) => model.provider)).size).toBe(10);
  });

  test("there is a source and a day it was checked", () => {
    const undated = models.filter(
      (model) => model.source.length < 10 || !/^2026-\d{2}-\d{2}$/.test(model.checkedOn),
    );
    expect(idsOf(undated)).toEqual([]);
  });

  test("every route has facts of its own and a name", () => {
    const strays = models.flatMap((model) =>
      builtInCatalogue
        .routesOf(model.id)
        .filter(
          (route) =>
            builtInCatalogue.factsOf(model.id, { route }).route !== route ||
            !builtInCatalogue.routes.has(route),
        ),
    );
    expect(strays).toEqual([]);
  });

  test("an input fits the window and an output does not exceed it", () => {
    const tooLarge = models.filter(
      (model) => Math.max(model.inputTokensMax, model.outputTokensMax ?? 0) > model.windowTokens,
    );
    expect(idsOf(tooLarge)).toEqual([]);
  });

  test("image types are named exactly where images are accepted", () => {
    const odd = models.filter(
      (model) => model.imageMediaTypes.length > 0 !== model.capabilities.images,
    );
    expect(idsOf(odd)).toEqual([]);
  });

  test("a price stands for every lifetime that can be written", () => {
    const odd = models.filter((model) =>
      rowsOf(model).some(({ rates }) =>
        lifetimes.some(
          (lifetime) =>
            rates.writePicoUsd[lifetime] !== undefined &&
            !model.cache.lifetimes.some((each) => each.lifetime === lifetime),
        ),
      ),
    );
    expect(idsOf(odd)).toEqual([]);
  });

  test("a read price stands exactly where something is cached", () => {
    const odd = models.filter((model) => {
      const row = rowsOf(model).at(-1);
      const read = row?.rates.readPicoUsd ?? null;
      return row !== undefined && (read !== null) !== (model.cache.marking !== "none");
    });
    // These read only stored prefixes, which are a separate resource.
    expect(idsOf(odd)).toEqual(["gemini-2.0-flash", "gemini-1.5-flash"]);
  });
});

test("Claude reads cost a tenth of the input, and less on the newest models", () => {
  const multipliers = models
    .filter((model) => model.provider === "anthropic" && model.cache.readMultiplier !== null)
    .filter((model) => model.cache.readMultiplier !== 0.1)
    .map((model) => [model.id, model.cache.readMultiplier]);
  expect(multipliers).toEqual([
    ["claude-fable-5-2", 0.025],
    ["claude-mythos-5-2", 0.025],
    ["claude-fable-5-1", 0.025],
    ["claude-mythos-5-1", 0.025],
    ["claude-opus-5-5", 0.05],
    ["claude-sonnet-5-5", 0.05],
    // The vendor rounded 0.025 to 0.03.
    ["claude-3-haiku", 0.12],
  ]);
});

test("a write costs what its provider says on every price row, and elsewhere where it is known", () => {
  const usual: Readonly<Record<string, string>> = {
    anthropic: "5m 1.25, 1h 2",
    openai: "30m 1.25, 12h ?",
    minimax: "5m 1.25",
    moonshot: "5m 1, 1h 2",
    qwen: "5m 1.25",
  };
  const written = models.flatMap((model) =>
    rowsOf(model).map(({ rates }) => {
      const shares = lifetimes.flatMap((lifetime) => {
        const write = rates.writePicoUsd[lifetime];
        if (write === undefined) return [];
        return `${lifetime} ${write === null ? "?" : Number(write) / Number(rates.inputPicoUsd)}`;
      });
      return { id: model.id, usual: usual[model.provider], text: shares.join(", ") };
    }),
  );
  const unusual = written.filter((each) => each.text !== "" && each.text !== each.usual);
  expect(unusual.map(({ id, text }) => [id, text])).toEqual([
    // The vendor rounded 0.3125 to 0.30.
    ["claude-3-haiku", "5m 1.2, 1h 2"],
    ["MiniMax-M3.1-Flash", "5m 1"],
    ["MiniMax-M3", "5m 1"],
    ["MiniMax-M2.7-highspeed", "5m 0.625"],
    ["qwen3.8-max", "5m ?"],
  ]);
});

const multipliers = (id: string) =>
  resolveModel(id).facts.cache.lifetimes.map((each) => [each.lifetime, each.writeMultiplier]);

test("a lifetime's multiplier is that of its price, and not known without one", () => {
  expect(multipliers("claude-3-haiku")).toEqual([
    ["5m", 1.2],
    ["1h", 2],
  ]);
  // Keeping a prefix for 24 hours has no price of its own; it costs the input price.
  expect(multipliers("gpt-5.4")).toEqual([["24h", 1]]);
  expect(multipliers("claude-mythos-preview")).toEqual([
    ["5m", null],
    ["1h", null],
  ]);
});

test("DeepSeek's prices say which hours they are for", () => {
  const notes = models
    .filter((model) => model.provider === "deepseek")
    .map((model) => model.notes.join(" "));
  expect(notes.length).toBe(5);
  for (const note of notes)
    expect(note).toMatch(/every call is priced as at standard hours|half of them at other hours/i);
});

// People read these files. An entry that nothing refers to misleads them.
test.each(builtInFiles)("every family and every rule of %s is used", (_file, value) => {
  const { families, caches } = value as Record<"families" | "caches", object>;
  const text = JSON.stringify(value);
  const unused = [...Object.keys(families), ...Object.keys(caches)].filter(
    // Once where it is defined, and at least once where it is used.
    (name) => text.split(JSON.stringify(name)).length < 3,
  );
  expect(unused).toEqual([]);
});

test("models without a known price say why", () => {
  const unpriced = models.flatMap((model) =>
    model.prices.kind === "unpriced" ? [[model.id, model.prices.reason]] : [],
  );
  expect(unpriced).toEqual([
    ["claude-mythos-preview", "the preview's price is in none of our sources"],
    ["claude-2.1", "no source lists this exact id"],
    ["glm-5.3-highspeed", "sold in plans only; no price per token in our sources"],
  ]);
});

test("thinking is bound to its prefix on the models that enforce it", () => {
  expect(
    models.filter((model) => model.capabilities.thinkingBoundToPrefix).map((model) => model.id),
  ).toEqual([
    "claude-fable-5-2",
    "claude-mythos-5-2",
    "claude-fable-5-1",
    "claude-mythos-5-1",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
  ]);
});

test("earlier thinking is stripped on Claude models before Opus 4.5 and Sonnet 4.6, and on Haiku 4.5", () => {
  expect(
    models.filter((model) => model.capabilities.stripsPriorThinking).map((model) => model.id),
  ).toEqual([
    "claude-opus-4-1",
    "claude-opus-4",
    "claude-sonnet-4-5",
    "claude-sonnet-4",
    "claude-haiku-4-5",
    "claude-3-7-sonnet",
  ]);
});

test("mid-conversation system messages are taken from Opus 4.8 on, and not by Sonnet 5", () => {
  const ids = ["claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-5", "claude-sonnet-5-5"];
  expect(ids.map(takesSystemMessages)).toEqual([false, true, false, true]);
});

test("tools add the published number of tokens to a Claude prompt", () => {
  const overheads = models.flatMap((model) =>
    model.toolPromptTokens === null
      ? []
      : [[model.id, model.toolPromptTokens.auto, model.toolPromptTokens.forced]],
  );
  expect(overheads).toEqual([
    ["claude-opus-5", 286, 406],
    ["claude-opus-4-8", 290, 410],
    ["claude-opus-4-7", 675, 804],
    ["claude-opus-4-6", 497, 589],
    ["claude-opus-4-5", 496, 588],
    ["claude-sonnet-5", 354, 474],
    ["claude-sonnet-4-6", 497, 589],
    ["claude-sonnet-4-5", 496, 588],
    ["claude-haiku-4-5", 496, 588],
  ]);
});
