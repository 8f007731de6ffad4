// The three protocols, each with the models that play on it.
import {
  anthropicEndpoint,
  anthropicMessages,
  openaiChat,
  openaiEndpoint,
  openaiResponses,
  plantedKey,
  type Protocol,
} from "./kit.ts";

export interface Side {
  readonly name: (typeof anthropicMessages | typeof openaiChat | typeof openaiResponses)["name"];
  readonly protocol: Protocol;
  /** As models name it. */
  readonly provider: string;
  readonly model: string;
  /** From the same provider. */
  readonly otherModel: string;
  /** For `createProvider`. */
  readonly endpoint: (url: string) => ReturnType<typeof anthropicEndpoint>;
  /** For whoever sends a request by hand. */
  readonly headers: Readonly<Record<string, string>>;
}

const openai = {
  provider: "openai",
  endpoint: (url: string) => openaiEndpoint({ apiKey: plantedKey, baseUrl: `${url}/v1` }),
  headers: { authorization: `Bearer ${plantedKey}` },
};

export const sides: readonly Side[] = [
  {
    name: "anthropic-messages",
    protocol: anthropicMessages,
    provider: "anthropic",
    model: "claude-sonnet-4-6",
    otherModel: "claude-opus-5-5",
    endpoint: (url) => anthropicEndpoint({ apiKey: plantedKey, baseUrl: url }),
    headers: { "x-api-key": plantedKey, "anthropic-version": "2023-06-01" },
  },
  {
    name: "openai-chat",
    protocol: openaiChat,
    model: "gpt-5.5",
    otherModel: "gpt-5",
    ...openai,
  },
  {
    name: "openai-responses",
    protocol: openaiResponses,
    model: "gpt-6.1-sol",
    otherModel: "gpt-5.5",
    ...openai,
  },
];
