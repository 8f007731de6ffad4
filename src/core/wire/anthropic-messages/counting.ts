// Counting tokens of a request of the Messages API.
import { readCount, toCountRequest } from "../counting.ts";
import type { ProtocolCounting } from "../protocol.ts";

const pathBehind = "/count_tokens";

/** By the provider's SDK, checked 2026-11-15. */
const omitted: ReadonlySet<string> = new Set([
  "diagnostics",
  "fallback_credit_token",
  "fallbacks",
  "inference_geo",
  "max_tokens",
  "metadata",
  "service_tier",
  "stop_sequences",
  "stream",
  "temperature",
  "top_k",
  "top_p",
]);

export const counting: ProtocolCounting = {
  name: "anthropic_api",
  isAskedAt: (path) => path.includes(pathBehind),
  encode: (request) => toCountRequest(request, { pathBehind, omitted }),
  decode: (body) => readCount(body, "input_tokens"),
};
