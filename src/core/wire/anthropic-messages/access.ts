// How to reach Anthropic and others that speak its protocol.
import { toEndpoint, type Endpoint, type EndpointOptions, type ProtocolAccess } from "../access.ts";

export const access: ProtocolAccess = {
  kind: "anthropic",
  baseUrl: "https://api.anthropic.com",
  key: { name: "x-api-key", prefix: "" },
  login: /\bBearer sk-ant-oat/i,
  vendor: {
    name: "anthropic",
    keyVariable: "ANTHROPIC_API_KEY",
    urlVariable: "ANTHROPIC_BASE_URL",
  },
};

export function anthropicEndpoint(options: EndpointOptions): Endpoint {
  return toEndpoint(access, options);
}
