// What a session knows of the provider's cache: what it wrote, when, and which promises did not hold.
import type { PromptBlock } from "../assembly/prompt-block.ts";
import type { ContentHash } from "../hash.ts";
import type { Lifetime } from "../message/usage.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import { noEvidence, type Evidence } from "./evidence.ts";
import { noContents, type PromptContents } from "./prompt-contents.ts";

/** A plain value, kept with the session: a restart or another node goes on from it. */
export interface CacheState {
  /** Bounded: what is live, and some that are not any more, because a marker can bring those back. */
  readonly entries: readonly KnownEntry[];
  /** Where the last call's replayed part ended; null before the first call. */
  readonly lastTail: { readonly key: ContentHash; readonly block: number } | null;
  /** The last place whose tokens the provider told; null before the first reply. */
  readonly measured: Measured | null;
  readonly lastStartMs: number | null;
  readonly calls: number;
  /** What the prompt so far holds that decides which entries a change leaves readable. */
  readonly contents: PromptContents;
  readonly evidence: Evidence;
}

/** A prefix that the provider should have. */
export interface KnownEntry {
  readonly key: ContentHash;
  readonly block: number;
  /** Null where the provider names no lifetime. */
  readonly lifetime: Lifetime | null;
  readonly keptMs: number;
  /** As the provider counted them; null where it did not tell. */
  readonly tokens: number | null;
  /** When it was written. */
  readonly writtenMs: number;
  /** Start of the last call that wrote it, read it, or had a marker on it. */
  readonly touchedMs: number;
}

export interface Measured {
  readonly key: ContentHash;
  readonly block: number;
  readonly tokens: number;
}

/** A session that has not called yet. What was learned of the provider elsewhere may be given. */
export function openCacheState(evidence: Evidence = noEvidence): CacheState {
  return {
    entries: [],
    lastTail: null,
    measured: null,
    lastStartMs: null,
    calls: 0,
    contents: noContents,
    evidence,
  };
}

export function isLive(entry: KnownEntry, nowMs: number): boolean {
  return nowMs <= entry.touchedMs + entry.keptMs;
}

export function keptMsOf(lifetime: Lifetime, rules: CacheRules): number {
  const found = rules.lifetimes.find((each) => each.lifetime === lifetime);
  return (found?.seconds ?? 0) * 1000;
}

/** What the last reply told, where the prompt still begins with what it was told of; null otherwise. */
export function countsAs(
  measured: Measured | null,
  blocks: { at(index: number): PromptBlock | undefined },
): Measured | null {
  return measured !== null && blocks.at(measured.block)?.key === measured.key ? measured : null;
}

/** Counts up to a block, corrected by what the last reply told about the prompt before it. */
export type Ruler = (block: number) => number;

export function createRuler(
  blocks: { at(index: number): PromptBlock | undefined },
  told: Measured | null,
): Ruler {
  // An array counts from its end below 0; nothing comes before the first block.
  const endOf: Ruler = (block) => (block < 0 ? 0 : (blocks.at(block)?.endTokens ?? 0));
  const measured = countsAs(told, blocks);
  if (measured === null) return endOf;
  const counted = endOf(measured.block);
  return (block) =>
    block >= measured.block || counted === 0
      ? measured.tokens + endOf(block) - counted
      : Math.round((endOf(block) * measured.tokens) / counted);
}
