// Goal: every server of Chat Completions takes our requests, and its counts become money. Method: a session with tools, streamed,
// against a strict server for each, configured as a user would.
import { expect, test } from "vitest";
import { costOf } from "../../src/core/models/cost.ts";
import type { Usage } from "../../src/core/message/usage.ts";
import { openaiChat } from "../../src/index.ts";
import { assemblyOf, encodeOf, sol } from "../../src/core/wire/openai/test-kit.ts";
import { makePlace, plantedKey, start } from "../engine/test-kit.ts";
import { dialects, type DialectName } from "./dialects.ts";
import { openStrictServer, type Counts, type StrictServer } from "./strict-server.ts";

/** The name of the provider in strata.yaml, and the model. */
const reached: Readonly<Record<DialectName, readonly [provider: string, model: string]>> = {
  deepseek: ["deepseek", "deepseek-flash"],
  moonshot: ["moonshot", "kimi-k3"],
  mistral: ["mistral", "mistral-large-4"],
  xai: ["xai", "grok-4.7"],
  qwen: ["qwen", "qwen3.7-max"],
  zai: ["zai", "glm-5.3"],
  groq: ["groq", "llama"],
  minimax: ["minimax", "minimax-m3"],
  gemini: ["google", "gemini-3.8-flash"],
  "lm-studio": ["lm-studio", "llama"],
  vllm: ["vllm", "llama"],
  "llama.cpp": ["llama.cpp", "llama"],
  ollama: ["ollama", "llama"],
  openrouter: ["openrouter", "openrouter/claude-sonnet-4-6"],
  unknown: ["garage", "llama"],
};

const configOf = (url: string, provider: string, model: string, more = ""): string => `
models:
  default: ${model}
  add:
    llama:
      provider: ${provider === "openrouter" ? "garage" : provider.replace(/^(deepseek|moonshot|mistral|xai|qwen|zai|minimax|google)$/, "garage")}
      window: 131072
      maxOutput: 8192
      prices: [{ input: 0.6, output: 0.8, read: 0.3 }]
      can: { tools: true, streaming: true, systemPrompt: true }
tools: { toolset: read-only }
policies: { default: tail-5m }
providers:
  "${provider}": { kind: openai-compatible, base_url: "${url}", api_key: ${plantedKey}${more} }
`;

const names = Object.keys(dialects) as readonly DialectName[];

test.each(names)(
  "%s takes a streamed session with tools, and its counts become money (N-15, H-07, D-03, D-12)",
  async (name) => {
    const server = await openStrictServer(dialects[name]);
    const [provider, model] = reached[name];
    const place = makePlace();
    place.put("AGENTS.md", "Be brief, and say where you looked. ".repeat(400));
    place.put("notes.md", "hello");
    place.configure(configOf(server.url, provider, model));
    const { engine } = await start(place);
    const session = await engine.open();
    const { session: opened } = session;
    const calls = [];
    for (const words of ["What is in notes.md?", "And again?"]) {
      const run = await session.run(words).result;
      expect(server.refusals).toEqual([]);
      expect(run.end).toBe("done");
      calls.push(...run.calls);
    }
    expect(server.bodies.map((body) => body["stream"])).toEqual([true, true, true, true]);
    expect(calls.map(({ usage }) => usage)).toEqual(
      server.counted.map((counts) => usageOf(counts, name)),
    );
    for (const { usage, costPicoUsd, startMs } of calls) {
      const byPrice = usage === null ? null : costOf(usage, opened.model, { at: startMs });
      const billed = name === "openrouter" ? 12_300_000_000n : byPrice?.totalPicoUsd;
      expect(costPicoUsd).toBe(billed);
    }
    expect(calls.at(-1)?.usage?.cacheReadTokens ?? 0).toBeGreaterThan(
      name === "ollama" ? -1 : 1000,
    );
    expect(calls.map(({ servedBy }) => servedBy)).toEqual(
      calls.map(() => (name === "openrouter" ? "Anthropic" : undefined)),
    );
  },
);

/** The true counts in our buckets. Kimi does not say how much of a reply is thinking; Ollama is silent about its cache. */
function usageOf(counts: Counts, name: DialectName): Usage {
  const { prompt, written, output, thinking } = counts;
  const read = name === "ollama" ? 0 : counts.read;
  const isSplit = name !== "moonshot";
  return {
    uncachedTokens: prompt - read - written,
    cacheReadTokens: read,
    cacheWriteTokens: written > 0 ? { "5m": written } : {},
    outputTokens: isSplit ? output : output + thinking,
    reasoningTokens: isSplit ? thinking : 0,
  };
}

test.each(names)(
  "%s refuses requests as OpenAI takes them, so that the server is strict",
  (name) => {
    const call = { protocol: openaiChat, system: ["Rules."], volatile: "It is noon." };
    const body = encodeOf(call).toObject() as { readonly messages: never };
    expect(assemblyOf(call).blocks.length).toBe(3);
    expect(sol.wire.systemRole).toBe("developer");
    expect(dialects[name].refuse(body, body.messages)).not.toBeNull();
  },
);

test("an unknown server gets what its entry in strata.yaml says", async () => {
  const server: StrictServer = await openStrictServer(dialects.ollama);
  const place = makePlace();
  const wire =
    ", wire: { like: openai, system_role: system, output_limit: max_tokens, stream_usage: false }";
  place.configure(configOf(server.url, "garage", "llama", wire));
  const { engine } = await start(place);
  const { end } = await (await engine.open()).run("Hello?").result;
  expect(end).toBe("done");
  const [body] = server.bodies;
  expect(body).toMatchObject({
    messages: [{ role: "system", content: [{ type: "text" }] }, {}, {}],
  });
  expect(Object.keys(body ?? {})).toEqual(expect.arrayContaining(["max_tokens", "stream"]));
  expect(body).not.toHaveProperty("stream_options");
});

test.each<readonly [DialectName, string, string, string | null, string]>([
  ["deepseek", "deepseek-flash", "DEEPSEEK", "DEEPSEEK_API_KEY", "deepseek-flash"],
  ["moonshot", "kimi-k3", "MOONSHOT", "MOONSHOT_API_KEY", "kimi-k3"],
  ["mistral", "mistral-large-4", "MISTRAL", "MISTRAL_API_KEY", "mistral-large-4"],
  ["xai", "grok-4.7", "XAI", "XAI_API_KEY", "grok-4.7"],
  ["qwen", "qwen3.7-max", "DASHSCOPE", "DASHSCOPE_API_KEY", "qwen3.7-max"],
  ["zai", "glm-5.3", "ZAI", "ZAI_API_KEY", "glm-5.3"],
  ["groq", "groq/openai/gpt-oss-120b", "GROQ", "GROQ_API_KEY", "openai/gpt-oss-120b"],
  ["minimax", "minimax-m3", "MINIMAX", "MINIMAX_API_KEY", "MiniMax-M3"],
  [
    "openrouter",
    "openrouter/claude-sonnet-4-6",
    "OPENROUTER",
    "OPENROUTER_API_KEY",
    "anthropic/claude-sonnet-4.6",
  ],
  ["ollama", "ollama/qwen3:8b", "OLLAMA", null, "qwen3:8b"],
  ["vllm", "vllm/Qwen/Qwen3-8B", "VLLM", null, "Qwen/Qwen3-8B"],
  ["llama.cpp", "llama.cpp/gemma", "LLAMA", null, "gemma"],
  ["lm-studio", "lm-studio/gemma", "LM_STUDIO", null, "gemma"],
])(
  "%s is reached by name: %s needs no entry in strata.yaml",
  async (name, model, prefix, keyVariable, sent) => {
    const server = await openStrictServer(dialects[name]);
    const place = makePlace();
    place.put("notes.md", "hello");
    place.configure(`models: { default: "${model}" }\ntools: { toolset: read-only }\n`);
    const env = {
      STRATA_DATA_DIR: place.folder,
      [`${prefix}_BASE_URL`]: server.url,
      ...(keyVariable === null ? {} : { [keyVariable]: plantedKey }),
    };
    const { engine } = await start(place, { env });
    const { end, calls } = await (await engine.open()).run("What is in notes.md?").result;
    expect([end, calls.length, server.refusals]).toEqual(["done", 2, []]);
    expect(server.bodies[0]?.["model"]).toBe(sent);
    expect(server.keys[0]).toBe(keyVariable === null ? null : `Bearer ${plantedKey}`);
    const isFree = calls.every(({ costPicoUsd }) => costPicoUsd === 0n);
    expect(isFree).toBe(keyVariable === null);
    const prefillMs = name === "llama.cpp" ? 12.5 : undefined;
    expect(calls.map((call) => call.prefillMs)).toEqual([prefillMs, prefillMs]);
  },
);

test("the host that answered on OpenRouter is asked for first in the next calls", async () => {
  const server = await openStrictServer(dialects.openrouter);
  const place = makePlace();
  place.put("notes.md", "hello");
  place.configure(configOf(server.url, "openrouter", "openrouter/claude-sonnet-4-6"));
  const { engine } = await start(place);
  const { calls } = await (await engine.open()).run("What is in notes.md?").result;
  expect(calls.map(({ servedBy }) => servedBy)).toEqual(["Anthropic", "Anthropic"]);
  expect(server.bodies.map((body) => body["provider"])).toEqual([
    undefined,
    { order: ["Anthropic"], allow_fallbacks: true },
  ]);
});
