// The next call: what it sends, and the expected tokens and cache reads.
import { assemble, type AssembleParts, type Assembly } from "../assembly/assemble.ts";
import { countsAs } from "../cache/cache-state.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import { paceAt, type Pace } from "../cache/pace.ts";
import { planCache, type PlanQuestion } from "../cache/plan-cache.ts";
import { lastCallMs } from "../cache/warm-books.ts";
import type { Message } from "../message/message.ts";
import { usablePrefix } from "../session/held-prefix.ts";
import type { Session } from "../session/session.ts";
import { estimatePrompt } from "../tokens/learned-sizes.ts";

export interface CallToPrepare {
  readonly session: Session;
  readonly current: readonly Message[];
  /** Sent with this call alone; null for nothing. */
  readonly volatile: string | null;
  readonly startMs: number;
}

export interface PreparedCall {
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  /** Sent with this call alone. */
  readonly volatile: string | null;
  /** The whole prompt, corrected by the usage of earlier replies. */
  readonly promptTokens: number;
  /** The provider's own count before the call; absent if the provider was not asked. */
  readonly countedTokens?: number;
}

export function prepareCall({ session, current, volatile, startMs }: CallToPrepare): PreparedCall {
  const assembly = assemble(toAssemble(session, { current, volatile }));
  const plan = planCache(toPlan(session, assembly, startMs));
  return toPrepared(session, assembly, plan, volatile);
}

export function toAssemble(
  { thread, policy, model }: Session,
  parts: Pick<AssembleParts, "current" | "volatile">,
): AssembleParts {
  return { thread, ...parts, layout: policy.layout, model };
}

export function toPlan(session: Session, { blocks }: Assembly, nowMs: number): PlanQuestion {
  const { model, policy, cache } = session;
  const pace = paceOf(session, nowMs);
  const stored = usablePrefix(session, blocks, nowMs);
  return {
    blocks,
    rules: model,
    markers: policy.markers,
    state: cache,
    pace,
    now: nowMs,
    ...(stored && { stored }),
  };
}

/** With the time since the last call of a turn; refreshes of the cache in between say nothing about the agent. */
export function paceOf({ pace, warm, cache }: Session, nowMs: number): Pace {
  return paceAt(pace, lastCallMs(warm, cache.lastStartMs), nowMs);
}

/** What the last bill covers is exact. The rest is an estimate, corrected by what earlier bills taught. */
export function toPrepared(
  { cache, sizes }: Pick<Session, "cache" | "sizes">,
  assembly: Assembly,
  plan: CachePlan,
  volatile: string | null,
): PreparedCall {
  const { readTokens, writeTokens, uncachedTokens } = plan.expected;
  const written = Object.values(writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  const total = readTokens + written + uncachedTokens;
  const billed = Math.min(total, countsAs(cache.measured, assembly.blocks)?.tokens ?? 0);
  const promptTokens = estimatePrompt(billed, total - billed, sizes);
  return { assembly, plan, volatile, promptTokens };
}
