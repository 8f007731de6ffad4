// Which cached tiers survive a change of the request.
import { capabilityNames, type Capabilities } from "./capabilities.ts";
import * as read from "./read-fields.ts";

/** The tiers of a request that stay readable after a change. A change without a rule keeps all of them. */
export interface InvalidationRule {
  readonly change: RequestChange;
  readonly survives: readonly CachedTier[];
  /** Tiers the provider does not document here. A careful reader counts them as lost. */
  readonly unpublished: readonly CachedTier[];
}

export type RequestChange = (typeof requestChanges)[number];

export type CachedTier = (typeof cachedTiers)[number];

const requestChanges = [
  "model",
  "tool definitions",
  "web search or fetch",
  "citations",
  "speed",
  "system text",
  "tool choice",
  "parallel tool use",
  "images appear or vanish",
  "thinking",
  "effort",
  "verbosity",
  "output format",
  "compaction",
  "cache key",
  "service tier",
  "user turn after thinking",
  "thinking block dropped",
  "context editing",
  "key order in tool input",
  "marker moved",
  "streaming",
  "output limit",
  "metadata",
] as const;

const cachedTiers = ["tools", "system", "messages before it", "messages"] as const;

/** The rules for a model with these capabilities. */
export function parseInvalidation(
  value: unknown,
  can: Capabilities,
  place: string,
): readonly InvalidationRule[] {
  const rules = read.list(value, place, (item, at) =>
    read.shape(item, at, {
      change: read.choice(requestChanges),
      survives: read.listOf(read.choice(cachedTiers)),
      unpublished: read.orElse([], read.listOf(read.choice(cachedTiers))),
      onlyIf: read.nullable(read.choice(capabilityNames)),
    }),
  );
  return rules
    .filter(({ onlyIf }) => onlyIf === null || can[onlyIf])
    .map(({ change, survives, unpublished }) => ({ change, survives, unpublished }));
}
