// Writes the part of a session's prompt that its next call repeats, before that call.
import { assemble } from "../../core/assembly/assemble.ts";
import { firstBlocks, planPrewarm } from "../../core/cache/plan-warm.ts";
import type { Lifetime } from "../../core/message/usage.ts";
import { writtenTokens } from "../../core/message/usage.ts";
import type { Message } from "../../core/message/message.ts";
import type { Session } from "../../core/session/session.ts";
import { StrataError } from "../../core/strata-error.ts";
import { whyNoPrewarm } from "../../core/turn/next-refresh.ts";
import { recordSession } from "../session/stored-session.ts";
import { sendWarm, type WarmDeps } from "./send-warm.ts";
import { asksForMarkers } from "../../core/cache/policy.ts";

export interface PrewarmOptions {
  /** How long the provider should keep it; its shortest lifetime by default. */
  readonly lifetime?: Lifetime;
  readonly signal?: AbortSignal;
}

export type Prewarmed =
  | {
      readonly isWarm: true;
      readonly readTokens: number;
      readonly writtenTokens: number;
      /** Null if the price is not known. */
      readonly costPicoUsd: bigint | null;
      /** Milliseconds since 1970. */
      readonly untilMs: number;
    }
  /** Nothing was sent, or the provider did not answer; `reason` is a sentence for people. */
  | { readonly isWarm: false; readonly reason: string; readonly costPicoUsd: bigint | null };

/** A request needs a message. No marker covers this one. */
const placeholder: Message = { role: "user", content: [{ type: "text", text: "." }] };

export async function prewarm(
  given: Session,
  { lifetime }: PrewarmOptions,
  deps: WarmDeps,
): Promise<{ readonly value: Prewarmed; readonly session: Session }> {
  const { thread, policy, model, cache: state, pace, options } = given;
  const { layout } = policy;
  const asked = lifetimeOf(given, lifetime);
  const assembly = assemble({ thread, current: [placeholder], volatile: null, layout, model });
  const length = thread.foundation.blocks.length + thread.blocks.length;
  const blocks = firstBlocks(assembly.blocks, length);
  const plan = planPrewarm({ blocks, rules: model, state, pace, now: deps.now() }, asked);
  const call = { assembly, plan, model, options };
  const reason = cachesNothing(given) ?? whyNoPrewarm(given, call) ?? whyNoMarker(plan);
  if (reason !== null) {
    return { value: { isWarm: false, reason, costPicoUsd: 0n }, session: given };
  }
  const session = await recordSession(given, deps);
  const request = { purpose: "prewarm" as const, before: null, blocks, plan, assembly, options };
  const outcome = await sendWarm(session, request, deps);
  if (!outcome.isSent) {
    return { value: { isWarm: false, reason: outcome.reason, costPicoUsd: 0n }, session };
  }
  const { call: made, session: after, kept } = outcome;
  const { usage, costPicoUsd, failure } = made;
  if (usage === null || kept === null) {
    const why = failure === null ? "the provider kept nothing" : `the provider: ${failure.detail}`;
    return { value: { isWarm: false, reason: why, costPicoUsd }, session: after };
  }
  const tokens = { readTokens: usage.cacheReadTokens, writtenTokens: writtenTokens(usage) };
  const value = { isWarm: true, ...tokens, costPicoUsd, untilMs: kept.expiresMs } as const;
  return { value, session: after };
}

function lifetimeOf({ model }: Session, asked: Lifetime | undefined): Lifetime {
  const offered = model.cache.lifetimes.map(({ lifetime }) => lifetime);
  const [shortest = "5m"] = offered;
  if (asked === undefined || offered.length === 0) return shortest;
  if (offered.includes(asked)) return asked;
  throw new StrataError(
    "input-invalid",
    `${model.id} keeps nothing for ${asked}`,
    `ask for ${offered.join(" or ")}, or leave it out`,
  );
}

function cachesNothing({ policy }: Session): string | null {
  return asksForMarkers(policy.markers) ? null : `the policy ${policy.name} caches nothing`;
}

function whyNoMarker({ markers, dropped }: ReturnType<typeof planPrewarm>): string | null {
  if (markers.length > 0) return null;
  return `nothing can be cached: ${dropped[0]?.reason ?? "there are no tools and no system text"}`;
}
