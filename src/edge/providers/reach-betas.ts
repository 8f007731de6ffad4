// Beta features that a provider needs in a header when a request has cache markers.
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { changingCalls } from "./reach-names.ts";

export interface PlanBetas {
  /** With any marker. */
  readonly any: readonly string[];
  /** With a marker that lives longer than the shortest lifetime. */
  readonly long: readonly string[];
}

/** The same protocol, with the features that a plan needs. They are looked up for each call. */
export function withPlanBetas(protocol: Protocol, betas: () => PlanBetas): Protocol {
  return changingCalls(protocol, (call) => {
    const more = neededBetas(call.plan, call.model, betas());
    if (more.length === 0) return call;
    const options = { ...call.options, betas: [...(call.options.betas ?? []), ...more] };
    return { ...call, options };
  });
}

export function neededBetas(
  { markers, requestMarker }: Pick<CachePlan, "markers" | "requestMarker">,
  { cache }: Pick<ModelFacts, "cache">,
  { any, long }: PlanBetas,
): readonly string[] {
  const asked = [
    ...markers.map(({ lifetime }) => lifetime),
    ...(requestMarker === null ? [] : [requestMarker]),
  ];
  if (asked.length === 0) return [];
  const shortest = cache.lifetimes[0]?.lifetime;
  return asked.every((lifetime) => lifetime === shortest) ? any : [...any, ...long];
}
