// Which tier of a prompt was read, written or paid plainly: a bill covers the prompt from its start.
import type { Assembly } from "../assembly/assemble.ts";
import { promptTokens, writtenTokens, type Usage } from "../message/usage.ts";
import type { Tier } from "../tokens/budget.ts";

/** Tokens by tier, in the order of the prompt; without empty tiers. */
export type TierSizes = readonly (readonly [tier: Tier, tokens: number])[];

export function tierSizesOf({
  usedTokens,
  volatilePlace,
}: Pick<Assembly, "usedTokens" | "volatilePlace">): TierSizes {
  const order: readonly Tier[] =
    volatilePlace === "system-tail"
      ? ["T0", "T1", "T2", "T5", "T3", "T4"]
      : ["T0", "T1", "T2", "T3", "T4", "T5"];
  return order.flatMap((tier) => (usedTokens[tier] > 0 ? [[tier, usedTokens[tier]] as const] : []));
}

export interface TierUsage {
  readonly tier: Tier;
  readonly readTokens: number;
  readonly writtenTokens: number;
  readonly uncachedTokens: number;
}

/** Our counts are scaled to the bill, so that the tiers add up to it. Reads come first, then writes, then the rest. */
export function attributeUsage(sizes: TierSizes, usage: Usage): readonly TierUsage[] {
  const counted = sizes.reduce((sum, [, tokens]) => sum + tokens, 0);
  if (counted === 0) return [];
  const billed = promptTokens(usage);
  const readEnd = usage.cacheReadTokens;
  const writtenEnd = readEnd + writtenTokens(usage);
  let [sofar, start] = [0, 0];
  return sizes.map(([tier, tokens]) => {
    sofar += tokens;
    const end = Math.round((sofar * billed) / counted);
    const within = (from: number, to: number): number =>
      Math.max(0, Math.min(end, to) - Math.max(start, from));
    const used = {
      tier,
      readTokens: within(0, readEnd),
      writtenTokens: within(readEnd, writtenEnd),
      uncachedTokens: within(writtenEnd, billed),
    };
    start = end;
    return used;
  });
}
