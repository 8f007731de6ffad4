// The token counts of a span, under the names that instrumentations have given them.
import { countIn, type Fields } from "../../../core/message/fields.ts";
import type { Lifetime, Usage } from "../../../core/message/usage.ts";
import { toUsage } from "../traced-calls.ts";

/** Newest names first; each list ends with those of OpenInference. */
const names = {
  input: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"],
  output: [
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
  ],
  read: [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.cache_read_tokens",
    "gen_ai.usage.cached_input_tokens",
    "ai.usage.cachedInputTokens",
    "llm.token_count.prompt_details.cache_read",
  ],
  written: [
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
  ],
  reasoning: [
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "ai.usage.reasoningTokens",
    "llm.token_count.completion_details.reasoning",
  ],
} as const;

/** Null if the prompt's tokens are missing. */
export function usageOf(attributes: Fields, shortLifetime: Lifetime): Usage | null {
  const count = (list: readonly string[]): number | undefined =>
    list.map((name) => countIn(attributes, name)).find((each) => each !== undefined);
  const input = count(names.input);
  if (input === undefined) return null;
  return toUsage(
    {
      input,
      read: count(names.read) ?? 0,
      written: count(names.written) ?? 0,
      writtenShort: ephemeral(attributes, "5m"),
      writtenLong: ephemeral(attributes, "1h"),
      output: count(names.output) ?? 0,
      reasoning: count(names.reasoning) ?? 0,
    },
    shortLifetime,
  );
}

/** Claude's SDK says how much was written for how long. */
function ephemeral(attributes: Fields, lifetime: "5m" | "1h"): number {
  const name = `anthropic.usage.cache_creation.ephemeral_${lifetime}`;
  return countIn(attributes, `${name}_input_tokens`) ?? countIn(attributes, name) ?? 0;
}
