// The verdict: from the possible read down to the actual read, and the step that lost most.
import type { Ruler } from "../cache/cache-state.ts";
import { promptTokens, type Usage } from "../message/usage.ts";
import { expectedRead } from "./expected-read.ts";
import * as divergence from "./find-divergence.ts";
import { adviseOn, type Detector, type Explanation, type MissCause } from "./explanation.ts";
import { lossOf } from "./price-loss.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { descend, simulateRead, type LostStep } from "./read-ladder.ts";
import { type PromptView, firstLostTier, tierStart, type ViewBlock } from "./prompt-view.ts";
import { keepsEveryPrefix } from "../cache/expect-bill.ts";
import type { UnkeptPrefix } from "./kept-prefixes.ts";
import { scaledRuler, type RememberedCall } from "./remember-call.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { RequestChange } from "../models/invalidation.ts";
import { excerptAt } from "./excerpt.ts";
import type { RequestSettings } from "../wire/foreign/foreign-request.ts";

export interface CallQuestion {
  /** The call before it on the same thread; null for none. */
  readonly before: RememberedCall | null;
  readonly view: PromptView;
  readonly rules: ModelFacts;
  readonly usage: Usage | null;
  readonly startMs: number;
  readonly textBefore: divergence.TextOfHash;
}

export function explainCall(question: CallQuestion): Explanation {
  const { before, view, usage } = question;
  const ruler = scaledRuler(view, usage);
  if (before === null) return verdict(question, ruler, { cause: "first call" });
  // Content that only the provider has cannot be compared.
  if (before.continues || view.request.continues)
    return verdict(question, ruler, { cause: "no miss" });
  if (before.kept === null) return explainUnkept(question, before, ruler);
  const shared = divergence.sharedBlocks(before.blocks, view.blocks);
  const simulated = simulateRead({ ...question, ruler }, before);
  const reported = usage?.cacheReadTokens ?? simulated.tokens;
  const { kept } = before;
  const comparison = { before, kept, shared, ruler, reported, simulated };
  const expected = expectedRead({ ...question, ...comparison });
  const detectedBy: Detector[] = [
    ...(reported < expected.tokens - expected.toleranceTokens ? ["expected more" as const] : []),
    ...(before.readTokens > 0 && reported < before.readTokens / 2 ? ["reads halved" as const] : []),
  ];
  const common = { expected: expected.tokens, reported, detectedBy };
  if (detectedBy.length === 0) return verdict(question, ruler, { ...common, cause: "no miss" });
  const top = Math.max(
    expected.tokens,
    detectedBy.includes("reads halved") ? before.readTokens : 0,
  );
  const lost = descend({ ...question, before, ruler, shared, topTokens: top, reported });
  const isExpected = detectedBy.includes("expected more");
  const described = describeStep(question, before, shared, { ...lost, isExpected });
  return verdict(question, ruler, { ...common, ...described });
}

interface Described {
  readonly cause: MissCause;
  readonly detail?: string;
  readonly block?: divergence.BlockPlace | null;
}

function describeStep(
  { view, rules, textBefore }: CallQuestion,
  before: RememberedCall,
  shared: number,
  { step, block, isExpected }: LostStep & { readonly isExpected: boolean },
): Described {
  const { blocks } = view;
  switch (step) {
    case "model":
      return {
        cause: "model changed",
        detail: `model: ${before.model} → ${view.model}`,
        block: divergence.describePlace(blocks, 0),
      };
    case "content": {
      const dropped = droppedThinking(before, view, shared);
      if (dropped !== null) return dropped;
      const asksForMarkers = !keepsEveryPrefix(rules.cache);
      if (
        isExpected &&
        asksForMarkers &&
        divergence.isUnmarkedBranch(before.blocks, blocks, shared, textBefore)
      ) {
        return { cause: "nothing was marked", block: divergence.describePlace(blocks, shared - 1) };
      }
      return {
        cause: divergence.contentCause(before.blocks, blocks, shared),
        block: divergence.describeDifference(before.blocks, blocks, shared, textBefore),
      };
    }
    case "settings": {
      const changed = changedSetting(before.settings, view.request.settings, rules.cache, blocks);
      return changed === null
        ? { cause: "provider lost it", block: divergence.describePlace(blocks, block) }
        : { cause: "parameter changed", ...toDescribed(changed, view) };
    }
    case "lifetime expired":
    case "written concurrently":
    case "below the minimum":
    case "nothing was marked":
    case "beyond lookback":
    case "provider lost it":
      return { cause: step, block: divergence.describePlace(blocks, block) };
  }
}

function toDescribed(
  { change, before, after, block }: ChangedSetting,
  view: PromptView,
): Omit<Described, "cause"> {
  const place = divergence.describePlace(view.blocks, block);
  return {
    detail: `${change}: ${before} → ${after}`,
    block: place === null ? null : { ...place, before, after },
  };
}

/** Thinking that is still in the body but that the model no longer sees: the user spoke again, or thinking was switched off. */
function droppedThinking(
  before: RememberedCall,
  { request, blocks }: PromptView,
  at: number,
): Described | null {
  const old = before.blocks[at];
  if (old?.kind !== "thinking" && old?.kind !== "redacted_thinking") return null;
  if (request.blocks.length === blocks.length) return null;
  if (!request.blocks.some(({ hash }) => hash === old.hash)) return null;
  const { path, tier, section } = old;
  const isSwitched = before.settings.thinking !== request.settings.thinking;
  return {
    cause: "parameter changed",
    detail: `${isSwitched ? "thinking" : "user turn after thinking"}: kept → dropped`,
    block: { index: at, path, tier, section, byteOffset: null, before: null, after: null },
  };
}

/** The call before left nothing in the cache: it had no marker, or too short a prefix. */
function explainUnkept(question: CallQuestion, before: RememberedCall, ruler: Ruler): Explanation {
  const { view, usage, rules } = question;
  const reported = usage?.cacheReadTokens ?? 0;
  const { unkept } = before;
  const shared = divergence.sharedBlocks(before.blocks, view.blocks);
  const tokens = unkept === null ? 0 : sharedTokens(unkept, shared, ruler);
  const least = unkept?.cause === "nothing was marked" ? (rules.cache.minimumTokens ?? 0) : 1;
  const isMissed = before.model === view.model && tokens >= least && reported < tokens / 2;
  if (unkept === null || !isMissed) {
    return verdict(question, ruler, { expected: reported, reported, cause: "no miss" });
  }
  return verdict(question, ruler, {
    expected: tokens,
    reported,
    cause: unkept.cause,
    block: divergence.describePlace(view.blocks, Math.min(unkept.block, shared - 1)),
    detectedBy: ["expected more"],
  });
}

function sharedTokens({ block, tokens }: UnkeptPrefix, shared: number, ruler: Ruler): number {
  return block < shared ? Math.max(tokens, 0) : ruler(shared - 1);
}

interface Finding extends Described {
  readonly expected?: number;
  readonly reported?: number;
  readonly detectedBy?: readonly Detector[];
}

function verdict(question: CallQuestion, ruler: Ruler, finding: Finding): Explanation {
  const { before, rules, usage, startMs } = question;
  const reported = finding.reported ?? usage?.cacheReadTokens ?? 0;
  const isMiss = finding.cause !== "no miss" && finding.cause !== "first call";
  // No call can lose more than it sends.
  const most = usage === null ? Infinity : promptTokens(usage);
  const expected = Math.min(finding.expected ?? reported, most);
  const lostTokens = isMiss ? Math.max(0, expected - reported) : 0;
  const block = finding.block ?? null;
  const detail = finding.detail ?? null;
  return {
    expectedReadTokens: expected,
    reportedReadTokens: reported,
    cause: finding.cause,
    detail,
    block,
    lostTokens,
    lostPicoUsd: lossOf(lostTokens, { ...question, ruler, reported }),
    advice: adviseOn(finding.cause, {
      gapMs: before === null ? 0 : startMs - before.startMs,
      minimumTokens: rules.cache.minimumTokens,
      isBestEffort: rules.cache.automatic?.bestEffort === true,
      section: block?.section ?? null,
      detail,
    }),
    detectedBy: finding.detectedBy ?? [],
  };
}

interface ChangedSetting {
  readonly change: RequestChange;
  /** Short texts for people. */
  readonly before: string;
  readonly after: string;
  /** The first block that the change loses. */
  readonly block: number;
}

/** The changed setting that loses the earliest block; null if none matters. */
function changedSetting(
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
