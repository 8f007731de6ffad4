// The bill as the provider's usage object, and in dollars.
import { findCost } from "../../../core/models/cost.ts";
import { formatUsd } from "../../../core/models/pico-usd.ts";
import type { Bill } from "../../billing/bill.ts";
import type { MessagesRequest } from "../request/read-request.ts";

export interface Generated {
  readonly outputTokens: number;
  readonly thinkingTokens: number;
}

/** The part of usage known before the reply; repeated in the last event. */
function inputUsage(bill: Bill): Readonly<Record<string, unknown>> {
  const written = Object.values(bill.writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  return {
    input_tokens: bill.uncachedTokens,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: bill.readTokens,
  };
}

function creation(bill: Bill): Readonly<Record<string, number>> {
  return {
    ephemeral_5m_input_tokens: bill.writeTokens["5m"] ?? 0,
    ephemeral_1h_input_tokens: bill.writeTokens["1h"] ?? 0,
  };
}

const nothing: Bill = {
  requestId: "",
  totalTokens: 0,
  readTokens: 0,
  writeTokens: {},
  uncachedTokens: 0,
  hitBlock: null,
  markers: [],
  reason: { kind: "no marker" },
};

/** A summary is billed as its own iteration; the message's totals stay at zero. */
export function usageOf(
  bill: Bill,
  generated: Generated,
  request: MessagesRequest,
): Readonly<Record<string, unknown>> {
  const isSummary = request.options.compaction !== null;
  const shown = isSummary ? nothing : bill;
  return {
    ...inputUsage(shown),
    cache_creation: creation(shown),
    ...outputUsage(isSummary ? { outputTokens: 0, thinkingTokens: 0 } : generated),
    server_tool_use: null,
    service_tier: "standard",
    speed: request.options.speed,
    inference_geo: null,
    ...iterations(bill, generated, request),
  };
}

/** Cumulative, without the fields of the first event only. */
export function deltaUsageOf(
  bill: Bill,
  generated: Generated,
  request: MessagesRequest,
): Readonly<Record<string, unknown>> {
  const isSummary = request.options.compaction !== null;
  return {
    ...inputUsage(isSummary ? nothing : bill),
    ...outputUsage(isSummary ? { outputTokens: 0, thinkingTokens: 0 } : generated),
    server_tool_use: null,
    ...iterations(bill, generated, request),
  };
}

function outputUsage({
  outputTokens,
  thinkingTokens,
}: Generated): Readonly<Record<string, unknown>> {
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
): Readonly<Record<string, unknown>> {
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

/** Exact dollars; null without a price. Our facts have no prices for fast mode. */
export function costUsdOf(
  bill: Bill,
  { outputTokens, thinkingTokens }: Generated,
  { facts, options }: MessagesRequest,
  nowMs: number,
): string | null {
  if (options.speed === "fast") return null;
  const usage = {
    uncachedTokens: bill.uncachedTokens,
    cacheReadTokens: bill.readTokens,
    cacheWriteTokens: bill.writeTokens,
    outputTokens: outputTokens - thinkingTokens,
    reasoningTokens: thinkingTokens,
  };
  const { cost } = findCost(usage, facts, { at: nowMs });
  return cost === null ? null : formatUsd(cost.totalPicoUsd);
}
