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
