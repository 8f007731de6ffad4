// prompt_cache_diagnostics: compares a request with an earlier one.
import type { Bill } from "../billing/bill.ts";
import type { Compared } from "./stored-responses.ts";

export type Diagnostics =
  | { readonly type: "cache_hit" }
  | {
      readonly type: "cache_miss";
      readonly reason: MissReason;
      readonly cache_missed_tokens: number;
      readonly comparison_reusable_tokens?: number;
    }
  | { readonly type: "comparison_response_not_found" }
  | { readonly type: "unavailable" };

type MissReason =
  | "model_changed"
  | "prompt_cache_key_changed"
  | "service_tier_changed"
  | "tools_changed"
  | "text_format_changed"
  | "reasoning_effort_changed"
  | "verbosity_changed"
  | "context_compacted"
  | "input_changed";

/** An equal prefix that was not read, because it expired or was too short, has no reason of its own. */
export function diagnose(now: Compared, before: Compared | null, bill: Bill): Diagnostics {
  if (before === null) return { type: "comparison_response_not_found" };
  const setting = changedSetting(now, before);
  const shared = sharedBlocks(now, before);
  const sharedTokens = tokensOf(now, shared);
  const { reusableTokens } = before;
  // The last block of a prompt only opens the reply, so no later prompt shares it.
  const isExtended =
    reusableTokens > 0 ? sharedTokens >= reusableTokens : shared >= before.blocks.length - 1;
  if (setting === null && isExtended) {
    const isRead = bill.readTokens > 0 && bill.readTokens >= reusableTokens;
    return isRead ? { type: "cache_hit" } : { type: "unavailable" };
  }
  return {
    type: "cache_miss",
    reason: setting ?? changedText(now, before, shared),
    cache_missed_tokens: bill.totalTokens - (setting === null ? sharedTokens : 0),
    ...(reusableTokens === 0 ? {} : { comparison_reusable_tokens: reusableTokens }),
  };
}

/** In the provider's order. */
const reasonOf: readonly (readonly [keyof Compared["settings"], MissReason])[] = [
  ["cache key", "prompt_cache_key_changed"],
  ["service tier", "service_tier_changed"],
  // Parallel calls have no reason of their own; the setting is rendered with the tools.
  ["parallel tool use", "tools_changed"],
  ["output format", "text_format_changed"],
  ["effort", "reasoning_effort_changed"],
  ["verbosity", "verbosity_changed"],
];

function changedSetting(now: Compared, before: Compared): MissReason | null {
  if (now.modelId !== before.modelId) return "model_changed";
  const changed = reasonOf.find(([key]) => now.settings[key] !== before.settings[key]);
  return changed?.[1] ?? null;
}

function changedText(now: Compared, before: Compared, shared: number): MissReason {
  const isTools = [now, before].some(({ blocks }) => blocks[shared]?.tier === "tools");
  if (isTools) return "tools_changed";
  return now.compactions > before.compactions ? "context_compacted" : "input_changed";
}

function sharedBlocks(now: Compared, before: Compared): number {
  const different = now.blocks.findIndex(({ hash }, index) => hash !== before.blocks[index]?.hash);
  return different === -1 ? now.blocks.length : different;
}

function tokensOf({ blocks }: Compared, count: number): number {
  return blocks.slice(0, count).reduce((sum, { tokens }) => sum + tokens, 0);
}
