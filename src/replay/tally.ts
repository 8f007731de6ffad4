// Sums over replayed requests: tokens per bucket, dollars, misses by cause.
import { addUsage, noUsage, type Usage } from "../core/message/usage.ts";
import { findTotal } from "../core/models/cost.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type { MissCause } from "../core/diagnosis/explanation.ts";
import type { Miss } from "./misses.ts";

export interface Tally {
  usage: Usage;
  costPicoUsd: bigint;
  readonly misses: Map<MissCause, MissTally>;
  wastedTokens: number;
  firstWrittenTokens: number;
}

export interface MissTally {
  count: number;
  tokens: number;
  /** What reading these tokens would have saved. */
  costPicoUsd: bigint;
}

export function createTally(): Tally {
  return {
    usage: noUsage,
    costPicoUsd: 0n,
    misses: new Map(),
    wastedTokens: 0,
    firstWrittenTokens: 0,
  };
}

export function addToTally(
  tally: Tally,
  { usage, miss }: { readonly usage: Usage; readonly miss: Miss | null },
  model: ModelFacts,
  startMs: number,
  costPicoUsd: bigint = costOf(usage, model, startMs),
): void {
  tally.usage = addUsage(tally.usage, usage);
  tally.costPicoUsd += costPicoUsd;
  if (miss === null) return;
  const read: Usage = { ...noUsage, cacheReadTokens: miss.tokens };
  const plain: Usage = { ...noUsage, uncachedTokens: miss.tokens };
  const lostPicoUsd = costOf(plain, model, startMs) - costOf(read, model, startMs);
  addMiss(tally, miss.cause, { count: 1, tokens: miss.tokens, costPicoUsd: lostPicoUsd });
}

/** Adds the sums of other requests; undefined for none. */
export function mergeTally(tally: Tally, more: Tally | undefined): void {
  if (more === undefined) return;
  tally.usage = addUsage(tally.usage, more.usage);
  tally.costPicoUsd += more.costPicoUsd;
  tally.wastedTokens += more.wastedTokens;
  tally.firstWrittenTokens += more.firstWrittenTokens;
  for (const [cause, miss] of more.misses) addMiss(tally, cause, miss);
}

function addMiss({ misses }: Tally, cause: MissCause, miss: MissTally): void {
  const found = misses.get(cause) ?? { count: 0, tokens: 0, costPicoUsd: 0n };
  found.count += miss.count;
  found.tokens += miss.tokens;
  found.costPicoUsd += miss.costPicoUsd;
  misses.set(cause, found);
}

/** The cost of the prompt only: output costs the same under every policy. */
export function costOf(usage: Usage, model: ModelFacts, startMs: number): bigint {
  const isPrompt = usage.outputTokens === 0 && usage.reasoningTokens === 0;
  const prompt = isPrompt ? usage : { ...usage, outputTokens: 0, reasoningTokens: 0 };
  return findTotal(prompt, model, { at: startMs }) ?? 0n;
}
