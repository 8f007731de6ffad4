// Counts from the last reply: its exact total, plus an estimate of what was appended since.
import type { ContentHash } from "../hash.ts";
import type { Role } from "../message/message.ts";
import { generatedTokens, promptTokens, type Usage } from "../message/usage.ts";
import { calibrate, type Calibration, type Observation, uncalibrated } from "./calibration.ts";
import { estimateTokens } from "./estimate.ts";
import type { Tokenizer } from "../models/model-facts.ts";
import { addRawCounts, noRawCount, type RawCount } from "./raw-count.ts";

/** The provider's exact counts for one call, tied to the history of that call. */
export interface Anchor {
  /** How many messages the call carried, and their chained key. */
  readonly messageCount: number;
  readonly prefixKey: ContentHash;
  /** The key of everything before the messages: system and tools. A change there invalidates the anchor. */
  readonly overheadKey: ContentHash;
  readonly promptTokens: number;
  /** Generated tokens by the reply's own count. The reply becomes the next message. */
  readonly replyTokens: number;
}

export interface CountedMessage {
  readonly role: Role;
  /** The chained key of the history up to and including this message. */
  readonly prefixKey: ContentHash;
  readonly count: RawCount;
}

export interface History {
  readonly overhead: RawCount;
  readonly overheadKey: ContentHash;
  readonly messages: readonly CountedMessage[];
}

export interface Tokenizing {
  readonly generation: Tokenizer;
  readonly calibration: Calibration;
}

export interface TokenTotal {
  readonly tokens: number;
  /** How many of them are estimated. Zero means that the provider counted everything. */
  readonly estimatedTokens: number;
  readonly precision: "exact" | "approximate";
  readonly basis: CountBasis;
}

/** Where a total comes from, or why the anchor did not apply. */
export type CountBasis = "anchor" | "no-anchor" | "history-rewritten" | "overhead-changed";

export function anchorAt(history: History, usage: Usage): Anchor {
  return {
    messageCount: history.messages.length,
    prefixKey: history.messages.at(-1)?.prefixKey ?? "",
    overheadKey: history.overheadKey,
    promptTokens: promptTokens(usage),
    replyTokens: generatedTokens(usage),
  };
}

/** The tokens of a history. The work follows the messages after the anchor, not the whole history. */
export function countHistory(
  history: History,
  anchor: Anchor | undefined,
  tokenizing: Tokenizing,
): TokenTotal {
  const basis = basisOf(history, anchor);
  if (anchor === undefined || basis !== "anchor") {
    const count = history.messages.reduce(
      (sum, message) => addRawCounts(sum, message.count),
      history.overhead,
    );
    return total(0, estimate(count, tokenizing), basis);
  }
  const appended = splitAppended(history.messages.slice(anchor.messageCount), anchor, tokenizing);
  return total(
    anchor.promptTokens + appended.knownTokens,
    estimate(appended.unknown, tokenizing),
    basis,
  );
}

/**
 * Compares the next call's bill with the estimate made before it, for `learn`. Undefined if the anchor
 * did not apply or the bill shrank.
 */
export function observe(
  history: History,
  anchor: Anchor | undefined,
  billedTokens: number,
  generation: Tokenizer,
): Observation | undefined {
  if (anchor === undefined || basisOf(history, anchor) !== "anchor") return undefined;
  const tokenizing = { generation, calibration: uncalibrated };
  const appended = splitAppended(history.messages.slice(anchor.messageCount), anchor, tokenizing);
  const billed = billedTokens - anchor.promptTokens - appended.knownTokens;
  if (billed <= 0) return undefined;
  return { estimatedTokens: estimate(appended.unknown, tokenizing), billedTokens: billed };
}

/**
 * A streamed reply sometimes reports the usage of its first event: one to a few tokens. A count below
 * this share of our own estimate is taken for that error.
 */
const plausibleShare = 0.6;

interface Appended {
  readonly knownTokens: number;
  readonly unknown: RawCount;
}

/** The reply's own usage gives its count; the rest is estimated. */
function splitAppended(
  appended: readonly CountedMessage[],
  anchor: Anchor,
  tokenizing: Tokenizing,
): Appended {
  let unknown = noRawCount;
  let knownTokens = 0;
  for (const [place, message] of appended.entries()) {
    const isReply = place === 0 && message.role === "assistant";
    if (isReply && isPlausible(anchor.replyTokens, message.count, tokenizing)) {
      knownTokens = anchor.replyTokens;
    } else {
      unknown = addRawCounts(unknown, message.count);
    }
  }
  return { knownTokens, unknown };
}

function isPlausible(replyTokens: number, count: RawCount, tokenizing: Tokenizing): boolean {
  const expected = estimateTokens(count, tokenizing.generation);
  return replyTokens > 0 && replyTokens >= plausibleShare * expected;
}

function basisOf(history: History, anchor: Anchor | undefined): CountBasis {
  if (anchor === undefined) return "no-anchor";
  if (anchor.overheadKey !== history.overheadKey) return "overhead-changed";
  const last = history.messages[anchor.messageCount - 1];
  const key = anchor.messageCount === 0 ? "" : last?.prefixKey;
  return key === anchor.prefixKey ? "anchor" : "history-rewritten";
}

function estimate(count: RawCount, { generation, calibration }: Tokenizing): number {
  return calibrate(estimateTokens(count, generation), calibration);
}

function total(knownTokens: number, estimatedTokens: number, basis: CountBasis): TokenTotal {
  return {
    tokens: knownTokens + estimatedTokens,
    estimatedTokens,
    precision: basis === "anchor" && estimatedTokens === 0 ? "exact" : "approximate",
    basis,
  };
}
