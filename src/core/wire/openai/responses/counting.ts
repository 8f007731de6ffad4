// Counting tokens of a request of the Responses API.
import { createCounting } from "../../counting.ts";
import type { ProtocolCounting } from "../../protocol.ts";

/** By the provider's SDK, checked 2026-11-15. */
const omitted: ReadonlySet<string> = new Set([
  "background",
  "include",
  "max_output_tokens",
  "max_tool_calls",
  "metadata",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "service_tier",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "top_logprobs",
  "top_p",
  "user",
]);

export const counting: ProtocolCounting = createCounting("openai_api", "/input_tokens", omitted);
