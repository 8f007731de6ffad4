// Tokens of prefixes, exact where replies report them.
import type { Ruler } from "../cache/cache-state.ts";
import { writtenTokens, type Usage } from "../message/usage.ts";

export interface KeptPrefix {
  readonly block: number;
  readonly tokens: number;
  /** Whether a reply reported the tokens; else they are estimated. */
  readonly isExact: boolean;
}

/** Reads and writes together end at the last marker. */
export function keptAt(block: number, usage: Usage | null, ruler: Ruler): KeptPrefix {
  if (usage === null) return { block, tokens: ruler(block), isExact: false };
  return { block, tokens: usage.cacheReadTokens + writtenTokens(usage), isExact: true };
}

/** The read ends at the hit, unless the provider found another entry than the rules predict. */
export function readUpTo(
  block: number,
  { cacheReadTokens }: Usage,
  ruler: Ruler,
): KeptPrefix | null {
  const isFar = Math.abs(ruler(block) - cacheReadTokens) > cacheReadTokens * 0.1;
  return isFar ? null : { block, tokens: cacheReadTokens, isExact: true };
}

/** Tokens up to a block, interpolated between two exact places. */
export function between(
  read: KeptPrefix | null,
  kept: KeptPrefix,
  block: number,
  ruler: Ruler,
): number {
  if (block === kept.block) return kept.tokens;
  const counted = read === null ? 0 : ruler(kept.block) - ruler(read.block);
  if (read === null || block <= read.block || counted <= 0) return ruler(block);
  const share = (ruler(block) - ruler(read.block)) / counted;
  return Math.round(read.tokens + share * (kept.tokens - read.tokens));
}
