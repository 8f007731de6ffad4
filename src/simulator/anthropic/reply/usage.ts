// The bill as the provider's usage object.
import type { Bill } from "../../billing/bill.ts";
import type { Generated } from "../../record-call.ts";
import type { MessagesRequest } from "../request/read-request.ts";

type Buckets = Pick<Bill, "uncachedTokens" | "readTokens" | "writeTokens">;
type Fields = Readonly<Record<string, unknown>>;

/** The part of usage known before the reply. */
function inputUsage({ uncachedTokens, readTokens, writeTokens }: Buckets): Fields {
  const written = Object.values(writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  return {
    input_tokens: uncachedTokens,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: readTokens,
  };
}

function creation({ writeTokens }: Buckets): Fields {
  return {
    ephemeral_5m_input_tokens: writeTokens["5m"] ?? 0,
    ephemeral_1h_input_tokens: writeTokens["1h"] ?? 0,
  };
}

const nothingBilled: Buckets = { uncachedTokens: 0, readTokens: 0, writeTokens: {} };
export const nothingGenerated: Generated = { outputTokens: 0, thinkingTokens: 0 };

/**
 * A summary is billed as its own iteration; the message's totals stay at zero. The last event of a stream lacks the
 * fields that only the first has.
 */
export function usageOf(
  bill: Bill,
  generated: Generated,
  request: MessagesRequest,
  place: "message" | "last event" = "message",
): Fields {
  const isSummary = request.options.compaction !== null;
  const shown = isSummary ? nothingBilled : bill;
  const isMessage = place === "message";
  const { speed } = request.options;
  return {
    ...inputUsage(shown),
    ...(isMessage ? { cache_creation: creation(shown) } : {}),
    ...outputUsage(isSummary ? nothingGenerated : generated),
    server_tool_use: null,
    ...(isMessage ? { service_tier: "standard", speed, inference_geo: null } : {}),
    ...iterations(bill, generated, request),
  };
}

function outputUsage({ outputTokens, thinkingTokens }: Generated): Fields {
  return {
    output_tokens: outputTokens,
    output_tokens_details: thinkingTokens === 0 ? null : { thinking_tokens: thinkingTokens },
  };
}

/** Present for clients of a beta, for a summary, and for pre-warming. */
function iterations(
  bill: Bill,
  { outputTokens }: Generated,
  { betas, options }: MessagesRequest,
): Fields {
  if (betas.size === 0 && options.maxTokens !== 0) return {};
  return {
    iterations: [
      {
        type: options.compaction === null ? "message" : "compaction",
        ...inputUsage(bill),
        cache_creation: creation(bill),
        output_tokens: outputTokens,
      },
    ],
  };
}
