// A prompt is counted by whoever will bill it, where that can change what happens to it.
import { countsAs } from "../core/cache/cache-state.ts";
import type { EncodedRequest } from "../core/wire/encoded-request.ts";
import type { Counter } from "../edge/counters/counter.ts";
import { settingsOf } from "../core/session/compaction-rules.ts";
import type { Compaction } from "./compaction.ts";
import { limitsOf } from "../core/turn/decide.ts";
import type { PreparedCall } from "../core/turn/prepare-call.ts";
import type { Session } from "../core/session/session.ts";

export type PromptCounter = Pick<Counter, "count" | "noteBill">;

export interface CountEdges {
  readonly counter?: PromptCounter;
  readonly compaction?: Compaction;
  readonly signal?: AbortSignal;
}

/** The same call, with the provider's count in place of the estimate where it was asked for. */
export async function countWhereClose(
  session: Session,
  prepared: PreparedCall,
  encode: (prepared: PreparedCall) => EncodedRequest,
  { counter, compaction, signal }: CountEdges,
): Promise<PreparedCall> {
  if (counter === undefined || !isClose(session, prepared, compaction)) return prepared;
  const { tokens } = await counter.count({
    request: encode(prepared),
    estimatedTokens: prepared.promptTokens,
    labels: labelsOf(session),
    ...(signal === undefined ? {} : { signal }),
  });
  return { ...prepared, promptTokens: tokens, countedTokens: tokens };
}

export function labelsOf({ agent, model }: Session): {
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
} {
  return { agent, provider: model.provider, model: model.id };
}

/** Estimates of what was not billed yet are off by less than this, as a rule. */
const errorShare = 0.2;

/** Whether a limit lies where the prompt may be. What the last reply billed is known; the rest is estimated. */
function isClose(
  session: Session,
  prepared: PreparedCall,
  compaction: Compaction | undefined,
): boolean {
  const { promptTokens, assembly } = prepared;
  const known = countsAs(session.cache.measured, assembly.blocks)?.tokens ?? 0;
  const margin = errorShare * Math.max(0, promptTokens - known);
  const { thresholdTokens, guardTokens } = limitsOf({ session, prepared, compaction });
  const limits = settingsOf(compaction).isEnabled ? [thresholdTokens, guardTokens] : [guardTokens];
  return limits.some((limit) => Math.abs(limit - promptTokens) <= margin);
}
