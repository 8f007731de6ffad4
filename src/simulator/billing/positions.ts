// Lookback positions: the unit in which a provider counts how far back a marker looks.
import type { Lookback } from "../../core/models/marker-rules.ts";
import type { BillableBlock } from "./billable-block.ts";
import type { BillingOptions } from "./options.ts";

export type PositionLookback = Extract<Lookback, { readonly kind: "positions" }>;

type Readings = Pick<BillingOptions, "toolDefinitions" | "toolRuns">;

/** The position of every block, from 0. Blocks of one run can share a position. */
export function positionsOf(
  blocks: readonly BillableBlock[],
  lookback: PositionLookback,
  options: Readings,
): number[] {
  let position = -1;
  return blocks.map((block, index) => {
    position = positionOf(block, blocks[index - 1], position, lookback, options);
    return position;
  });
}

/** The position of a block after the one before it. */
export function positionOf(
  block: BillableBlock,
  before: BillableBlock | undefined,
  positionBefore: number,
  lookback: PositionLookback,
  options: Readings,
): number {
  const collapsesRuns = lookback.counting !== "every block" && options.toolRuns === "by route";
  const sharesRun = collapsesRuns && block.run !== null && block.run === before?.run;
  const sharesTools =
    options.toolDefinitions === "one position" &&
    block.tier === "tools" &&
    before?.tier === "tools";
  return sharesRun || sharesTools ? positionBefore : positionBefore + 1;
}
