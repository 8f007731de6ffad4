// /cost: what was paid, what it would have cost without a cache, and which tokens made the difference.
import { generatedTokens, promptTokens, writtenTokens } from "../../../core/message/usage.ts";
import { formatUsdRounded } from "../../../core/models/pico-usd.ts";
import { formatCount, formatPercent } from "../../../replay/page/format-figures.ts";
import { formatTokens } from "../../../replay/page/in-page.ts";
import { formatCost } from "../../format-cost.ts";
import { renderFacts } from "../../table.ts";
import type { ChatState } from "../state/state.ts";

export function renderCost({ totals, about }: ChatState): string {
  const { usage, callCount, costPicoUsd, unpricedCount, savedPicoUsd, savedTokens } = totals;
  if (callCount === 0) return "No calls yet.";
  const prompt = promptTokens(usage);
  const share = (tokens: number): string =>
    `${formatTokens(tokens)} tokens, ${formatPercent(prompt === 0 ? 0 : tokens / prompt)} of what was sent`;
  const simulated = about.isSimulated ? ", in simulated dollars: nothing is paid" : "";
  const without = savedPicoUsd === null ? null : costPicoUsd + savedPicoUsd;
  return renderFacts([
    [
      "cost",
      `${formatCost(costPicoUsd, unpricedCount)} for ${formatCount(callCount, "call")}${simulated}`,
    ],
    ["without a cache", without === null ? null : formatUsdRounded(without)],
    ["saved", savedPicoUsd === null ? null : savedText(savedPicoUsd, without ?? 0n)],
    ["saved tokens", savedTokens === null ? null : inputTokens(savedTokens)],
    ["read from cache", share(usage.cacheReadTokens)],
    ["written to cache", share(writtenTokens(usage))],
    ["not cached", share(usage.uncachedTokens)],
    ["made by the model", `${formatTokens(generatedTokens(usage))} tokens`],
  ]);
}

function inputTokens(saved: number): string {
  const sign = saved < 0 ? "-" : "";
  return `${sign}${formatTokens(Math.abs(saved))} at the price of input`;
}

function savedText(saved: bigint, without: bigint): string {
  if (saved < 0n) return `-${formatUsdRounded(-saved)}: the cache was written but not yet read`;
  const share = without === 0n ? 0 : Number((saved * 10_000n) / without) / 10_000;
  return `${formatUsdRounded(saved)}, ${formatPercent(share)}`;
}
