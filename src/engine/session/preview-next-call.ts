// What the next call of a session would send if nothing new were said, and what of it the provider still keeps.
import { pricePrompt, type PromptPrice } from "../../core/compaction/plan/weigh-compaction.ts";
import { settingsOf } from "../../core/session/compaction-rules.ts";
import { limitsOf } from "../../core/turn/compaction/decide.ts";
import { compactionOf, type EngineConfig } from "./engine-config.ts";
import { prepareCall } from "../../core/turn/prepare-call.ts";
import type { Session } from "../../core/session/session.ts";

export interface CallPreview {
  readonly promptTokens: number;
  /** What of them is expected to be read from the cache. */
  readonly cachedTokens: number;
  /** What the model's window leaves for prompts. */
  readonly availableTokens: number;
  /** From here on its history would be compacted. */
  readonly limitTokens: number;
  /** Of that prompt; null where the model has no price. */
  readonly price: PromptPrice | null;
}

export function previewNextCall(
  session: Session,
  nowMs: number,
  config: Pick<EngineConfig, "compaction" | "reserves"> = {},
): CallPreview {
  const { model, toldVolatile: volatile } = session;
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
