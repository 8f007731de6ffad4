// What was spent on calls, failed calls, warm caches and summaries.
import { toLazyRow, type Analysis } from "./analysis.ts";
import { hitRateOf, tokenFigures, toUsdText, type TokenFigures } from "./figures.ts";
import { callGroups } from "./group-keys.ts";
import { readSpending, totalOf } from "./spending.ts";

export interface CostFigures extends TokenFigures {
  readonly call_count: number;
  readonly hit_rate: number | null;
  /** The total. The next three are parts of it. */
  readonly cost_usd: string;
  /** Calls that failed or were cut off, with their discarded attempts. */
  readonly failed_cost_usd: string;
  readonly summary_cost_usd: string;
  /** Calls without a turn that kept or wrote a cache; the other figures are of calls in turns. */
  readonly warm_cost_usd: string;
  readonly warm_call_count: number;
  readonly summary_count: number;
  readonly summary_input_tokens: number;
  readonly summary_output_tokens: number;
  /** Calls with tokens of unknown price: the real cost is higher. */
  readonly unpriced_call_count: number;
}

export const cost: Analysis<CostFigures> = {
  summary: "What was spent on calls, failed calls, warm caches and summaries",
  groupBys: callGroups,
  isForKeys: true,
  orders: ["cost_usd", "call_count", "hit_rate"],
  async ask(ledger, question) {
    const spending = await readSpending(ledger, question);
    const rows = [...spending].map(([label, spent]) => {
      const total = totalOf(spent);
      return toLazyRow<CostFigures>(label, { cost_usd: total }, () => ({
        call_count: spent.callCount,
        ...tokenFigures(spent.tokens),
        hit_rate: hitRateOf(spent.tokens),
        cost_usd: toUsdText(total),
        failed_cost_usd: toUsdText(spent.failedPicoUsd),
        summary_cost_usd: toUsdText(spent.summaries.picoUsd),
        warm_cost_usd: toUsdText(spent.warm.picoUsd),
        warm_call_count: spent.warm.count,
        summary_count: spent.summaries.count,
        summary_input_tokens: spent.summaries.inputTokens,
        summary_output_tokens: spent.summaries.outputTokens,
        unpriced_call_count: spent.unpricedCount,
      }));
    });
    return { rows };
  },
};
