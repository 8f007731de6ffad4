// The cache plan of a call for a summary: it reads the cache and writes nothing, because no later call has its prompt.
import type { Assembly } from "../../core/assembly/assemble.ts";
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import { openCacheState } from "../../core/cache/cache-state.ts";
import { openPace } from "../../core/cache/pace.ts";
import { planCache } from "../../core/cache/plan-cache.ts";
import type { Session } from "../../core/session/session.ts";

/** `keepsPrefix`: whether the request begins like the session's calls. */
export function planReading(
  { model, cache, policy }: Pick<Session, "model" | "cache" | "policy">,
  { blocks }: Pick<Assembly, "blocks">,
  keepsPrefix: boolean,
  now: number,
): CachePlan {
  const pace = openPace("one-shot");
  const cachesNothing = policy.markers.kind === "rules" && policy.markers.rules.length === 0;
  const reads = keepsPrefix && !cachesNothing;
  return planCache({
    blocks,
    rules: model,
    markers: reads ? { kind: "least-cost" } : { kind: "rules", rules: [] },
    state: reads ? cache : openCacheState(),
    pace,
    now,
  });
}
