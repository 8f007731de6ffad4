// Chooses the markers of a call: the planner's, or the client's own if those are not expected to cost more.
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import type { CacheState } from "../../core/cache/cache-state.ts";
import { createRuler } from "../../core/cache/cache-state.ts";
import { entriesByBlock, expectBill, foundationEnd } from "../../core/cache/expect-bill.ts";
import { learnFromReply } from "../../core/cache/learn-from-reply.ts";
import { chanceWithin, type Pace } from "../../core/cache/pace.ts";
import { planCache, toExpectation } from "../../core/cache/plan-cache.ts";
import { findPolicy } from "../../core/cache/policies.ts";
import { findReadable } from "../../core/cache/prompt-contents.ts";
import type { Usage } from "../../core/message/usage.ts";
import type { CacheRules } from "../../core/models/cache-rules.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { ForeignRequest } from "../../core/wire/foreign/foreign-request.ts";

export interface CallToMark {
  readonly request: ForeignRequest;
  /** As the client sent it: another one if it was repaired. */
  readonly original: ForeignRequest;
  /** What the model accepts on its route. */
  readonly facts: ModelFacts;
  readonly state: CacheState;
  readonly pace: Pace;
  readonly nowMs: number;
  /** Whether other conversations begin with the same tools and system text. */
  readonly hasSiblings: boolean;
  /** Whether it may stay the only call: then only what other conversations read is worth writing. */
  readonly isSingle: boolean;
}

const { markers: leastCost } = findPolicy("adaptive");
const { markers: noMarkers } = findPolicy("none");

/** Null if the client's own markers are not expected to cost more. */
export function chooseMarkers(call: CallToMark): CachePlan | null {
  if (!call.isSingle) return cheaper(planMarkers(call), call);
  const shared = planSharedHead(call);
  return shared === null ? null : cheaper(withinBounds(shared, call), call);
}

/**
 * What a single question would have to write so that others read their common head. Null if the client's own markers are not expected
 * to cost all of them more.
 */
export function planSharedHead(call: CallToMark): CachePlan | null {
  const { hasSiblings, request, facts } = call;
  // What the client marks, and what the provider keeps by itself, may be meant for a later call.
  const asks = request.markers.length > 0 || request.requestMarker !== null;
  if (!hasSiblings || asks || facts.cache.automatic !== null) return null;
  const plan = planMarkers(call);
  const head = foundationEnd(request.blocks);
  const markers = plan.markers.filter(({ block }) => block <= head);
  return cheaper(priced({ ...plan, markers }, call), call);
}

function planMarkers({ request, facts, state, pace, nowMs }: CallToMark): CachePlan {
  const question = { blocks: request.blocks, rules: facts, state, pace, now: nowMs };
  return planCache({ ...question, markers: leastCost });
}

function cheaper(plan: CachePlan | null, call: CallToMark): CachePlan | null {
  if (plan === null) return null;
  return expectedTokens(plan, call) < expectedTokens(planOfClient(call), call) ? plan : null;
}

/** No one pays more than this for what only others read. */
const questionCostMax = 1.03;

/** The longest part of the head that the question may write: each of the following ones reads it and writes some more. */
function withinBounds(plan: CachePlan, call: CallToMark): CachePlan | null {
  const { request, state } = call;
  const { cache } = call.facts;
  const most = tokensOf(planOfClient(call).expected, cache) * questionCostMax;
  const ruler = createRuler(request.blocks, state.measured);
  const fits = ({ expected, markers }: CachePlan): boolean => {
    // What is read is known exactly, and the rest is counted by us: the same measure for both shows their shares.
    const own = expected.hitBlock === null ? 0 : expected.readTokens - ruler(expected.hitBlock);
    const asked = cache.lifetimes.find((each) => each.lifetime === markers.at(-1)?.lifetime);
    const more = (asked?.writeMultiplier ?? 1) - (cache.readMultiplier ?? 1);
    return tokensOf(expected, cache) + own * more <= most;
  };
  if (fits(plan)) return plan;
  const last = plan.markers.at(-1);
  if (last === undefined) return null;
  for (let block = last.block - 1; block >= 0; block -= 1) {
    if (call.request.blocks[block]?.mayCarryMarker !== true) continue;
    const part = priced({ ...plan, markers: [{ ...last, block }] }, call);
    if (fits(part)) return part;
  }
  return null;
}

/** What the client asks for itself, as a plan. */
export function planOfClient(call: CallToMark): CachePlan {
  const { request, facts, state, pace, nowMs } = call;
  const { blocks, markers, requestMarker, mode } = request;
  const takesMode = facts.cache.markers !== null && facts.cache.automatic?.takesMarkerSlot === true;
  const plan = planCache({
    blocks,
    rules: facts,
    markers: noMarkers,
    state,
    pace,
    now: nowMs,
    present: facts.cache.markers === null ? [] : markers,
  });
  return priced({ ...plan, requestMarker, mode: takesMode ? mode : null }, call);
}

function priced(plan: CachePlan, call: CallToMark, promptTokens?: number): CachePlan {
  return { ...plan, expected: billOf(plan, call, call.state, call.nowMs, promptTokens) };
}

function billOf(
  { markers, requestMarker, mode }: CachePlan,
  { request, facts }: Pick<CallToMark, "request" | "facts">,
  state: CacheState,
  now: number,
  promptTokens?: number,
): CachePlan["expected"] {
  const { blocks } = request;
  const bill = expectBill({
    blocks,
    markers,
    requestMarker,
    mode: mode ?? "implicit",
    rules: facts.cache,
    entries: entriesByBlock(findReadable(state, blocks, facts.cache).entries),
    ruler: createRuler(blocks, state.measured),
    nowMs: now,
    ...(promptTokens === undefined ? {} : { promptTokens }),
  });
  return toExpectation(bill, { rules: facts, now });
}

/** The client's plan again, for a prompt of a known length. */
export function billClient(call: CallToMark, promptTokens: number): CachePlan {
  return priced(planOfClient(call), call, promptTokens);
}

/** What this call and the next should cost, in input tokens weighted by price. The next one repeats this prompt. */
function expectedTokens(plan: CachePlan, call: CallToMark): number {
  const { request, facts, state, pace, nowMs, hasSiblings, isSingle } = call;
  const { blocks } = request;
  const { cache } = facts;
  const usage = usageOf(plan);
  const answered = { state, plan, blocks, rules: cache, usage, reportsCache: true };
  const after = learnFromReply({ ...answered, startMs: nowMs }).state;
  const shortMs = (cache.lifetimes[0]?.seconds ?? 0) * 1000;
  const longMs = (cache.lifetimes.at(-1)?.seconds ?? 0) * 1000;
  const again = (gapMs: number): number =>
    tokensOf(billOf(plan, call, after, nowMs + gapMs), cache);
  const soon = isSingle ? 0 : chanceWithin(pace, shortMs);
  const later = isSingle ? 0 : Math.max(0, chanceWithin(pace, longMs) - soon);
  return (
    tokensOf(plan.expected, cache) +
    soon * again(shortMs / 2) +
    (later > 0 ? later * again((shortMs + longMs) / 2) : 0) +
    (hasSiblings ? siblingTokens(after, call, nowMs + shortMs / 2) : 0)
  );
}

/** What tools and system text cost another conversation. */
function siblingTokens(after: CacheState, { request, facts }: CallToMark, atMs: number): number {
  const { blocks } = request;
  const head = foundationEnd(blocks);
  if (head === -1) return 0;
  const ruler = createRuler(blocks, after.measured);
  const kept = after.entries.filter(
    ({ block, key, touchedMs, keptMs }) =>
      block <= head && blocks[block]?.key === key && atMs <= touchedMs + keptMs,
  );
  const read = Math.max(0, ...kept.map(({ block }) => ruler(block)));
  return ruler(head) - read * (1 - (facts.cache.readMultiplier ?? 1));
}

export function usageOf({ expected }: CachePlan): Usage {
  return {
    uncachedTokens: Math.max(0, expected.uncachedTokens),
    cacheReadTokens: expected.readTokens,
    cacheWriteTokens: expected.writeTokens,
    outputTokens: 0,
    reasoningTokens: 0,
  };
}

function tokensOf(bill: CachePlan["expected"], { lifetimes, readMultiplier }: CacheRules): number {
  const written = lifetimes.reduce(
    (sum, { lifetime, writeMultiplier }) =>
      sum + (writeMultiplier ?? 1) * (bill.writeTokens[lifetime] ?? 0),
    0,
  );
  return bill.uncachedTokens + (readMultiplier ?? 1) * bill.readTokens + written;
}
