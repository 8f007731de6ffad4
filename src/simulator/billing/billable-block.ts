// One piece of a prompt, as billing sees it.

export type BilledTier = "tools" | "system" | "messages";

/** One piece of the rendered prompt, in rendering order. */
export interface BillableBlock {
  /** Equal hashes mean equal rendered bytes. */
  readonly hash: string;
  readonly tokens: number;
  readonly tier: BilledTier;
  /** Consecutive blocks of the same kind can count as one position. */
  readonly run: "tool_use" | "tool_result" | null;
  /** A place where a provider with automatic caching may end a prefix. */
  readonly boundary: "eligible message" | "initial group" | null;
}
