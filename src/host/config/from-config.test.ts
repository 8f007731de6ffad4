import { describe, expect, test } from "vitest";
import { defaultCompactionSettings } from "../../core/compaction/plan/settings.ts";
import { findPolicy } from "../../core/cache/policies.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { configOf } from "../../edge/config/test-kit.ts";
import { plantedToken } from "../../../harness/planted-key.ts";
import { createLiveCatalogue, toCatalogue } from "./catalogue.ts";
import type { EngineConfig } from "../../engine/session/engine-config.ts";
import {
  toCompactionSettings,
  toCounterSettings,
  toEngineConfig,
  toPolicy,
  toSummariserName,
  toWorldSettings,
} from "./from-config.ts";

function engineConfig(yaml: string, agent = "ana"): EngineConfig {
  return toEngineConfig(configOf(yaml), agent, { model: "claude-haiku-4-5" });
}

describe("an agent's model", () => {
  test("is its own, else the default, else whatever the caller has; aliases stand for models", () => {
    const yaml = `
models: { default: claude-sonnet-4-6, aliases: { fast: claude-haiku-5-5 } }
agents: { ana: { model: fast } }
`;
    expect(engineConfig(yaml).model).toBe("claude-haiku-5-5");
    expect(engineConfig(yaml, "bob").model).toBe("claude-sonnet-4-6");
    expect(engineConfig("{}").model).toBe("claude-haiku-4-5");
  });
});

test("sessions are kept warm only where a budget for it is written", () => {
  expect(engineConfig("{}").keepWarm).toBe(undefined);
  const yaml = "policies: { keep_warm: { usd_per_hour: 0.25 } }";
  expect(engineConfig(yaml).keepWarm).toEqual({ usdPerHour: 0.25 });
  expect(() => configOf("policies: { keep_warm: { usd_per_hour: 0 } }")).toThrow(
    "policies.keep_warm.usd_per_hour",
  );
});

describe("a policy", () => {
  test("is the agent's own, with the layout that is configured in place of the policy's", () => {
    const yaml = `
policies: { default: nexo, layout: { volatile: message-tail } }
agents: { ana: { policy: tail-1h } }
`;
    expect(toPolicy(configOf(yaml), "ana")).toEqual(findPolicy("tail-1h"));
    const { name, layout } = toPolicy(configOf(yaml), "bob");
    expect([name, layout.volatile, layout.systemBlocks]).toEqual([
      "nexo",
      "message-tail",
      "labelled",
    ]);
  });

  test("is none where an agent's prompts are not to be cached (N-05)", () => {
    const yaml = "agents: { ana: { context_optimization: { prompt_cache: false } } }";
    expect(toPolicy(configOf(yaml), "ana").name).toBe("none");
    expect(toPolicy(configOf(yaml), "bob").name).toBe("adaptive");
  });
});

describe("compaction", () => {
  test("without settings is as the engine has it by itself", () => {
    const { compaction } = configOf("{}");
    expect(toCompactionSettings(compaction, false)).toEqual(defaultCompactionSettings);
  });

  test("every setting of the file arrives (N-02)", () => {
    const yaml = `
context_optimization:
  compaction:
    enabled: true
    compact_at_pct: 0.5
    timing: at_once
    early: { from_pct: 0.4, from_tokens_max: 9000, gain_factor_min: 2 }
    tail_keep_tokens: 7
    tool_result_max_pct: 0.1
    summarizer_model: fast
    summary_shape: pair
    summary_pct: 0.1
    summary_max_tokens: 900
    user_words_max_tokens: 0
    lock_ttl_seconds: 60
    use_provider: true
    memory_flush: true
    micro: { threshold_bytes: 9 }
    auto: { token_pct: 0.6, max_age_minutes: 3, buffer_tokens: 4, min_turns_between: 5, max_consecutive_failures: 6 }
models: { aliases: { fast: claude-haiku-4-5 } }
agents: { bob: { context_optimization: { compaction: false } } }
`;
    const settings = engineConfig(yaml).compaction;
    expect(settings).toEqual({
      ...defaultCompactionSettings,
      isEnabled: true,
      compactAtShare: 0.5,
      timing: "at once",
      early: { fromShare: 0.4, fromTokensMax: 9000, gainFactorMin: 2 },
      tailKeepTokens: 7,
      toolResultShareMax: 0.1,
      summaryShape: "pair",
      summaryShareMax: 0.1,
      summaryTokensMax: 900,
      userWordsTokensMax: 0,
      lockSeconds: 60,
      mayUseProvider: true,
      flushesMemory: true,
      clearing: { ...defaultCompactionSettings.clearing, thresholdBytes: 9 },
      auto: {
        ...defaultCompactionSettings.auto,
        tokenShare: 0.6,
        ageMinutesMax: 3,
        bufferTokens: 4,
        turnsBetweenMin: 5,
        consecutiveFailuresMax: 6,
      },
    });
    expect(engineConfig(yaml, "bob").compaction?.isEnabled).toBe(false);
    const late = "context_optimization: { compaction: { early: { enabled: false } } }";
    expect(engineConfig(late).compaction?.early).toBe(null);
    expect(toSummariserName(configOf(yaml))).toBe("claude-haiku-4-5");
  });
});

test("the queue is as configured, a key that is not written as by default", () => {
  expect(engineConfig("queue: { mode: collect, debounce_ms: 250, drop: summarize }").queue).toEqual(
    {
      mode: "collect",
      debounceMs: 250,
      cap: 20,
      drop: "summarize",
    },
  );
});

test("counting is local for an agent that has it off", () => {
  const yaml = `
context_optimization: { token_counter: { cache_capacity: 9 } }
agents: { ana: { context_optimization: { token_counter: false } } }
`;
  expect(toCounterSettings(configOf(yaml), "ana")).toEqual({ backend: "local", capacity: 9 });
  expect(toCounterSettings(configOf(yaml), "bob")).toEqual({ backend: "auto", capacity: 9 });
});

test("memory, skills and tools are as configured, with the agent's own toolset", () => {
  const yaml = `
memory: { mode: live-tail, scope: shared, user_folder: /srv/ana/memory }
skills: { skills_max: 1, index_chars_max: 900 }
tools: { bash: true, permissions: [mail.send], confirm: [write], limits: { at_once_max: 2 } }
agents: { ana: { toolset: full } }
`;
  const { memory, skills, tools } = toWorldSettings(configOf(yaml), "ana", { skillsRoot: "/s" });
  expect(memory).toMatchObject({
    mode: "live-tail",
    scope: "shared",
    userFolder: "/srv/ana/memory",
  });
  expect(skills).toMatchObject({ globalRoot: "/s", limits: { skillsMax: 1, tokensMax: 30_000 } });
  expect(skills?.indexLengthMax).toBe(900);
  expect(tools?.toolset?.name).toBe("full");
  expect(tools?.toolset?.granted).toContain("mail.send");
  expect(tools).toMatchObject({ allowBash: true, confirmed: ["write"], limits: { atOnceMax: 2 } });
});

describe("model facts", () => {
  test("only providers that are named are asked for long lifetimes, by name or route", () => {
    expect(lifetimesOf("{}", "claude-sonnet-4-6")).toEqual(["5m", "1h"]);
    const none = "context_optimization: { prompt_cache: { long_ttl_providers: [] } }";
    expect(lifetimesOf(none, "claude-sonnet-4-6")).toEqual(["5m"]);
    const route = "context_optimization: { prompt_cache: { long_ttl_providers: [claude-api] } }";
    expect(lifetimesOf(route, "claude-sonnet-4-6")).toEqual(["5m", "1h"]);
  });

  test("hold a user's own models, and follow the configuration", () => {
    const add = `
models: { add: { llama: { provider: garage, window: 8000, status: active, tokenizer: other, source: me, checkedOn: "2026-11-15", unpriced: "my own" } } }
`;
    let config = configOf("{}");
    const catalogue = createLiveCatalogue(() => config);
    expect(catalogue.names.has("llama")).toBe(false);
    config = configOf(add);
    expect(resolveModel("llama", catalogue).facts.provider).toBe("garage");
    expect(catalogue.factsOf("llama")).toBe(catalogue.factsOf("llama"));
  });
});

test.each([
  ["vertex/claude-opus-5", "europe-west1", 5_500_000n],
  ["vertex/claude-opus-5", "eu", 5_500_000n],
  ["vertex/claude-opus-5", "global", 5_000_000n],
  ["projects/p/locations/global/publishers/anthropic/models/claude-opus-5", "eu", 5_500_000n],
  ["claude-opus-5", "europe-west1", 5_000_000n],
])(
  "%s, with Vertex configured in %s, costs what it costs where it is asked",
  (name, location, pico) => {
    const yaml = `providers: { vertex: { api_key: ${plantedToken}, places: { project: p, location: ${location} } } }`;
    const { prices } = resolveModel(name, toCatalogue(configOf(yaml))).facts;
    expect(prices.kind === "priced" && prices.rows[0]?.rates.inputPicoUsd).toBe(pico);
  },
);

function lifetimesOf(yaml: string, name: string): readonly string[] {
  const { facts } = resolveModel(name, toCatalogue(configOf(yaml)));
  return facts.cache.lifetimes.map(({ lifetime }) => lifetime);
}
