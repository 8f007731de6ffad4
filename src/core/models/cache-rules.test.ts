import { expect, test } from "vitest";
import { builtInCatalogue, listModels } from "./catalogue.ts";
import type { RequestChange } from "./invalidation.ts";
import { resolveModel } from "./resolve-model.ts";

const cacheOf = (id: string) => resolveModel(id).facts.cache;
const summary = (id: string) => [cacheOf(id).marking, cacheOf(id).minimumTokens];
const userTurnRule = (id: string) =>
  cacheOf(id).invalidation.find((each) => each.change === "user turn after thinking");

test("the Claude API takes four markers, looks back twenty positions and counts from the request's start", () => {
  expect(cacheOf("claude-opus-5-5")).toMatchObject({
    marking: "explicit",
    automatic: null,
    minimumTokens: 512,
    readMultiplier: 0.05,
    clock: "request start",
    refreshedByRead: true,
    readableWhen: "the first response begins",
    isolation: "workspace",
    prewarm: "max_tokens 0",
    diagnostics: true,
    lifetimes: [
      { lifetime: "5m", seconds: 300, writeMultiplier: 1.25 },
      { lifetime: "1h", seconds: 3600, writeMultiplier: 2 },
    ],
    markers: {
      markersMax: 4,
      excess: "rejected",
      requestLevel: true,
      lifetimeOrder: "longest first",
      lookback: {
        kind: "positions",
        positions: 20,
        counting: "a run of tool uses or of tool results is one",
      },
    },
  });
});

test("a Claude marker sits on tools, system and content, never on thinking or empty text", () => {
  const markers = cacheOf("claude-opus-5").markers;
  expect(markers?.carriers).toEqual(
    expect.arrayContaining(["tool definition", "system text", "text", "tool_use", "tool_result"]),
  );
  expect(markers?.never).toEqual(
    expect.arrayContaining(["thinking", "redacted_thinking", "empty text", "deferred tool"]),
  );
});

test("Bedrock counts every block, shares in the organization, and asks 4,096 tokens of Opus 4.7", () => {
  const bedrock = cacheOf("anthropic.claude-opus-4-7");
  expect(bedrock).toMatchObject({
    minimumTokens: 4096,
    isolation: "organization",
    diagnostics: false,
    markers: { markersMax: 4, lookback: { positions: 20, counting: "every block" } },
  });
  expect(cacheOf("claude-opus-4-7").minimumTokens).toBe(2048);
  expect(cacheOf("anthropic.claude-opus-4-8").minimumTokens).toBe(1024);
});

test("one marker for the whole request is claimed for Claude's own platforms and Vertex, never for Bedrock or OpenRouter", () => {
  const routes = builtInCatalogue.routesOf("claude-opus-5");
  const taken = routes.filter(
    (route) =>
      builtInCatalogue.factsOf("claude-opus-5", { route }).cache.markers?.requestLevel === true,
  );
  expect(taken).toEqual(["claude-api", "claude-aws", "vertex", "foundry"]);
  for (const id of ["anthropic.claude-opus-5", "anthropic.claude-opus-4-6"])
    expect(cacheOf(id).markers?.requestLevel).toBe(false);
  expect(resolveModel("anthropic.claude-opus-5").facts.notes.join(" ")).toContain(
    "refused for Opus 4.6 and earlier only",
  );
});

test("Claude Platform on AWS is the Claude API without diagnostics", () => {
  expect(cacheOf("claude-aws:claude-opus-4-7")).toEqual({
    ...cacheOf("claude-opus-4-7"),
    diagnostics: false,
    markers: {
      ...cacheOf("claude-opus-4-7").markers,
      lookback: { kind: "positions", positions: 20, counting: "every block" },
    },
  });
});

test("the conflict over Vertex's read prices is noted", () => {
  expect(resolveModel("vertex:claude-opus-5-5").facts.notes.join(" ")).toMatch(
    /Google's page says 90 % off for all.*lower prices, which are taken/,
  );
});

test("only models that take markers can say why the cache missed, on the vendors' own APIs", () => {
  const told = listModels().flatMap(({ id, provider }) =>
    builtInCatalogue.routesOf(id).flatMap((route) => {
      const { markers, diagnostics } = builtInCatalogue.factsOf(id, { route }).cache;
      return diagnostics ? [[provider, route, markers !== null].join(" ")] : [];
    }),
  );
  expect([...new Set(told)]).toEqual(["anthropic claude-api true", "openai openai-api true"]);
  expect([cacheOf("gpt-5.6-sol"), cacheOf("gpt-5.5")].map((each) => each.diagnostics)).toEqual([
    true,
    false,
  ]);
});

test("mid-conversation messages are claimed for the Claude API only", () => {
  const takes = ["claude-opus-5", "anthropic.claude-opus-5", "vertex:claude-opus-5"].map(
    (id) => resolveModel(id).facts.capabilities.midConversationSystem,
  );
  expect(takes).toEqual([true, false, false]);
});

test("no route makes an uncached model a cached one", () => {
  const markings = listModels()
    .filter((model) => model.cache.marking === "none")
    .flatMap(({ id }) =>
      builtInCatalogue
        .routesOf(id)
        .map((route) => builtInCatalogue.factsOf(id, { route }).cache.marking),
    );
  expect(new Set(markings)).toEqual(new Set(["none"]));
});

test("nothing is both a carrier and never one, on any route", () => {
  for (const model of listModels())
    for (const route of builtInCatalogue.routesOf(model.id)) {
      const { markers } = builtInCatalogue.factsOf(model.id, { route }).cache;
      expect(markers?.carriers.filter((each) => markers.never.includes(each)) ?? []).toEqual([]);
    }
});

// The invalidation table of the Claude API: which of tools, system and messages stay cached.
const survivals: readonly (readonly [RequestChange, readonly string[]])[] = [
  ["model", []],
  ["tool definitions", []],
  ["web search or fetch", ["tools"]],
  ["citations", ["tools"]],
  ["speed", ["tools"]],
  ["system text", ["tools"]],
  ["tool choice", ["tools", "system"]],
  ["parallel tool use", ["tools", "system"]],
  ["images appear or vanish", ["tools", "system"]],
  ["thinking", []],
  ["effort", []],
  ["thinking block dropped", ["tools", "system", "messages before it"]],
  ["context editing", ["tools", "system", "messages before it"]],
  ["marker moved", ["tools", "system", "messages"]],
  ["streaming", ["tools", "system", "messages"]],
];

test.each(survivals)("on the Claude API a change of %s leaves %j", (change, survives) => {
  const rule = cacheOf("claude-opus-5").invalidation.find((each) => each.change === change);
  expect(rule?.survives).toEqual(survives);
});

test("a user turn costs the messages only where earlier thinking is stripped", () => {
  expect(userTurnRule("claude-haiku-4-5")?.survives).toEqual(["tools", "system"]);
  expect(userTurnRule("claude-opus-5")).toBeUndefined();
});

test("OpenAI from GPT-5.6 on takes markers and keeps the latest message by itself", () => {
  expect(cacheOf("gpt-6.1-sol")).toMatchObject({
    marking: "both",
    readMultiplier: 0.05,
    markers: { markersMax: 4, excess: "the latest count", lifetimeOrder: "any" },
    automatic: { boundary: "end of the latest eligible message", takesMarkerSlot: true },
    lifetimes: [
      { lifetime: "30m", seconds: 1800, writeMultiplier: 1.25 },
      { lifetime: "12h", seconds: 43_200, writeMultiplier: null },
    ],
  });
});

test("earlier OpenAI models keep steps by themselves and take no markers", () => {
  const steps = (id: string) => {
    const { marking, automatic } = cacheOf(id);
    return [marking, automatic?.stepTokens, automatic?.reportedInSteps, automatic?.keptSecondsMax];
  };
  expect(steps("gpt-5.5")).toEqual(["automatic", 2048, 128, 86_400]);
  // Reporting in steps of 128 does not mean that prefixes are kept in such steps.
  expect(steps("gpt-5.4")).toEqual(["automatic", null, 128, 86_400]);
  expect(steps("gpt-4o")).toEqual(["automatic", null, 128, 3600]);
  expect(cacheOf("gpt-5.4-pro").marking).toBe("none");
});

const lifetimesOf = (id: string) => cacheOf(id).lifetimes.map(({ lifetime }) => lifetime);
const writesOf = (id: string) => {
  const { prices } = resolveModel(id).facts;
  return prices.kind === "priced" ? prices.rows.at(-1)?.rates.writePicoUsd : null;
};

test("the ChatGPT backend takes no markers, no twelve hours and no prewarming", () => {
  expect(cacheOf("chatgpt:gpt-6.1-sol")).toMatchObject({
    marking: "automatic",
    markers: null,
    prewarm: null,
    diagnostics: false,
  });
  expect(lifetimesOf("chatgpt:gpt-6.1-sol")).toEqual(["30m"]);
});

test("Azure shares within a subscription and keeps nothing for twelve hours", () => {
  expect(cacheOf("azure:gpt-6.1-sol").isolation).toBe("subscription");
  expect(lifetimesOf("azure:gpt-6.1-sol")).toEqual(["30m"]);
  expect(writesOf("azure:gpt-6.1-sol")).toEqual({ "30m": 2_500_000n });
  expect(lifetimesOf("azure:gpt-5.4")).toEqual(["24h"]);
  expect(lifetimesOf("gpt-6.1-sol")).toEqual(["30m", "12h"]);
});

test("nothing is claimed of how Bedrock caches OpenAI models", () => {
  for (const id of ["openai.gpt-6.1-sol", "openai.gpt-5.5", "openai.gpt-5.4"])
    expect({ ...cacheOf(id), readMultiplier: null }).toEqual({
      marking: "none",
      markers: null,
      stored: null,
      automatic: null,
      minimumTokens: null,
      readMultiplier: null,
      lifetimes: [],
      clock: "unpublished",
      refreshedByRead: null,
      readableWhen: "unpublished",
      isolation: "unpublished",
      prewarm: null,
      diagnostics: false,
      invalidation: [],
      note: null,
    });
});

test("wherever something is cached, another model, other tools or another system text lose it", () => {
  const survivors = listModels()
    .flatMap(({ id }) =>
      builtInCatalogue.routesOf(id).map((route) => builtInCatalogue.factsOf(id, { route })),
    )
    .filter(({ cache }) => cache.marking !== "none")
    .flatMap(({ id, provider, cache }) =>
      (["model", "tool definitions", "system text"] as const).flatMap((change) => {
        const rule = cache.invalidation.find((each) => each.change === change);
        const left = rule?.survives.join(", ") ?? "everything";
        return left === "" ? [] : [{ id, text: `${provider}: ${change} leaves ${left}` }];
      }),
    );
  // These two document the order of tools, system and messages.
  expect([...new Set(survivors.map(({ text }) => text))]).toEqual([
    "anthropic: system text leaves tools",
    "minimax: system text leaves tools",
  ]);
});

const renewed = (id: string) => cacheOf(id).refreshedByRead;

test("whether a read renews a lifetime is claimed only where it is published", () => {
  expect(["claude-opus-5", "gpt-5.6-sol", "qwen3.7-max"].map(renewed)).toEqual([true, true, true]);
  expect(["gpt-5.4", "MiniMax-M3", "grok-4.7", "deepseek-flash"].map(renewed)).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test("other providers keep by themselves, each with its minimum", () => {
  expect(summary("gemini-3.8-flash")).toEqual(["automatic", 4096]);
  expect(summary("vertex:gemini-3.8-flash")).toEqual(["automatic", 6144]);
  expect(summary("gemini-2.5-pro")).toEqual(["automatic", 2048]);
  expect(summary("deepseek-flash")).toEqual(["automatic", null]);
  expect(summary("grok-4.7")).toEqual(["automatic", null]);
  expect(summary("glm-5.3")).toEqual(["automatic", null]);
  expect(summary("mistral-large-4")).toEqual(["automatic", 64]);
  expect(summary("kimi-k3")).toEqual(["automatic", null]);
  expect(summary("qwen3.7-max")).toEqual(["both", 1024]);
  expect(summary("MiniMax-M2.7")).toEqual(["both", null]);
  expect(summary("openrouter/qwen/qwen3.7-max")).toEqual(["both", 1024]);
  expect(summary("openrouter/mistralai/mistral-large-4")).toEqual(["automatic", null]);
  expect(summary("claude-2")).toEqual(["none", null]);
});
