// Keys and sums of a prompt that is billed repeatedly as it grows, computed once per block.
import type { BillableBlock } from "./billable-block.ts";
import { stingyBilling, type BillingOptions } from "./options.ts";
import { positionOf } from "./positions.ts";
import { createKeyChain, type KeyFrame } from "./prefix-keys.ts";

/** Parallel lists with one value per block, changed in place. */
export interface GrowingPrompt {
  readonly blocks: readonly BillableBlock[];
  readonly keys: readonly string[];
  /** Tokens up to and including each block. */
  readonly cumulative: readonly number[];
  /** Lookback position of each block. */
  readonly positions: readonly number[];
  /** Drops the blocks from `length` on, because the history was rewritten there. */
  cut(length: number): void;
  append(blocks: readonly BillableBlock[]): void;
}

/** Valid for one workspace, model and set of settings. */
export function createGrowingPrompt(
  frame: KeyFrame,
  options: Partial<BillingOptions> = {},
): GrowingPrompt {
  const readings = { ...stingyBilling, ...options };
  const lookback = frame.model.cache.markers?.lookback;
  const extend = createKeyChain(frame);
  const blocks: BillableBlock[] = [];
  const tiersEntered: number[] = [];
  const keys: string[] = [];
  const cumulative: number[] = [];
  const positions: number[] = [];
  const lists = [blocks, tiersEntered, keys, cumulative, positions];
  return {
    blocks,
    keys,
    cumulative,
    positions,
    cut: (length) => {
      for (const list of lists) list.length = Math.min(list.length, length);
    },
    append: (more) => {
      for (const block of more) {
        const index = blocks.length;
        const last = keys[index - 1];
        const from =
          last === undefined
            ? extend.start
            : { key: last, tiersEntered: tiersEntered[index - 1] ?? 0 };
        const chain = extend.next(from, block);
        const before = blocks[index - 1];
        const position =
          lookback?.kind === "positions"
            ? positionOf(block, before, positions[index - 1] ?? -1, lookback, readings)
            : index;
        blocks.push(block);
        tiersEntered.push(chain.tiersEntered);
        keys.push(chain.key);
        cumulative.push((cumulative[index - 1] ?? 0) + block.tokens);
        positions.push(position);
      }
    },
  };
}
