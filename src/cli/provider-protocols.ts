// How a provider is spoken to from the command line: its protocols, and the endpoint its variables name.
import { anthropicMessages } from "../core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../core/wire/openai/chat/index.ts";
import { openaiResponses } from "../core/wire/openai/responses/index.ts";
import type { Protocol, ProtocolName } from "../core/wire/protocol.ts";
import {
  anthropicEndpoint,
  openaiEndpoint,
  type Endpoint,
  type EndpointOptions,
} from "../edge/providers/endpoints.ts";
import { readProviderAccess, type Environment } from "./read-config.ts";

export type FoundEndpoint =
  | {
      readonly kind: "found";
      readonly endpoint: Endpoint;
      /** The variables it is from. */
      readonly origin: string;
    }
  /** In words, such as "OPENAI_API_KEY is not set". */
  | { readonly kind: "none"; readonly why: string };

export function findEndpoint(env: Environment, provider: string): FoundEndpoint {
  const access = readProviderAccess(env, provider);
  const toEndpoint = endpoints.get(provider);
  if (access === null || toEndpoint === undefined) {
    const known = [...endpoints.keys()].join(" and ");
    return { kind: "none", why: `strata can ask models of ${known}, not of ${provider}` };
  }
  const { apiKey, keyName, baseUrl, urlName } = access;
  if (apiKey === null) return { kind: "none", why: `${keyName} is not set` };
  const endpoint = toEndpoint({ apiKey, ...(baseUrl === null ? {} : { baseUrl }) });
  const origin = baseUrl === null ? keyName : `${keyName} and ${urlName}`;
  return { kind: "found", endpoint, origin };
}

const endpoints: ReadonlyMap<string, (options: EndpointOptions) => Endpoint> = new Map([
  ["anthropic", anthropicEndpoint],
  ["openai", openaiEndpoint],
]);

const protocols: Readonly<Record<ProtocolName, Protocol>> = {
  "anthropic-messages": anthropicMessages,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
};

export function protocolNamed(name: ProtocolName): Protocol {
  return protocols[name];
}

/** What a provider is spoken to in, where nobody says otherwise. */
export function usualProtocol(provider: string): Protocol {
  if (provider === "anthropic") return anthropicMessages;
  return provider === "openai" ? openaiResponses : openaiChat;
}
