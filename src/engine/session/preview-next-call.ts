// Previews the next call of a session without new messages: its size, its price, and what the provider still has cached.
import { pricePrompt, type PromptPrice } from "../../core/compaction/plan/weigh-compaction.ts";
import { settingsOf } from "../../core/session/compaction-rules.ts";
import { limitsOf } from "../../core/turn/compaction/decide.ts";
import { compactionOf, type EngineConfig } from "./engine-config.ts";
import { prepareCall } from "../../core/turn/prepare-call.ts";
import type { Session } from "../../core/session/session.ts";

export interface CallPreview {
  readonly promptTokens: number;
  /** The part that the cache should serve. */
  readonly cachedTokens: number;
  /** Room for prompts in the model's window. */
  readonly availableTokens: number;
  /** From this size on the history is compacted. */
  readonly limitTokens: number;
  readonly price: PromptPrice | null;
}

export function previewNextCall(
  session: Session,
  nowMs: number,
  config: Pick<EngineConfig, "compaction" | "reserves"> = {},
): CallPreview {
  const { model, lastVolatile: volatile } = session;
  const prepared = prepareCall({ session, current: [], volatile, startMs: nowMs });
  const { promptTokens, plan } = prepared;
  const compaction = compactionOf(config);
  const limits = limitsOf({ session, prepared, compaction });
  const { availableTokens, guardTokens, thresholdTokens } = limits;
  const isCompacting = settingsOf(compaction).isEnabled;
  return {
    promptTokens,
    cachedTokens: plan.expected.readTokens,
    availableTokens,
    limitTokens: isCompacting ? Math.min(guardTokens, thresholdTokens) : guardTokens,
    price: pricePrompt(model, nowMs, promptTokens),
  };
}
