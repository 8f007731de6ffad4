// Whether a call may be sent within the spending caps, and what is said if not. Whole pico-dollars throughout.
import type { CachePlan } from "../cache/cache-plan.ts";
import type { EventBody } from "../events/event.ts";
import { toUsd } from "../events/payload-spelling.ts";
import { findTotal } from "../models/cost.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { formatUsdRounded } from "../models/pico-usd.ts";
import type { ProviderFailure } from "../wire/failure.ts";

/** What a cap is for: a session with its sub-agents, all sessions of an agent, or a day of all agents. */
export const capScopes = ["session", "agent", "day"] as const;

export type CapScope = (typeof capScopes)[number];

export type SpendingCaps = Readonly<Partial<Record<CapScope, bigint>>>;

/** What was spent under each cap so far. */
export type SpentUnder = Readonly<Partial<Record<CapScope, bigint>>>;

/** A call that is about to be sent. */
export interface CallToPay {
  readonly model: ModelFacts;
  readonly plan: Pick<CachePlan, "expected">;
  readonly outputTokensMax: number;
  readonly nowMs: number;
  /** Costs that the ledger does not have yet. */
  readonly unbookedPicoUsd: bigint;
}

/** Asked before every call. */
export interface SpendingGuard {
  /** Null if the call may be sent. It then counts with all that it may cost until `settle`. */
  check(call: CallToPay): Promise<CapReached | null>;
  /** The call is recorded, or it failed. */
  settle(): void;
}

export interface CapReached {
  readonly scope: CapScope;
  readonly capPicoUsd: bigint;
  readonly spentPicoUsd: bigint;
  /** Null if the model has no price. */
  readonly neededPicoUsd: bigint | null;
  readonly model: Pick<ModelFacts, "id" | "provider">;
  /** Whether the call asks for a reply, which could be shorter. */
  readonly hasReply: boolean;
}

/** The expected prompt and the longest reply. Null if the model has no price. */
export function worstCost({ model, plan, outputTokensMax, nowMs }: CallToPay): bigint | null {
  const { readTokens, writeTokens, uncachedTokens } = plan.expected;
  const usage = {
    // Estimates of parts may add up to more than the whole.
    uncachedTokens: Math.max(0, uncachedTokens),
    cacheReadTokens: readTokens,
    cacheWriteTokens: writeTokens,
    outputTokens: outputTokensMax,
    reasoningTokens: 0,
  };
  return findTotal(usage, model, { at: nowMs });
}

/** The first cap that the call may pass; null for none. Without a price no cap can be kept. */
export function findCapReached(
  caps: SpendingCaps,
  spent: SpentUnder,
  call: CallToPay,
): CapReached | null {
  const neededPicoUsd = worstCost(call);
  for (const scope of capScopes) {
    const capPicoUsd = caps[scope];
    if (capPicoUsd === undefined) continue;
    const spentPicoUsd = (spent[scope] ?? 0n) + call.unbookedPicoUsd;
    if (neededPicoUsd !== null && spentPicoUsd + neededPicoUsd <= capPicoUsd) continue;
    const hasReply = call.outputTokensMax > 0;
    return { scope, capPicoUsd, spentPicoUsd, neededPicoUsd, model: call.model, hasReply };
  }
  return null;
}

const whose: Readonly<Record<CapScope, string>> = {
  session: "the session",
  agent: "the agent",
  day: "the day",
};

export function toCapFailure(reached: CapReached): ProviderFailure {
  const { scope, capPicoUsd, spentPicoUsd, neededPicoUsd, model, hasReply } = reached;
  const [cap, spent] = [formatUsdRounded(capPicoUsd, 4), formatUsdRounded(spentPicoUsd, 4)];
  const about = `the spending cap of ${whose[scope]} is ${cap}, and ${spent} is spent`;
  const detail =
    neededPicoUsd === null
      ? `${about}; ${model.id} has no price, so the call was not sent: give it one under models.override, or remove the cap spending.${scope}_usd`
      : `${about}; the next call may cost ${formatUsdRounded(neededPicoUsd, 4)} and was not sent: raise spending.${scope}_usd${hasReply ? ", or allow shorter replies" : ""}`;
  return { kind: "spending-cap", detail };
}

export function toCapEvent(reached: CapReached): EventBody {
  const { scope, capPicoUsd, spentPicoUsd, neededPicoUsd, model } = reached;
  return {
    type: "spending.cap_reached",
    payload: {
      scope,
      cap_usd: toUsd(capPicoUsd),
      spent_usd: toUsd(spentPicoUsd),
      needed_usd: toUsd(neededPicoUsd),
      model: model.id,
      provider: model.provider,
    },
  };
}
