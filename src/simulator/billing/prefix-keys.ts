// The key of every prefix of a request: what must be equal for an entry to be found.
import type { InvalidationRule } from "../../core/models/invalidation.ts";
import { hashText } from "../hash-text.ts";
import type { BillableRequest, BilledTier } from "./billable-request.ts";

const tiers: readonly BilledTier[] = ["tools", "system", "messages"];

/** One key per block, for the prefix that ends with it. Equal keys mean that all before is equal too. */
export function prefixKeys(request: BillableRequest): string[] {
  const salts = tierSalts(request);
  const { workspace, model } = request;
  let key = hashText(workspace, model.route, model.id);
  let tiersEntered = 0;
  return request.blocks.map((block) => {
    const rank = tiers.indexOf(block.tier);
    while (tiersEntered <= rank) {
      key = hashText(key, salts[tiers[tiersEntered] ?? "messages"]);
      tiersEntered += 1;
    }
    key = hashText(`${key}\n${block.hash}`);
    return key;
  });
}

/** A setting is mixed in at the first tier its change does not leave standing. */
function tierSalts({ model, settings }: BillableRequest): Readonly<Record<BilledTier, string>> {
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
