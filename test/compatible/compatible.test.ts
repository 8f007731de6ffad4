// Goal: every server of Chat Completions takes our requests, and its counts become money. Method: a session with tools, streamed,
// against the simulator as that vendor, which refuses, counts and bills as the vendor does; configured as a user would.
import { describe, expect, test } from "vitest";
import type { Usage } from "../../src/core/message/usage.ts";
import { costOf } from "../../src/core/models/cost.ts";
import { toPicoUsd } from "../../src/core/models/pico-usd.ts";
import { assemblyOf, encodeOf, sol } from "../../src/core/wire/openai/test-kit.ts";
import { openaiChat } from "../../src/index.ts";
import type { CallRecord } from "../../src/simulator/surface.ts";
import { makePlace, plantedKey, start } from "../engine/test-kit.ts";
import { billedBy, chatPaths, serveVendor, type VendorName } from "./vendor-server.ts";

/** The name of the provider in strata.yaml, and the model. */
const reached: Readonly<Record<VendorName, readonly [provider: string, model: string]>> = {
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

const names = Object.keys(chatPaths).filter((name): name is VendorName => name in reached);

/** They say nothing about their cache, or only where they were started so. */
const silent: ReadonlySet<VendorName> = new Set(["ollama", "lm-studio", "vllm"]);

test.each(names)(
  "%s takes a streamed session with tools, and its counts become money (N-15, H-07, D-03, D-12)",
  async (name) => {
    const server = await serveVendor(name);
    const [provider, model] = reached[name];
    const place = makePlace();
    place.put("AGENTS.md", "Be brief, and say where you looked. ".repeat(800));
    place.put("notes.md", "hello");
    place.configure(configOf(server.url, provider, model));
    const { engine } = await start(place);
    const session = await engine.open();
    const { session: opened } = session;
    const calls = [];
    for (const words of ["What is in notes.md?", "And again?"]) {
      const run = await session.run(words).result;
      expect(server.refusals()).toEqual([]);
      expect(run.end).toBe("done");
      calls.push(...run.calls);
    }
    expect(server.bodies.map((body) => body["stream"])).toEqual([true, true, true, true]);
    const billed = billedBy(server.simulator);
    expect(calls.map(({ usage }) => usage)).toEqual(billed.map((bill) => usageOf(bill, name)));
    for (const [index, { usage, costPicoUsd, startMs }] of calls.entries()) {
      const byPrice = usage === null ? null : costOf(usage, opened.model, { at: startMs });
      const told = Number(billed[index]?.costUsd?.slice(1));
      const charged = name === "openrouter" ? toPicoUsd(told) : byPrice?.totalPicoUsd;
      expect(costPicoUsd).toBe(charged);
    }
    expect(billed.at(-1)?.bill.readTokens).toBeGreaterThan(1000);
    expect(calls.map(({ servedBy }) => servedBy)).toEqual(billed.map(({ host }) => host));
    expect(calls.every(({ servedBy }) => servedBy === undefined)).toBe(name !== "openrouter");
  },
);

/** The bill in our buckets. Kimi does not say how much of a reply is thinking. */
function usageOf({ bill, outputTokens, reasoningTokens }: CallRecord, name: VendorName): Usage {
  const isSplit = name !== "moonshot";
  return {
    uncachedTokens: silent.has(name) ? bill.totalTokens : bill.uncachedTokens,
    cacheReadTokens: silent.has(name) ? 0 : bill.readTokens,
    cacheWriteTokens: bill.writeTokens,
    outputTokens: isSplit ? outputTokens : outputTokens + reasoningTokens,
    reasoningTokens: isSplit ? reasoningTokens : 0,
  };
}

const priced = names.filter((name) => !silent.has(name) && !/groq|llama/.test(name));

test.each(priced)("%s: what a session costs is what the vendor bills", async (name) => {
  const server = await serveVendor(name);
  const [provider, model] = reached[name];
  const place = makePlace();
  place.put("AGENTS.md", "Be brief, and say where you looked. ".repeat(800));
  place.put("notes.md", "hello");
  place.configure(configOf(server.url, provider, model));
  const { engine } = await start(place);
  const { calls } = await (await engine.open()).run("What is in notes.md?").result;
  const told = billedBy(server.simulator).map(({ costUsd }) =>
    toPicoUsd(Number(costUsd?.slice(1))),
  );
  expect(told).toHaveLength(2);
  expect(calls.map(({ costPicoUsd }) => costPicoUsd)).toEqual(told);
});

describe("requests as OpenAI takes them", () => {
  const call = { protocol: openaiChat, system: ["Rules."], volatile: "It is noon." };
  const post = async (name: VendorName, model: string): Promise<Response> => {
    const server = await serveVendor(name);
    const body = { ...(encodeOf(call).toObject() as object), model };
    return fetch(`${server.url}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${plantedKey}` },
      body: JSON.stringify(body),
    });
  };
  const strict = names.filter((name) => name !== "openrouter");

  test.each(strict)("are refused by %s, so that the server is strict", async (name) => {
    expect(assemblyOf(call).blocks.length).toBe(3);
    expect(sol.wire.systemRole).toBe("developer");
    const [, model] = reached[name];
    const { status } = await post(name, model === "minimax-m3" ? "MiniMax-M3" : model);
    expect(status).toBeGreaterThanOrEqual(400);
  });

  test("are taken by OpenRouter, which moves system text to the start", async () => {
    const { status } = await post("openrouter", "anthropic/claude-sonnet-4.6");
    expect(status).toBe(200);
  });
});

test.each(["vllm", "llama.cpp", "ollama"] as const)(
  "a server that is not described takes our requests, whether it is like %s or not",
  async (name) => {
    const server = await serveVendor(name);
    const place = makePlace();
    place.put("notes.md", "hello");
    place.configure(configOf(server.url, "garage", "llama"));
    const { engine } = await start(place);
    const { end } = await (await engine.open()).run("What is in notes.md?").result;
    expect([end, server.refusals()]).toEqual(["done", []]);
  },
);

test("an unknown server gets what its entry in strata.yaml says", async () => {
  const server = await serveVendor("ollama");
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

test.each<readonly [VendorName, string, string, string | null, string]>([
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
    const server = await serveVendor(name);
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
    expect([end, calls.length, server.refusals()]).toEqual(["done", 2, []]);
    expect(server.bodies[0]?.["model"]).toBe(sent);
    expect(server.keys[0]).toBe(keyVariable === null ? null : `Bearer ${plantedKey}`);
    const isFree = calls.every(({ costPicoUsd }) => costPicoUsd === 0n);
    expect(isFree).toBe(keyVariable === null);
    // llama.cpp says it: a thousand tokens a second, and only what is not in its slot. Of the others it is measured, where it is theirs.
    const saidMs = billedBy(server.simulator).map(({ bill }) => bill.uncachedTokens);
    const readMs = calls.map((call) => call.prefillMs);
    const isSaid = name === "llama.cpp";
    const shown = isSaid ? readMs : readMs.map((ms) => ms !== undefined && ms >= 0);
    expect(shown).toEqual(isSaid ? saidMs : [isFree, isFree]);
  },
);

test("the host that answered on OpenRouter is asked for first in the next calls", async () => {
  const server = await serveVendor("openrouter");
  const place = makePlace();
  place.put("notes.md", "hello");
  place.configure(configOf(server.url, "openrouter", "openrouter/claude-sonnet-4-6"));
  const { engine } = await start(place);
  const { calls } = await (await engine.open()).run("What is in notes.md?").result;
  const [host] = calls.map(({ servedBy }) => servedBy);
  expect(calls.map(({ servedBy }) => servedBy)).toEqual([host, host]);
  expect(server.bodies.map((body) => body["provider"])).toEqual([
    undefined,
    { order: [host], allow_fallbacks: true },
  ]);
});
