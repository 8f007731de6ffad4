// Gives writes a lifetime that a provider reported without one: the plan asked for it.
import { lifetimes, type Lifetime, type Usage } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { ReportedUsage } from "./reply.ts";

/** What a call asked for: a cache plan, or what another client wrote into its request. */
export interface AskedPlan {
  readonly markers: readonly { readonly lifetime: Lifetime }[];
  readonly requestMarker: Lifetime | null;
  readonly expected: { readonly writeTokens: Readonly<Partial<Record<Lifetime, number>>> };
}

/**
 * The same usage with the plan's lifetimes. With two of them the longer one comes first, as far as the plan expected it:
 * providers take longer lifetimes before shorter ones. Without a plan for writes, the model's shortest lifetime.
 */
export function nameWrites(
  reported: ReportedUsage,
  plan: AskedPlan,
  { cache }: Pick<ModelFacts, "cache">,
): ReportedUsage {
  const { unnamedWriteTokens: unnamed, ...rest } = reported;
  if (unnamed === undefined) return reported;
  const { [unnamed.standsAs]: placed = 0, ...named } = reported.usage.cacheWriteTokens;
  const kept = placed - unnamed.tokens;
  const asked = askedLifetimes(
    plan,
    cache.lifetimes.map(({ lifetime }) => lifetime),
  );
  const last = asked.at(-1) ?? unnamed.standsAs;
  const writes: Partial<Record<Lifetime, number>> = {
    ...named,
    ...(kept > 0 ? { [unnamed.standsAs]: kept } : {}),
  };
  let left = unnamed.tokens;
  for (const lifetime of asked) {
    const expected = plan.expected.writeTokens[lifetime] ?? 0;
    const tokens = lifetime === last ? left : Math.min(left, expected);
    if (tokens > 0) writes[lifetime] = (writes[lifetime] ?? 0) + tokens;
    left -= tokens;
  }
  if (left > 0) writes[last] = (writes[last] ?? 0) + left;
  const usage: Usage = { ...reported.usage, cacheWriteTokens: writes };
  return { ...rest, usage };
}

/** Longest first. */
function askedLifetimes(plan: AskedPlan, offered: readonly Lifetime[]): readonly Lifetime[] {
  const asked = new Set([
    ...plan.markers.map(({ lifetime }) => lifetime),
    ...(plan.requestMarker === null ? [] : [plan.requestMarker]),
  ]);
  if (asked.size === 0) return offered.slice(0, 1);
  return lifetimes.filter((lifetime) => asked.has(lifetime)).toReversed();
}
