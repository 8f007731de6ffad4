// What the next call of a session would send if nothing new were said, and what of it the provider still keeps.
import { pricePrompt, type PromptPrice } from "../core/compaction/plan/weigh-fold.ts";
import { planBudget, type Reserves } from "../core/tokens/budget.ts";
import { prepareCall } from "./prepare-call.ts";
import type { Session } from "./session.ts";

export interface Foreseen {
  readonly promptTokens: number;
  /** What of them is expected to be read from the cache. */
  readonly cachedTokens: number;
  /** What the model's window leaves for prompts. */
  readonly availableTokens: number;
  /** Of that prompt; null where the model has no price. */
  readonly price: PromptPrice | null;
}

export function foresee(session: Session, nowMs: number, reserves?: Reserves): Foreseen {
  const { model, toldVolatile: volatile } = session;
  const { promptTokens, plan, assembly } = prepareCall({
    session,
    current: [],
    volatile,
    startMs: nowMs,
  });
  return {
    promptTokens,
    cachedTokens: plan.expected.readTokens,
    availableTokens: planBudget(model, assembly.usedTokens, reserves).availableTokens,
    price: pricePrompt(model, nowMs, promptTokens),
  };
}
