// What a configured provider is made with: protocol, address, credentials, time limits, retries.
import type { ProviderConfig, ProviderKind } from "../../core/config/schema/providers.ts";
import { StrataError } from "../../core/strata-error.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../core/wire/openai/responses/index.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { anthropicEndpoint, openaiEndpoint } from "./endpoints.ts";
import type { ProviderOptions } from "./provider.ts";

export function protocolOfKind(kind: Exclude<ProviderKind, "simulator">): Protocol {
  return protocols[kind];
}

const protocols: Readonly<Record<Exclude<ProviderKind, "simulator">, Protocol>> = {
  anthropic: anthropicMessages,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  "openai-compatible": openaiChat,
};

/** The simulator speaks for two providers, each in its own words. */
export function simulatedProtocol(model: {
  readonly id: string;
  readonly provider: string;
}): Protocol {
  const protocol = spokenBySimulator.get(model.provider);
  if (protocol !== undefined) return protocol;
  const known = [...spokenBySimulator.keys()].join(" and ");
  throw new StrataError(
    "environment-unfit",
    `the simulator answers for models of ${known}, not for ${model.id}`,
    `choose one of theirs, or describe the provider ${model.provider} in your strata.yaml`,
  );
}

const spokenBySimulator: ReadonlyMap<string, Protocol> = new Map([
  ["anthropic", anthropicMessages],
  ["openai", openaiResponses],
]);

export function toProviderOptions(settings: ProviderConfig, protocol: Protocol): ProviderOptions {
  const { apiKey, baseUrl, headers, timeouts, retries } = settings;
  const toEndpoint = settings.kind === "anthropic" ? anthropicEndpoint : openaiEndpoint;
  const endpoint = toEndpoint({
    apiKey: apiKey ?? "not sent",
    ...(baseUrl === null ? {} : { baseUrl }),
  });
  const own = apiKey === null ? {} : endpoint.credentials;
  return {
    protocol,
    baseUrl: endpoint.baseUrl,
    // Headers somebody configured may be secrets, too.
    credentials: { ...own, ...Object.fromEntries(headers) },
    timeouts,
    retries,
  };
}

/** The same text for the same settings. It holds the key: never to be printed. */
export function keyOfSettings(settings: ProviderConfig): string {
  return JSON.stringify({ ...settings, headers: [...settings.headers] });
}
