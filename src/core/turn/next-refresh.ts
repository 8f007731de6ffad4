// The next refresh of a session that waits: the same request as its last call, and whether it pays.
import type { Assembly } from "../assembly/assemble.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import { decideRefresh, type RefreshDecision } from "../cache/keep-warm.ts";
import { findKeptPrefix, type KeptPrefix } from "../cache/kept-prefix.ts";
import { lastCallMs } from "../cache/warm-books.ts";
import type { Session } from "../session/session.ts";
import type { CallToEncode } from "../wire/protocol.ts";

export interface NextRefresh {
  readonly decision: RefreshDecision;
  readonly kept: KeptPrefix;
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  readonly options: CallToEncode["options"];
}

/** Why there is none, as a sentence for people. */
export interface NoRefresh {
  readonly decision: null;
  readonly reason: string;
}

export function nextRefresh(session: Session, nowMs: number): NextRefresh | NoRefresh {
  const { lastCall, model, pace, cache, warm, compactionState, policy } = session;
  const { kind: markers } = policy.markers;
  const sent = lastCall?.sent ?? null;
  const callMs = lastCallMs(warm, cache.lastStartMs);
  if (sent === null || callMs === null) return none("the session has made no call yet");
  const { prompt, options, compactions } = sent;
  const { assembly, plan } = prompt;
  if (compactions !== compactionState.folds) return none("the history was compacted since");
  if (prompt.model.id !== model.id) return none("the model was changed since");
  const obstacle = whyNoPrewarm(session, { assembly, plan, model, options });
  if (obstacle !== null) return none(obstacle);
  const kept = findKeptPrefix(cache, assembly.blocks, nowMs);
  if (kept === null) return none("the provider keeps nothing of the last prompt");
  const lifetimes = plan.markers.map(({ lifetime }) => lifetime);
  const decision = decideRefresh({ model, pace, kept, lifetimes, callMs, books: warm, markers });
  if (decision === null) return none(`${model.id} has no price`);
  return { decision, kept, assembly, plan, options };
}

/** Why a prompt cannot be cached without a reply; null if it can. */
export function whyNoPrewarm(
  { model, protocol }: Pick<Session, "model" | "protocol">,
  call: CallToEncode,
): string | null {
  if (model.cache.prewarm === null) return `${model.id} has no way to cache without a reply`;
  if (protocol.prewarm === undefined) {
    return `${protocol.title} has no way to cache without a reply`;
  }
  const obstacle = protocol.prewarm.findObstacle(call);
  return obstacle === null ? null : `the provider caches only with a reply: calls have ${obstacle}`;
}

function none(reason: string): NoRefresh {
  return { decision: null, reason };
}
