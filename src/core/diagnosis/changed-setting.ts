// Which setting's change made a prefix unreadable.
import type { CacheRules } from "../models/cache-rules.ts";
import type { RequestChange } from "../models/invalidation.ts";
import { excerptAt } from "./excerpt.ts";
import type { RequestSettings } from "../wire/foreign/foreign-request.ts";
import { firstLostTier, tierStart, type ViewBlock } from "./prompt-view.ts";

export interface ChangedSetting {
  readonly change: RequestChange;
  /** Short texts for people. */
  readonly before: string;
  readonly after: string;
  /** The first block that the change loses. */
  readonly block: number;
}

/** The changed setting that loses the earliest block; null if none matters. */
export function changedSetting(
  before: RequestSettings,
  now: RequestSettings,
  { invalidation }: CacheRules,
  blocks: readonly ViewBlock[],
): ChangedSetting | null {
  let first: ChangedSetting | null = null;
  for (const rule of invalidation) {
    const { change } = rule;
    const tier = firstLostTier(rule);
    if (tier === null || before[change] === now[change]) continue;
    const block = Math.max(0, tierStart(blocks, tier));
    if (first !== null && first.block <= block) continue;
    first = { change, before: named(change, before), after: named(change, now), block };
  }
  return first;
}

function named(change: RequestChange, settings: RequestSettings): string {
  const value = settings[change];
  if (value !== undefined) return excerptAt(value, 0);
  return defaults[change] ?? "default";
}

/** The default values. */
const defaults: Partial<Record<RequestChange, string>> = {
  "tool choice": "auto",
  "parallel tool use": "on",
  "images appear or vanish": "no images",
  citations: "off",
  "web search or fetch": "off",
  "cache key": "none",
};
