// The record of a billed call with its exact cost, for every surface.
import { findCost } from "../core/models/cost.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { formatUsd, timesDecimal } from "../core/models/pico-usd.ts";
import type { Bill } from "./billing/bill.ts";
import type { CallRecord } from "./surface.ts";

export interface Generated {
  /** Everything generated, including thinking. */
  readonly outputTokens: number;
  readonly thinkingTokens: number;
}

export interface BilledCall extends Pick<CallRecord, "surface" | "stopReason" | "startMs"> {
  readonly facts: ModelFacts;
  readonly bill: Bill;
  readonly generated: Generated;
  /** The share of the usual price; null if our facts have no price for this kind of call. */
  readonly priceShare: number | null;
}

export function toCallRecord(call: BilledCall): CallRecord {
  const { surface, facts, bill, generated, stopReason, startMs } = call;
  const pico = findPicoUsd(call);
  const costUsd = pico === null ? null : formatUsd(pico);
  return {
    surface,
    model: facts.id,
    startMs,
    bill,
    ...splitOutput(generated),
    costUsd,
    stopReason,
  };
}

/** What a call costs; null without a price. */
export function findPicoUsd(
  call: Pick<BilledCall, "facts" | "bill" | "generated" | "startMs" | "priceShare">,
): bigint | null {
  const { facts, bill, generated, startMs, priceShare } = call;
  const usage = {
    ...splitOutput(generated),
    uncachedTokens: bill.uncachedTokens,
    cacheReadTokens: bill.readTokens,
    cacheWriteTokens: bill.writeTokens,
  };
  const { cost } = findCost(usage, facts, { at: startMs });
  return cost === null || priceShare === null ? null : timesDecimal(cost.totalPicoUsd, priceShare);
}

function splitOutput({
  outputTokens,
  thinkingTokens,
}: Generated): Pick<CallRecord, "outputTokens" | "reasoningTokens"> {
  return { outputTokens: outputTokens - thinkingTokens, reasoningTokens: thinkingTokens };
}
