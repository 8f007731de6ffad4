// Counting tokens of a request of the Messages API.
import { createCounting } from "../counting.ts";
import type { ProtocolCounting } from "../protocol.ts";

/** By the provider's SDK, checked 2026-11-15. */
export const notCounted: ReadonlySet<string> = new Set([
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

export const counting: ProtocolCounting = createCounting(
  "anthropic_api",
  "/count_tokens",
  notCounted,
);
