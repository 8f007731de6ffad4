// Lookback positions: how far back a marker sees, in the provider's own counting.
import type { Lookback } from "../../core/models/marker-rules.ts";
import type { BillableBlock } from "./billable-request.ts";
import type { BillingOptions } from "./options.ts";

export type PositionLookback = Extract<Lookback, { readonly kind: "positions" }>;

/** The position of every block, from 0. Blocks of one run may share one. */
export function positionsOf(
  blocks: readonly BillableBlock[],
  lookback: PositionLookback,
  options: Pick<BillingOptions, "toolDefinitions" | "toolRuns">,
): number[] {
  const collapsesRuns = lookback.counting !== "every block" && options.toolRuns === "by route";
  let position = -1;
  return blocks.map((block, index) => {
    const before = blocks[index - 1];
    const sharesRun = collapsesRuns && block.run !== null && block.run === before?.run;
    const sharesTools =
      options.toolDefinitions === "one position" &&
      block.tier === "tools" &&
      before?.tier === "tools";
    if (!sharesRun && !sharesTools) position += 1;
    return position;
  });
}
