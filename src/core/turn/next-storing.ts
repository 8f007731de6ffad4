// What a session's stored prefix should become after a turn or while the session waits, and the calls that book its cost.
import { assemble, type Assembly } from "../assembly/assemble.ts";
import { noPlan } from "../cache/cache-plan.ts";
import { createRuler } from "../cache/cache-state.ts";
import { asksForMarkers } from "../cache/policy.ts";
import { decideStoring, type StoringDecision } from "../cache/stored-prefix.ts";
import { noUnaskedReads } from "../cache/unasked-reads.ts";
import { lastCallMs } from "../cache/warm-books.ts";
import type { LoneCall } from "../ledger/call-entry.ts";
import { noUsage } from "../message/usage.ts";
import { findTotal } from "../models/cost.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";
import { storageCost } from "../models/stored-rules.ts";
import { whyNoPrefix, type HeldPrefix } from "../session/held-prefix.ts";
import type { Session } from "../session/session.ts";

export interface NextStoring {
  readonly decision: StoringDecision;
  /** What the next call repeats. Null if nothing can be stored. */
  readonly assembly: Assembly | null;
}

export function nextStoring(session: Session, held: HeldPrefix | null, nowMs: number): NextStoring {
  const { thread, policy, model, cache, pace, warm } = session;
  const callMs = lastCallMs(warm, cache.lastStartMs);
  const obstacle = asksForMarkers(policy.markers)
    ? whyNoPrefix(session)
    : `the policy ${policy.name} caches nothing`;
  if (obstacle !== null) return without(held, obstacle);
  if (callMs === null) return without(held, "the session has made no call yet");
  const { layout } = policy;
  const assembly = assemble({ thread, current: [], volatile: null, layout, model });
  const { blocks } = assembly;
  if (held !== null && !beginsWith(session, assembly, held)) {
    return { ...without(held, "the prompt begins differently now"), assembly };
  }
  const ruler = createRuler(blocks, cache.measured);
  const head = thread.foundation.blocks.length;
  // What follows a stored prefix begins a message of its own.
  const isWhole = thread.written.lastRole === "assistant" && thread.written.openRole === null;
  const ends = isWhole && blocks.length > head ? [head, blocks.length] : [head];
  const promptTokens = ruler(blocks.length - 1);
  const decision = decideStoring({
    model,
    pace,
    unasked: cache.unasked ?? noUnaskedReads,
    lastCallMs: callMs,
    nowMs,
    candidates: ends.map((end) => ({ blocks: end, tokens: ruler(end - 1) })),
    promptTokens,
    grownTokens: Math.round((promptTokens - ruler(head - 1)) / Math.max(1, cache.calls)),
    live: held,
  });
  return { decision, assembly };
}

function beginsWith({ modelName }: Session, { blocks }: Assembly, held: HeldPrefix): boolean {
  return held.modelName === modelName && blocks.at(held.blocks - 1)?.key === held.key;
}

function without(held: HeldPrefix | null, reason: string): NextStoring {
  return { decision: { do: held === null ? "none" : "delete", reason }, assembly: null };
}

/** A stored prefix with what booking it takes. */
export interface BookedPrefix {
  /** Our id of the resource. */
  readonly id: string;
  readonly sessionId: string;
  readonly tokens: number;
  readonly createdMs: number;
}

/** The request that made it: billed as its tokens sent once. */
export function toCreationCall(
  { id, sessionId, tokens, createdMs }: BookedPrefix,
  model: ModelFacts,
  { policy, promptKey }: Pick<LoneCall, "policy" | "promptKey">,
): LoneCall {
  const usage = { ...noUsage, uncachedTokens: tokens };
  const costPicoUsd = findTotal(usage, model, { at: createdMs });
  return withMoneyAsText({
    ...bareCall({ id, sessionId }, model),
    policy,
    promptKey,
    startMs: createdMs,
    endMs: createdMs,
    usage,
    costPicoUsd,
  });
}

/** What keeping it cost until its end. Null if the vendor publishes no price. */
export function toStorageCall(
  { id, sessionId, tokens, createdMs }: BookedPrefix,
  model: ModelFacts,
  endMs: number,
): LoneCall | null {
  const rules = model.cache.stored;
  const span = { tokens, fromMs: createdMs, toMs: endMs };
  const costPicoUsd = rules === null ? null : storageCost(span, rules);
  if (costPicoUsd === null) return null;
  return withMoneyAsText({
    ...bareCall({ id: `${id} storage`, sessionId }, model),
    startMs: endMs,
    endMs,
    usage: null,
    costPicoUsd,
  });
}

function bareCall(
  place: Pick<LoneCall, "id" | "sessionId">,
  { id: model, provider }: ModelFacts,
): Omit<LoneCall, "startMs" | "endMs" | "usage" | "costPicoUsd"> {
  return {
    ...place,
    kind: "stored",
    provider,
    model,
    policy: "none",
    promptKey: "",
    plan: noPlan,
    status: "complete",
    stopReason: null,
    discarded: [],
    failure: null,
    verdict: null,
    refuted: [],
    notes: [],
  };
}
