// How OpenAI is reached, in either of its protocols.
import {
  toEndpoint,
  type Endpoint,
  type EndpointOptions,
  type ProtocolAccess,
  type Vendor,
} from "../access.ts";

export const openaiAccess: Pick<ProtocolAccess, "baseUrl" | "key"> = {
  baseUrl: "https://api.openai.com/v1",
  key: { name: "authorization", prefix: "Bearer " },
};

export const openaiVendor: Vendor = {
  name: "openai",
  keyVariable: "OPENAI_API_KEY",
  urlVariable: "OPENAI_BASE_URL",
};

export function openaiEndpoint(options: EndpointOptions): Endpoint {
  return toEndpoint(openaiAccess, options);
}
