// Keys, sums and positions of a prompt, computed once per block as it grows. An entry is found by an equal key.
import type { InvalidationRule } from "../../core/models/invalidation.ts";
import type { Lookback } from "../../core/models/marker-rules.ts";
import { hashText } from "../ids.ts";
import type {
  BillableBlock,
  BillableRequest,
  BilledTier,
  KeyedPrompt,
  KeyFrame,
} from "./billable-request.ts";
import { stingyBilling, type BillingOptions } from "./options.ts";

/** Changed in place. */
export interface GrowingPrompt extends KeyedPrompt {
  /** Drops the blocks from `length` on, because the history was rewritten there. */
  cut(length: number): void;
  append(blocks: readonly BillableBlock[]): void;
}

/** The prompt that the caller keeps, or one made from the request's blocks. */
export function keyedPromptOf(request: BillableRequest, options: BillingOptions): KeyedPrompt {
  if (request.prompt !== undefined) return request.prompt;
  const prompt = createGrowingPrompt(request, options);
  prompt.append(request.blocks);
  return prompt;
}

/** Valid for one workspace, model and set of settings. */
export function createGrowingPrompt(
  frame: KeyFrame,
  options: Partial<BillingOptions> = {},
): GrowingPrompt {
  const readings = { ...stingyBilling, ...options };
  const { workspace, model, host } = frame;
  const owner = host === undefined ? [] : [host];
  const salts = tierSalts(frame);
  const blocks: BillableBlock[] = [];
  const tiersEntered: number[] = [];
  const keys: string[] = [];
  const cumulative: number[] = [];
  const positions: number[] = [];
  const add = (block: BillableBlock): void => {
    const last = blocks.length - 1;
    let key = keys[last] ?? hashText(workspace, model.route, model.id, ...owner);
    let entered = tiersEntered[last] ?? 0;
    for (; entered <= tiers.indexOf(block.tier); entered += 1) {
      key = hashText(key, salts[tiers[entered] ?? "messages"]);
    }
    const isShared = sharesPosition(block, blocks[last], model.cache.markers?.lookback, readings);
    keys.push(hashText(`${key}\n${block.hash}`));
    tiersEntered.push(entered);
    cumulative.push((cumulative[last] ?? 0) + block.tokens);
    positions.push((positions[last] ?? -1) + (isShared ? 0 : 1));
    blocks.push(block);
  };
  return {
    blocks,
    keys,
    cumulative,
    positions,
    cut: (length) => {
      for (const list of [blocks, tiersEntered, keys, cumulative, positions]) {
        list.length = Math.min(list.length, length);
      }
    },
    append: (more) => more.forEach(add),
  };
}

const tiers: readonly BilledTier[] = ["tools", "system", "messages"];

/** A setting is mixed into the key at the first tier that its change invalidates. */
function tierSalts({ model, settings }: KeyFrame): Readonly<Record<BilledTier, string>> {
  const salts: Record<BilledTier, string> = { tools: "", system: "", messages: "" };
  for (const rule of model.cache.invalidation) {
    const value = settings[rule.change];
    const tier = firstLost(rule);
    if (value !== undefined && tier !== null) salts[tier] += `${rule.change}=${value};`;
  }
  return salts;
}

function firstLost({ survives }: InvalidationRule): BilledTier | null {
  return tiers.find((tier) => !survives.includes(tier)) ?? null;
}

/** Whether a block counts as one lookback position with the block before it. */
function sharesPosition(
  block: BillableBlock,
  before: BillableBlock | undefined,
  lookback: Lookback | undefined,
  { toolRuns, toolDefinitions }: BillingOptions,
): boolean {
  if (lookback?.kind !== "positions") return false;
  const collapsesRuns = lookback.counting !== "every block" && toolRuns === "by route";
  const isSameRun = collapsesRuns && block.run !== null && block.run === before?.run;
  const areTools = block.tier === "tools" && before?.tier === "tools";
  return isSameRun || (toolDefinitions === "one position" && areTools);
}
