// Finds the protocol and model behind an AI SDK model, and how to write its markers.
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import type { Lifetime } from "../../core/message/usage.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { StrataError } from "../../core/strata-error.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { gemini } from "../../core/wire/gemini/index.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../core/wire/openai/responses/index.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { SdkModel, SdkOptions } from "./sdk-call.ts";

export interface NamedSdkModel {
  readonly facts: ModelFacts;
  readonly protocol: Protocol;
  readonly words: SdkWords;
}

/** The option names of one of the SDK's providers. */
interface SdkWords {
  /** The provider's key in `providerOptions`. */
  readonly name: string;
  /** The option that marks a part. */
  readonly marker: string;
  /** Every spelling that the SDK accepts. */
  readonly markerSpellings: readonly string[];
  readonly toMarker: (lifetime: Lifetime) => SdkOptions[string];
  /** The options for the whole request. */
  readonly toRequest: (plan: CachePlan) => SdkOptions[string];
  /** Wraps the provider's own usage in a body that the protocol can read. */
  readonly toBody: (usage: unknown) => object;
  /** The members of a request that are its prompt, as short as they can be. */
  readonly bare: Readonly<Record<string, unknown>>;
  /** The header and the option that ask for beta features; null if there are none. */
  readonly betas: { readonly header: string; readonly option: string } | null;
}

const bareMessages = { messages: [{ role: "user", content: "-" }] };

const anthropicWords: SdkWords = {
  name: "anthropic",
  marker: "cacheControl",
  markerSpellings: ["cacheControl", "cache_control"],
  toMarker: toCacheControl,
  toRequest: ({ requestMarker }) =>
    requestMarker === null ? {} : { cacheControl: toCacheControl(requestMarker) },
  toBody: (usage) => ({ type: "message", content: [], usage }),
  bare: { ...bareMessages, system: [] },
  betas: { header: "anthropic-beta", option: "anthropicBeta" },
};

function toCacheControl(lifetime: Lifetime): SdkOptions[string] {
  return lifetime === "5m" ? { type: "ephemeral" } : { type: "ephemeral", ttl: lifetime };
}

const openaiWords = {
  name: "openai",
  betas: null,
  marker: "promptCacheBreakpoint",
  markerSpellings: ["promptCacheBreakpoint"],
  toMarker: () => ({ mode: "explicit" }),
  toRequest: ({ cacheKey, mode, requestMarker }: CachePlan) => ({
    ...(cacheKey === null ? {} : { promptCacheKey: cacheKey }),
    ...(mode === "explicit" ? { promptCacheOptions: { mode } } : {}),
    ...(mode === null && requestMarker === "24h" ? { promptCacheRetention: "24h" } : {}),
  }),
} satisfies Partial<SdkWords>;

/** Keeps prefixes by itself and takes no markers. */
const googleWords: SdkWords = {
  name: "google",
  betas: null,
  marker: "cacheControl",
  markerSpellings: [],
  toMarker: () => ({}),
  toRequest: () => ({}),
  toBody: (usageMetadata) => ({
    candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }],
    usageMetadata,
  }),
  bare: { contents: [{ role: "user", parts: [{ text: "-" }] }] },
};

const known: readonly (readonly [ending: string, protocol: Protocol, words: SdkWords])[] = [
  ["anthropic.messages", anthropicMessages, anthropicWords],
  ["google.generative-ai", gemini, googleWords],
  [
    "openai.chat",
    openaiChat,
    {
      ...openaiWords,
      bare: bareMessages,
      toBody: (usage) => ({
        choices: [{ message: { content: "" }, finish_reason: "stop" }],
        usage,
      }),
    },
  ],
  [
    "openai.responses",
    openaiResponses,
    {
      ...openaiWords,
      bare: { input: "-", instructions: "" },
      toBody: (usage) => ({ status: "completed", output: [], usage }),
    },
  ],
];

/** Throws a `StrataError` for an unknown provider or model. */
export function reachModel(
  { provider, modelId }: Pick<SdkModel, "provider" | "modelId">,
  { model = modelId, catalogue }: { readonly model?: string; readonly catalogue?: Catalogue },
): NamedSdkModel {
  const found = known.find(([ending]) => provider === ending || provider.endsWith(`.${ending}`));
  if (found === undefined) {
    throw new StrataError(
      "input-invalid",
      `the AI SDK's provider ${provider} is not supported`,
      `wrap a model of ${known.map(([ending]) => ending).join(", ")}`,
    );
  }
  const [, protocol, words] = found;
  return { facts: resolveModel(model, catalogue).facts, protocol, words };
}
