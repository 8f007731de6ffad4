// How to reach OpenAI with either of its protocols.
import { toEndpoint, type Endpoint, type EndpointOptions, type ProtocolAccess } from "../access.ts";

const shared: Pick<ProtocolAccess, "baseUrl" | "key" | "login"> = {
  baseUrl: "https://api.openai.com/v1",
  key: { name: "authorization", prefix: "Bearer " },
  // A signed token: keys have no parts with dots.
  login: /\bBearer eyJ/,
};

export const chatAccess: ProtocolAccess = {
  ...shared,
  kind: "openai-chat",
  compatibleKind: "openai-compatible",
  vendor: null,
};

export const responsesAccess: ProtocolAccess = {
  ...shared,
  kind: "openai-responses",
  vendor: {
    name: "openai",
    keyVariable: "OPENAI_API_KEY",
    urlVariable: "OPENAI_BASE_URL",
  },
};

export function openaiEndpoint(options: EndpointOptions): Endpoint {
  return toEndpoint(shared, options);
}
