// Where each vendor says what it counted.
import type { Call } from "../openai/run-call.ts";
import type { StreamEnd } from "./chat-reply.ts";
import type { VendorRow } from "./vendor-row.ts";

/** How fast a server of one's own reads and writes, and what it was started with. */
export interface LocalServer {
  readonly prefillTokensPerSecond: number;
  readonly outputTokensPerSecond: number;
  /** Whether replies take as long as they say. */
  readonly waits: boolean;
  /** Whether vLLM was started with --enable-prompt-tokens-details. */
  readonly promptTokensDetails: boolean;
}

export interface Counted {
  readonly usage: object;
  /** Members beside the usage. */
  readonly beside: object;
}

export function countedBy(row: VendorRow, call: Call, local: LocalServer): Counted {
  const { open, produced } = call;
  const { totalTokens: prompt, readTokens: read, writeTokens, uncachedTokens } = open.bill;
  const { outputTokens: output, thinkingTokens: thinking } = produced;
  const written = Object.values(writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  const hasSplit = row.thinking !== null && row.counts !== "beside the total";
  const totals = {
    prompt_tokens: prompt,
    completion_tokens: row.thinkingIsBeside ? output - thinking : output,
    total_tokens: prompt + output,
    ...(hasSplit ? { completion_tokens_details: { reasoning_tokens: thinking } } : {}),
  };
  const details = (more: object): Counted => ({
    usage: { ...totals, prompt_tokens_details: { cached_tokens: read, ...more } },
    beside: {},
  });
  switch (row.counts) {
    case "in the details":
      return details({});
    case "in the details, if asked":
      return local.promptTokensDetails ? details({}) : { usage: totals, beside: {} };
    case "hits and misses": {
      const hits = { prompt_cache_hit_tokens: read, prompt_cache_miss_tokens: prompt - read };
      return { usage: { ...totals, ...hits }, beside: {} };
    }
    case "beside the total":
      return { usage: { ...totals, cached_tokens: read }, beside: {} };
    case "num_cached_tokens":
      return { usage: { ...totals, num_cached_tokens: read }, beside: {} };
    case "with cache creation":
      return details({
        cache_creation_input_tokens: written,
        cache_creation: { ephemeral_5m_input_tokens: written },
        cache_type: "ephemeral",
        text_tokens: prompt,
      });
    case "timings":
      return { usage: totals, beside: { timings: timingsOf(call, local) } };
    case "none":
      return { usage: totals, beside: {} };
  }

  function timingsOf({ produced: made }: Call, speeds: LocalServer): object {
    return {
      cache_n: read,
      prompt_n: uncachedTokens,
      prompt_ms: prefillMs(uncachedTokens, speeds),
      predicted_n: made.outputTokens,
      predicted_ms: (made.outputTokens * 1000) / speeds.outputTokensPerSecond,
    };
  }
}

/** Only what is not in the cache is read. */
export function prefillMs(
  uncachedTokens: number,
  { prefillTokensPerSecond }: Pick<LocalServer, "prefillTokensPerSecond">,
): number {
  return (uncachedTokens * 1000) / prefillTokensPerSecond;
}

/** Where the counts stand in a stream. `isAsked`: whether the client asked for them. */
export function streamEnd(
  row: VendorRow,
  { usage, beside }: Counted,
  id: string,
  isAsked: boolean,
): StreamEnd {
  const says = isAsked || row.streamUsage === "always";
  switch (row.countsIn) {
    case "the usage": {
      const isTold = says || Object.keys(beside).length > 0;
      const after = isTold ? { ...(says ? { usage } : {}), ...beside } : null;
      return { withStop: {}, inChoice: {}, after };
    }
    case "the last choice":
      return { withStop: {}, inChoice: { usage }, after: null };
    case "x_groq":
      return { withStop: { x_groq: { id, usage } }, inChoice: {}, after: null };
  }
}
