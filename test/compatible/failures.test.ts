// Goal: what a vendor answers when it fails is understood, whatever form it has. Method: the simulator as each vendor, in both
// protocols, with a fault of each kind; our own provider sends the request.
import { expect, onTestFinished, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { encodeOf } from "../../src/core/wire/openai/test-kit.ts";
import { configOf } from "../../src/edge/config/test-kit.ts";
import { reachProviders } from "../../src/edge/providers/reach-providers.ts";
import type { Provider } from "../../src/edge/providers/provider.ts";
import { vendorPath, type FaultSpec, type SimulatorOptions } from "../../src/simulator/index.ts";
import { serve } from "../engine/test-kit.ts";
import { chatPaths, readsNotes } from "./vendor-server.ts";

/** A vendor, the model, and where it speaks which kind. */
type Place = readonly [vendor: string, model: string, kind: string, path: string];

const models: Readonly<Record<string, string>> = {
  deepseek: "deepseek-flash",
  moonshot: "kimi-k3",
  mistral: "mistral-large-4",
  xai: "grok-4.7",
  qwen: "qwen3.7-max",
  zai: "glm-5.3",
  groq: "groq/llama",
  minimax: "minimax-m3",
  "lm-studio": "lm-studio/llama",
  vllm: "vllm/llama",
  "llama.cpp": "llama.cpp/llama",
  ollama: "ollama/llama",
  openrouter: "openrouter/claude-sonnet-4-6",
};

const overChat = Object.entries(chatPaths).flatMap(([vendor, path]): Place[] => {
  const model = models[vendor];
  return model === undefined ? [] : [[vendor, model, "openai-compatible", path]];
});

/** Their Messages APIs; the protocol adds /v1/messages. */
const overMessages: readonly Place[] = [
  ["deepseek", "deepseek-flash", "anthropic", "/anthropic"],
  ["moonshot", "kimi-k3", "anthropic", "/anthropic"],
  ["qwen", "qwen3.7-max", "anthropic", "/apps/anthropic"],
  ["minimax", "minimax-m3", "anthropic", "/anthropic"],
  ["zai", "glm-5.3", "anthropic", "/api/anthropic"],
  ["llama.cpp", "llama.cpp/llama", "anthropic", ""],
  ["ollama", "ollama/llama", "anthropic", ""],
  ["openrouter", "openrouter/claude-sonnet-4-6", "anthropic", "/api"],
];

interface Asked {
  readonly simulator?: SimulatorOptions;
  readonly stream?: boolean;
  readonly text?: string;
  /** As our models are called there; null for none. */
  readonly named?: string;
}

async function send(
  [vendor, name, kind, path]: Place,
  asked: Asked = {},
): ReturnType<Provider["send"]> {
  const { url } = await serve({ model: readsNotes(), ...asked.simulator });
  const names = asked.named === undefined ? "" : `, model_names: { "${name}": ${asked.named} }`;
  const yaml = `providers: { "${vendor}": { kind: ${kind}, base_url: "${url}${vendorPath(vendor)}${path}", api_key: ${plantedKey}, retries: { attempts_max: 1 }${names} } }`;
  const providers = reachProviders({ providers: () => configOf(yaml).providers });
  onTestFinished(() => providers.close());
  const { facts: model } = resolveModel(name);
  const { protocol, provider } = await providers.reach(model);
  const stream = asked.stream === true;
  const setting = { protocol, model, system: [asked.text ?? "Be brief."] };
  const request = encodeOf(setting, undefined, { stream, outputTokensMax: 1000 });
  return provider.send({ request, stream });
}

const places = [...overChat, ...overMessages];

test.each(places)("%s answers for %s as %s at %s", async (...place) => {
  for (const stream of [false, true]) {
    const { outcome } = await send(place, { stream });
    expect(outcome).toMatchObject({ kind: "reply", status: "complete", stopReason: "tool_use" });
    expect(outcome).toMatchObject({ usage: { isReported: true } });
  }
});

const faults: readonly (readonly [FaultSpec, string])[] = [
  [{ kind: "rate limited", retryAfterSeconds: 7 }, "rate-limited"],
  [{ kind: "server error" }, "server-error"],
  [{ kind: "overloaded" }, "overloaded"],
  [{ kind: "overflow", tokens: 213_462, tokensMax: 200_000 }, "context-overflow"],
];

test.each(places)("%s's failures are told apart (%s as %s at %s)", async (...place) => {
  for (const [fault, kind] of faults) {
    const { outcome } = await send(place, { simulator: { faults: [fault] } });
    expect(outcome).toMatchObject({
      kind,
      ...(kind === "rate-limited" ? { retryAfterMs: 7000 } : {}),
    });
  }
});

test.each(places)("a stream of %s that breaks is no reply (%s as %s at %s)", async (...place) => {
  const cut = await send(place, {
    stream: true,
    simulator: { faults: [{ kind: "cut", afterEvents: 3 }] },
  });
  expect(cut.outcome).toMatchObject({ kind: "reply", status: "partial" });
  const malformed = { kind: "malformed", afterEvents: 3 } as const;
  const broken = await send(place, { stream: true, simulator: { faults: [malformed] } });
  expect(broken.outcome).toMatchObject({ kind: "reply", status: "partial" });
});

const narrow = places.filter(([, name]) => resolveModel(name).facts.inputTokensMax <= 300_000);

test.each(narrow)("%s refuses a prompt that is too long (%s as %s at %s)", async (...place) => {
  const { facts } = resolveModel(place[1]);
  const text = "and so on ".repeat(Math.ceil(facts.inputTokensMax / 2));
  const { outcome } = await send(place, { text });
  expect(outcome.kind).toBe("context-overflow");
});

const listed = places.filter(([vendor]) => !/groq|lm-studio|vllm|llama|ollama/.test(vendor));

test.each(listed)("%s does not know every model (%s as %s at %s)", async (...place) => {
  const { outcome } = await send(place, { named: "no-such-model" });
  const [vendor, , kind] = place;
  const isRouter = vendor === "openrouter" && kind !== "anthropic";
  expect(outcome.kind).toBe(isRouter ? "invalid-request" : "not-found");
});

test.each(places)(
  "%s wants a key, but for servers of one's own (%s as %s at %s)",
  async (...place) => {
    const [vendor, , kind, path] = place;
    const { url } = await serve();
    const end = kind === "anthropic" ? "/v1/messages" : "/chat/completions";
    const { status } = await fetch(`${url}${vendorPath(vendor)}${path}${end}`, {
      method: "POST",
      body: "{}",
    });
    expect(status).toBe(/lm-studio|vllm|llama/.test(vendor) ? 400 : 401);
  },
);

test("a key without credit is refused by OpenRouter as a bill that is not paid", async () => {
  const place = places.find(([vendor]) => vendor === "openrouter");
  if (place === undefined) throw new Error("the router is among the vendors");
  const { outcome } = await send(place, { simulator: { openrouter: { creditUsd: 0 } } });
  expect(outcome.kind).toBe("billing");
});
