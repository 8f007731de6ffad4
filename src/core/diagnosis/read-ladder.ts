// From the possible read down to the actual read: each step drops entries for one reason.
import { countTolerance, isLive, type Ruler } from "../cache/cache-state.ts";
import { entriesByBlock, keepsEveryPrefix } from "../cache/expect-bill.ts";
import { findHit } from "../cache/find-hit.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { MissCause } from "./explanation.ts";
import { seeMarkers, type PromptView } from "./prompt-view.ts";
import type { TrackedEntry } from "./kept-prefixes.ts";
import type { RememberedCall } from "./remember-call.ts";

/** A call and the one before it on the same thread. */
export interface Comparison {
  readonly before: RememberedCall;
  readonly view: PromptView;
  readonly rules: ModelFacts;
  readonly ruler: Ruler;
  readonly startMs: number;
  /** Number of equal blocks at the beginning. */
  readonly shared: number;
  /** What was read. */
  readonly reported: number;
}

interface Descent extends Comparison {
  /** What could have been read. */
  readonly topTokens: number;
}

/** Why a step is lower than the one above it. */
export type LostBy =
  | "model"
  | "content"
  | "settings"
  | Extract<
      MissCause,
      | "lifetime expired"
      | "written concurrently"
      | "below the minimum"
      | "nothing was marked"
      | "beyond lookback"
      | "provider lost it"
    >;

export interface LostStep {
  readonly step: LostBy;
  /** The last block of what could have been read before this step; -1 for none. */
  readonly block: number;
}

/** The step that loses most; of equal ones the first. */
export function descend(descent: Descent): LostStep {
  const { before, view, shared, topTokens } = descent;
  const kept = Math.min(before.kept?.block ?? -1, view.blocks.length - 1);
  let above = { tokens: topTokens, block: kept };
  let worst = { step: "provider lost it" as LostBy, block: shared - 1, drop: 0 };
  for (const { step, tokens, block } of allRungs(descent)) {
    const reached = Math.min(above.tokens, tokens);
    const drop = above.tokens - reached;
    if (drop > worst.drop) worst = { step, block: above.block, drop };
    above = { tokens: reached, block };
  }
  return worst;
}

/** The read that is left after a step. */
interface Rung {
  readonly step: LostBy;
  readonly tokens: number;
  readonly block: number;
}

function allRungs(descent: Descent): readonly Rung[] {
  const { before, reported, rules } = descent;
  const simulated = simulateRead(descent, before);
  const { kept } = before;
  // If an earlier reply gave the tokens, this count is only a difference from them, not a better one.
  const isReported = kept !== null && kept.isExact && simulated.tokens >= kept.tokens;
  const isKnown = !isReported && isAsSimulated(reported, simulated, rules);
  const { rungs, best } = entryRungs(descent);
  const all: readonly Rung[] = [
    ...rungs,
    { step: lookupStep(descent, best), ...simulated },
    { step: "provider lost it", tokens: reported, block: -1 },
  ];
  // If the reply matches the rules, it gives the tokens of that block.
  return all.map((rung) =>
    isKnown && rung.block === simulated.block ? { ...rung, tokens: reported } : rung,
  );
}

/** Our counts may be off by this much. */
export function toleranceOf(tokens: number, rules: ModelFacts): number {
  return countTolerance(tokens) + stepOf(rules);
}

/** With a provider that caches in whole steps, reads may be this much shorter than the prefix. */
export function stepOf({ cache }: ModelFacts): number {
  if (!keepsEveryPrefix(cache)) return 0;
  return cache.automatic?.stepTokens ?? cache.automatic?.reportedInSteps ?? 0;
}

export function isAsSimulated(
  reported: number,
  { tokens }: SimulatedRead,
  rules: ModelFacts,
): boolean {
  return Math.abs(reported - tokens) <= toleranceOf(tokens, rules);
}

export interface SimulatedRead {
  readonly tokens: number;
  /** The last block that is read; -1 for none. */
  readonly block: number;
}

/** What a request reads by the rules. */
export function simulateRead(
  { view, rules, startMs, ruler }: Pick<Descent, "view" | "rules" | "startMs" | "ruler">,
  before: RememberedCall,
): SimulatedRead {
  const isReadable = (entry: TrackedEntry): boolean =>
    view.blocks[entry.block]?.key === entry.key &&
    entry.readableMs <= startMs &&
    isLive(entry, startMs);
  const { cache } = rules;
  const isLongest = cache.marking === "none" || keepsEveryPrefix(cache);
  // The others are not asked for where a conversation just goes on.
  const most = before.longest;
  if (isLongest && most !== undefined && isReadable(most)) return toRead(most);
  const readable = before.entries.filter(isReadable);
  if (isLongest) return toRead(longest(readable));
  const { usable } = seeMarkers(view, cache, ruler);
  const lookup = { blocks: view.blocks, entries: entriesByBlock(readable), nowMs: startMs };
  const hit = findHit(lookup, usable, { rules: cache, mode: view.request.mode });
  return toRead(longest(readable.filter(({ block }) => block === hit?.block)));
}

function toRead(entry: TrackedEntry | null): SimulatedRead {
  return { tokens: entry?.tokens ?? 0, block: entry?.block ?? -1 };
}

function entryRungs({ before, view, startMs }: Descent): {
  readonly rungs: readonly Rung[];
  readonly best: TrackedEntry | null;
} {
  const isSame = before.model === view.model;
  const filters: readonly (readonly [LostBy, (entry: TrackedEntry) => boolean])[] = [
    ["model", ({ model }) => isSame || model === view.model],
    ["content", ({ block, contentKey }) => view.blocks[block]?.contentKey === contentKey],
    ["settings", ({ block, key }) => view.blocks[block]?.key === key],
    ["lifetime expired", (entry) => isLive(entry, startMs)],
    ["written concurrently", ({ readableMs }) => readableMs <= startMs],
  ];
  let left = before.entries;
  const rungs = filters.map(([step, isLeft]): Rung => {
    left = left.filter(isLeft);
    return { step, ...toRead(longest(left)) };
  });
  return { rungs, best: longest(left) };
}

function longest(entries: readonly TrackedEntry[]): TrackedEntry | null {
  return entries.reduce<TrackedEntry | null>(
    (best, entry) => (best === null || entry.tokens > best.tokens ? entry : best),
    null,
  );
}

/** Why this request's own markers miss the longest existing entry. */
function lookupStep({ view, rules, ruler }: Descent, best: TrackedEntry | null): LostBy {
  const { placed, usable } = seeMarkers(view, rules.cache, ruler);
  const isAtOrAfter = ({ block }: { readonly block: number }): boolean =>
    best === null || block >= best.block;
  if (usable.some(isAtOrAfter)) return "beyond lookback";
  return placed.some(isAtOrAfter) ? "below the minimum" : "nothing was marked";
}
