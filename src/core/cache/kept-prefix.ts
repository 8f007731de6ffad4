// The part of the last prompt that the provider keeps, and when it loses it.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { Lifetime } from "../message/usage.ts";
import { createRuler, isLive, type CacheState, type KnownEntry } from "./cache-state.ts";

export interface KeptPrefix {
  readonly tokens: number;
  readonly lifetime: Lifetime;
  readonly keptMs: number;
  readonly expiresMs: number;
  /** What a longer-lived entry keeps after that, and until when. */
  readonly longTokens: number;
  readonly longUntilMs: number;
  /** The whole prompt, with what comes after the prefix. */
  readonly promptTokens: number;
}

/** The longest live prefix of these blocks. Null if the provider keeps none, or names no lifetime. */
export function findKeptPrefix(
  { entries, measured }: Pick<CacheState, "entries" | "measured">,
  blocks: BlockList,
  nowMs: number,
): KeptPrefix | null {
  const ruler = createRuler(blocks, measured);
  const own = entries.filter(
    (entry) => blocks.at(entry.block)?.key === entry.key && isLive(entry, nowMs),
  );
  let last: KnownEntry | null = null;
  for (const entry of own) if (last === null || isFurther(entry, last)) last = entry;
  if (last === null || last.lifetime === null) return null;
  const expiresMs = endOf(last);
  let long: KnownEntry | null = null;
  for (const entry of own) {
    if (endOf(entry) > expiresMs && entry.block > (long?.block ?? -1)) long = entry;
  }
  return {
    tokens: ruler(last.block),
    lifetime: last.lifetime,
    keptMs: last.keptMs,
    expiresMs,
    longTokens: long === null ? 0 : ruler(long.block),
    longUntilMs: long === null ? 0 : endOf(long),
    promptTokens: ruler(blocks.length - 1),
  };
}

function isFurther(entry: KnownEntry, than: KnownEntry): boolean {
  return entry.block === than.block ? endOf(entry) > endOf(than) : entry.block > than.block;
}

function endOf({ touchedMs, keptMs }: KnownEntry): number {
  return touchedMs + keptMs;
}
