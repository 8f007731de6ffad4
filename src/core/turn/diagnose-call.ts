// Puts a call through the diagnosis: whether it read less from the cache than it could have, why, and what that cost.
import { assemble, type Assembly } from "../assembly/assemble.ts";
import type { CachePlan, PlannedPrefix } from "../cache/cache-plan.ts";
import type { CacheState } from "../cache/cache-state.ts";
import {
  explainOwnCall,
  lostTokensMin,
  type OwnCallBefore,
  type OwnExplanation,
} from "../diagnosis/own/explain-own-call.ts";
import { adviseOn } from "../diagnosis/explanation.ts";
import type { Usage } from "../message/usage.ts";
import { findTotal } from "../models/cost.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { plainTraits, readTraits, type CallTraits } from "../diagnosis/own/call-traits.ts";
import type { SentPrompt } from "../diagnosis/own/sent-prompt.ts";
import type { PayloadOf } from "../events/event.ts";
import { toUsd } from "../events/payload-spelling.ts";
import type { Session } from "../session/session.ts";
import type { ReportedUsage } from "../wire/reply.ts";
import type { PreparedCall } from "./prepare-call.ts";
import { asksForMarkers } from "../cache/policy.ts";

export type Miss = PayloadOf<"cache.miss">;

/** What a request held besides its prompt. Another program may have encoded it, or a configured provider added to it. */
export interface SentBesides {
  /** The beta features in its headers. */
  readonly betas: readonly string[];
  /** Absent if the call's options say it. */
  readonly settings?: CallTraits["settings"];
  readonly keepsThinking?: boolean;
  /** The reply that the provider was asked to compare it with; null for none yet. Absent if it was not asked. */
  readonly comparesWith?: string | null;
}

type SentParts = Pick<PreparedCall, "assembly" | "plan"> & { readonly besides?: SentBesides };

/** What a call sent, as the diagnosis compares it. Reads the settings again only if the options changed. */
export function toSentPrompt(
  { lastCall, model, protocol, options, thread }: Session,
  { assembly, plan, besides }: SentParts,
  host: string | null,
): SentPrompt {
  const { foundation } = thread;
  const sent = lastCall?.sent ?? null;
  const isSame = sent?.options === options && sent.prompt.model === model;
  const { settings, keepsThinking = false } = besides ?? {};
  const traits =
    settings !== undefined
      ? { settings: withoutPlanned(settings, plan), keepsThinking }
      : isSame
        ? sent.prompt.traits
        : readTraits({ protocol, model, options, foundation, plan });
  const betas = besides?.betas ?? options.betas ?? [];
  const unslotted = plan.dropped.reduce<number | null>(
    (last, { reason, block }) =>
      reason === "over the provider's limit" ? Math.max(last ?? block, block) : last,
    null,
  );
  const all: CallTraits = { ...traits, betas: [...new Set(betas)].toSorted(), host, unslotted };
  return { assembly, plan, model, traits: all };
}

/** The plan has its own cache key; only another one is a setting of the caller. */
function withoutPlanned(
  settings: CallTraits["settings"],
  { cacheKey }: Pick<CachePlan, "cacheKey">,
): CallTraits["settings"] {
  const { "cache key": key, ...rest } = settings;
  return key === undefined || key === cacheKey ? rest : settings;
}

/** Null if nothing was lost that is worth a report. Compares whole prompts only if something was. */
export function diagnoseCall(
  session: Session,
  now: SentPrompt,
  { usage, isReported, reportsCache }: ReportedUsage,
  { plan, startMs }: Pick<PreparedCall, "plan"> & { readonly startMs: number },
): OwnExplanation | null {
  const { lostPrefix, lastCall, model } = session;
  if (isReported && lostPrefix !== undefined)
    return explainLostPrefix(lostPrefix, usage, model, startMs);
  const { stored } = plan;
  if (stored !== undefined) {
    return isReported && reportsCache ? explainLostPrefix(stored, usage, model, startMs) : null;
  }
  // A stored prefix that was given up on purpose is not missed, and behind it the provider may keep nothing.
  if (lastCall?.sent?.prompt.plan.stored !== undefined) return null;
  // Where no caching is asked for, nothing is missed.
  if (!isReported || !reportsCache || !asksForMarkers(session.policy.markers)) return null;
  const most = Math.max(plan.expected.readTokens, sentTokens(session, now));
  if (most - usage.cacheReadTokens < lostTokensMin) return null;
  const { keepsThinking, betas } = now.traits;
  // Where nothing is stored of the call before, its beta features are taken for the same.
  const traits = session.lastCall?.traits ?? { ...plainTraits, betas };
  const traitsBefore = { ...traits, keepsThinking };
  const isCompacted = isCompactedSince(session);
  return explainOwnCall({
    // A compaction gave up the prompt before: only what is left of it can be missed.
    before: isCompacted ? null : callBefore(session, { ...now, traits: traitsBefore }),
    isCompacted,
    traitsBefore,
    now,
    state: session.cache,
    usage,
    startMs,
  });
}

/** Null if it was read, or is too short to report. */
function explainLostPrefix(
  { tokens }: PlannedPrefix,
  usage: Usage,
  model: ModelFacts,
  startMs: number,
): OwnExplanation | null {
  const reported = usage.cacheReadTokens;
  const lostTokens = Math.min(tokens - reported, usage.uncachedTokens);
  if (lostTokens < lostTokensMin) return null;
  const cause = "stored prefix gone" as const;
  const about = { gapMs: 0, minimumTokens: null, isBestEffort: false, section: null, detail: null };
  return {
    expectedReadTokens: tokens,
    reportedReadTokens: reported,
    cause,
    detail: null,
    block: null,
    lostTokens,
    lostPicoUsd: priceOfSending(lostTokens, usage, model, startMs),
    advice: adviseOn(cause, about),
    detectedBy: ["expected more"],
    tier: null,
    beforeHash: null,
    afterHash: null,
  };
}

/** What sending the tokens cost beyond reading them; null without a price. */
function priceOfSending(
  tokens: number,
  usage: Usage,
  model: ModelFacts,
  startMs: number,
): bigint | null {
  const paid = findTotal(usage, model, { at: startMs });
  const read = {
    ...usage,
    uncachedTokens: usage.uncachedTokens - tokens,
    cacheReadTokens: usage.cacheReadTokens + tokens,
  };
  const couldBe = findTotal(read, model, { at: startMs });
  return paid === null || couldBe === null ? null : paid - couldBe;
}

/** What the call before sent that this one may have sent again. */
function sentTokens({ lastCall, cache }: Session, { assembly }: SentPrompt): number {
  const { measured } = lastCall?.sent?.state ?? cache;
  const unslotted = lastCall?.traits.unslotted ?? -1;
  const unkept = unslotted < 0 ? 0 : (assembly.sealed.at(unslotted)?.endTokens ?? 0);
  return Math.max(measured?.tokens ?? 0, unkept);
}

/** Whether the history was compacted after the last call. */
function isCompactedSince({ lastCall, compactionState }: Session): boolean {
  const { folds, callsSinceFold } = compactionState;
  const before = lastCall?.sent?.compactions;
  return before === undefined ? folds > 0 && callsSinceFold === 0 : before !== folds;
}

function callBefore(session: Session, now: SentPrompt): OwnCallBefore | null {
  const { lastCall } = session;
  const sent = lastCall?.sent ?? null;
  const before = sent === null ? rebuildBefore(session, now) : { ...sent, length: Infinity };
  return before && { ...before, readableMs: lastCall?.endMs ?? 0 };
}

/** The last prompt of another process, from the thread and what was stored with it. Its markers no longer matter. Null if that is not enough. */
function rebuildBefore(
  session: Session,
  { plan, traits }: SentPrompt,
): Omit<OwnCallBefore, "readableMs"> | null {
  const { thread, policy, model, lastVolatile, cache, otherModels } = session;
  const parts = { thread, current: [], volatile: lastVolatile, layout: policy.layout };
  const assembly = assemble({ ...parts, model });
  const [other] = otherModels;
  if (other !== undefined && (other.cache.lastStartMs ?? 0) > (cache.lastStartMs ?? 0)) {
    const prompt = { assembly, plan, model: { ...model, id: other.model }, traits };
    const block = assembly.tailBlock;
    return { prompt, state: leftBehind(other.cache, assembly, block), length: block + 1 };
  }
  const { lastTail } = cache;
  if (lastTail === null || assembly.sealed.at(lastTail.block)?.key !== lastTail.key) return null;
  const prompt = { assembly, plan, model, traits };
  return { prompt, state: cache, length: lastTail.block + 1 };
}

/** The other model had cached the conversation, in its own spelling. */
function leftBehind(cache: CacheState, { sealed }: Assembly, block: number): CacheState {
  const at = cache.lastStartMs ?? 0;
  const key = sealed.at(block)?.key ?? "";
  const times = { keptMs: 0, writtenMs: at, touchedMs: at };
  const entry = { key, block, lifetime: null, tokens: null, ...times };
  return { ...cache, entries: [entry], measured: null };
}

/** The event: places, hashes and counts, no text of the prompt. */
export function toMiss(found: OwnExplanation): Miss {
  const { block } = found;
  return {
    cause: found.cause,
    detail: found.detail,
    expected_read_tokens: found.expectedReadTokens,
    reported_read_tokens: found.reportedReadTokens,
    lost_tokens: found.lostTokens,
    lost_cost_usd: toUsd(found.lostPicoUsd),
    block_tier: found.tier,
    block_label: block?.section ?? null,
    block_index: block === null ? null : Number(block.path),
    block_byte_offset: block?.byteOffset ?? null,
    block_before_hash: found.beforeHash,
    block_after_hash: found.afterHash,
  };
}
