// What a session knows about the provider's cache: its writes, their times, and which promises failed.
import type { PromptBlock } from "../assembly/prompt-block.ts";
import type { ContentHash } from "../hash.ts";
import type { Lifetime } from "../message/usage.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { Accounts } from "./accounts.ts";
import type { UnaskedReads } from "./unasked-reads.ts";
import { noEvidence, type Evidence } from "./evidence.ts";

/** A plain value, stored with the session, so that a restart or another node can continue from it. */
export interface CacheState {
  /** Live entries and a few expired ones; a bounded number. */
  readonly entries: readonly KnownEntry[];
  /** Where the repeated part of the last call ended. Null before the first call. */
  readonly lastTail: { readonly key: ContentHash; readonly block: number } | null;
  /** The last place with an exact token count from the provider. Null before the first reply. */
  readonly measured: Measured | null;
  readonly lastStartMs: number | null;
  readonly calls: number;
  /** What the prompt contains that decides which entries stay readable after a change. */
  readonly contents: PromptContents;
  readonly evidence: Evidence;
  /** Absent in sessions stored by older versions. */
  readonly accounts?: Accounts;
  /** What the provider kept without being asked. Only for models whose provider also stores prefixes; absent before the first reply. */
  readonly unasked?: UnaskedReads;
}

/** What in a prompt decides which entries stay readable after a change. */
export interface PromptContents {
  /** How many blocks were examined. */
  readonly blocks: number;
  /** The first block of the messages. Null if there is none yet. */
  readonly messagesFrom: number | null;
  readonly hasImages: boolean;
  /** The first thinking block since the last user message. Null for none. */
  readonly thinkingFrom: number | null;
}

export const noContents: PromptContents = {
  blocks: 0,
  messagesFrom: null,
  hasImages: false,
  thinkingFrom: null,
};

/** A prefix the provider should have. */
export interface KnownEntry {
  readonly key: ContentHash;
  readonly block: number;
  /** Null if the provider names no lifetime. */
  readonly lifetime: Lifetime | null;
  readonly keptMs: number;
  /** The provider's count. Null if it did not report one. */
  readonly tokens: number | null;
  readonly writtenMs: number;
  /** Start of the last call that wrote it, read it, or put a marker on it. */
  readonly touchedMs: number;
  /** It was written for longer than the prefix before it: it lasts only if steps do. */
  readonly isStep?: true;
}

export interface Measured {
  readonly key: ContentHash;
  readonly block: number;
  readonly tokens: number;
}

/** The state before the first call. Pass evidence learned about the provider elsewhere. */
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

/** The last measured count, if the prompt still begins with the measured prefix. Null otherwise. */
export function countsAs(
  measured: Measured | null,
  blocks: { at(index: number): PromptBlock | undefined },
): Measured | null {
  return measured !== null && blocks.at(measured.block)?.key === measured.key ? measured : null;
}

/** Counts up to a block, corrected by the exact count in the last reply. */
export type Ruler = (block: number) => number;

export function createRuler(
  blocks: { at(index: number): PromptBlock | undefined },
  lastMeasured: Measured | null,
): Ruler {
  // `at` counts from the end for negative indexes; nothing comes before the first block.
  const endOf: Ruler = (block) => (block < 0 ? 0 : (blocks.at(block)?.endTokens ?? 0));
  const measured = countsAs(lastMeasured, blocks);
  if (measured === null) return endOf;
  const counted = endOf(measured.block);
  return (block) =>
    block >= measured.block || counted === 0
      ? measured.tokens + endOf(block) - counted
      : Math.round((endOf(block) * measured.tokens) / counted);
}

/** A share of the compared tokens. */
export const toleranceShare = 0.05;

/** A few odd blocks can be off by this much even in a short prompt. */
const toleranceTokensMin = 200;

/** An estimate that no reply has corrected may be off by this share of it. */
export const countErrorMax = 0.35;

/** How far our token count may differ from the provider's before the difference means something. */
export function countTolerance(tokens: number): number {
  return Math.max(toleranceTokensMin, tokens * toleranceShare);
}
