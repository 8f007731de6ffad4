// The key of every prefix of a request. An entry is found by an equal key.
import type { InvalidationRule, RequestChange } from "../../core/models/invalidation.ts";
import { hashText } from "../hash-text.ts";
import type { BillableBlock, BilledTier } from "./billable-block.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";

const tiers: readonly BilledTier[] = ["tools", "system", "messages"];

/** What keys depend on besides the blocks. */
export interface KeyFrame {
  readonly workspace: string;
  readonly model: Pick<ModelFacts, "id" | "route" | "cache">;
  readonly settings: Readonly<Partial<Record<RequestChange, string>>>;
}

/** Where the computation of keys stands. */
export interface KeyChain {
  readonly key: string;
  readonly tiersEntered: number;
}

/** One key per block, for the prefix that ends with it. Equal keys mean equal prefixes. */
export function prefixKeys(
  request: KeyFrame & { readonly blocks: readonly BillableBlock[] },
): string[] {
  const extend = createKeyChain(request);
  let chain: KeyChain = extend.start;
  return request.blocks.map((block) => {
    chain = extend.next(chain, block);
    return chain.key;
  });
}

/** Computes keys block by block, for a growing prompt. */
export function createKeyChain(frame: KeyFrame): {
  readonly start: KeyChain;
  readonly next: (chain: KeyChain, block: BillableBlock) => KeyChain;
} {
  const salts = tierSalts(frame);
  const { workspace, model } = frame;
  return {
    start: { key: hashText(workspace, model.route, model.id), tiersEntered: 0 },
    next: (chain, block) => {
      let { key, tiersEntered } = chain;
      const rank = tiers.indexOf(block.tier);
      while (tiersEntered <= rank) {
        key = hashText(key, salts[tiers[tiersEntered] ?? "messages"]);
        tiersEntered += 1;
      }
      return { key: hashText(`${key}\n${block.hash}`), tiersEntered };
    },
  };
}

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
