// The key of every prefix of a request: what must be equal for an entry to be found.
import type { InvalidationRule } from "../../core/models/invalidation.ts";
import { hashText } from "../hash-text.ts";
import type { BillableBlock, BillableRequest, BilledTier } from "./billable-request.ts";

const tiers: readonly BilledTier[] = ["tools", "system", "messages"];

/** What the keys of a prompt depend on besides its blocks. */
export type KeyFrame = Pick<BillableRequest, "workspace" | "model" | "settings">;

/** How far the keys of a prompt are made. */
export interface KeyChain {
  readonly key: string;
  readonly tiersEntered: number;
}

/** One key per block, for the prefix that ends with it. Equal keys mean that all before is equal too. */
export function prefixKeys(request: BillableRequest): string[] {
  const extend = createKeyChain(request);
  let chain: KeyChain = extend.start;
  return request.blocks.map((block) => {
    chain = extend.next(chain, block);
    return chain.key;
  });
}

/** Keys block by block, for whoever makes them as a prompt grows. */
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

/** A setting is mixed in at the first tier its change does not leave standing. */
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
