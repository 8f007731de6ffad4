// Usage objects of both APIs. The input total includes tokens read and written.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { Bill } from "../../billing/bill.ts";
import type { Produced } from "./produce.ts";
import type { Rendering } from "../render/render.ts";

export function toChatUsage(
  bill: Bill,
  produced: Produced,
  facts: ModelFacts,
  rendering: Pick<Rendering, "imageTokens" | "audioTokens">,
): object {
  const { imageTokens, audioTokens } = rendering;
  return {
    prompt_tokens: bill.totalTokens,
    completion_tokens: produced.outputTokens,
    total_tokens: bill.totalTokens + produced.outputTokens,
    prompt_tokens_details: {
      cached_tokens: reportedRead(bill, facts),
      ...(facts.cache.markers === null ? {} : { cache_write_tokens: writtenTokens(bill) }),
      audio_tokens: audioTokens,
      image_tokens: imageTokens,
      text_tokens: bill.totalTokens - imageTokens - audioTokens,
    },
    completion_tokens_details: {
      reasoning_tokens: produced.thinkingTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

export function toResponsesUsage(bill: Bill, produced: Produced, facts: ModelFacts): object {
  const perLifetime = {
    ttl_30m_tokens: bill.writeTokens["30m"] ?? 0,
    ttl_12h_tokens: bill.writeTokens["12h"] ?? 0,
  };
  return {
    input_tokens: bill.totalTokens,
    input_tokens_details: {
      cached_tokens: reportedRead(bill, facts),
      // The SDK types it as required; models without write prices write nothing.
      cache_write_tokens: writtenTokens(bill),
      ...(facts.cache.markers === null ? {} : { cache_write_tokens_details: perLifetime }),
    },
    output_tokens: produced.outputTokens,
    output_tokens_details: { reasoning_tokens: produced.thinkingTokens },
    total_tokens: bill.totalTokens + produced.outputTokens,
  };
}

/** Rounded down if the model reports reads in steps. */
export function reportedRead({ readTokens }: Bill, { cache }: ModelFacts): number {
  const step = cache.automatic?.reportedInSteps ?? 1;
  return Math.floor(readTokens / step) * step;
}

function writtenTokens({ writeTokens }: Bill): number {
  return Object.values(writeTokens).reduce((sum, tokens) => sum + tokens, 0);
}
