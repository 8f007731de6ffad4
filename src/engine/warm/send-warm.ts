// Sends a request that only keeps or writes a session's cache, and records it: one call without a turn, one event.
import { randomUUID } from "node:crypto";
import { assert } from "../../core/assert.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Session } from "../../core/session/session.ts";
import type { SpendingGuard } from "../../core/session/spending-cap.ts";
import { toStateText } from "../../core/session/session-state.ts";
import { settleWarm, type SettledWarmCall, type WarmCall } from "../../core/turn/settle-warm.ts";
import type { CallToEncode } from "../../core/wire/protocol.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import { createTurnEmitter, type Emitter, type TurnEmitter } from "../events/turn-emitter.ts";
import { refuseOverCap } from "../session/spending.ts";

export interface WarmRequest
  extends
    Pick<WarmCall, "purpose" | "blocks" | "plan" | "before">,
    Pick<CallToEncode, "assembly" | "options"> {}

export interface WarmDeps {
  readonly provider: Pick<Provider, "send">;
  readonly ledger: Ledger;
  readonly events?: Emitter;
  readonly now: () => number;
  /** Whether the call may be sent within the spending caps; none by default. */
  readonly spending?: SpendingGuard;
  readonly signal?: AbortSignal;
}

export type WarmOutcome =
  | ({ readonly isSent: true } & SettledWarmCall)
  /** It might have passed a spending cap; `reason` is a sentence for people. */
  | { readonly isSent: false; readonly reason: string };

export async function sendWarm(
  session: Session,
  request: WarmRequest,
  deps: WarmDeps,
): Promise<WarmOutcome> {
  const { spending: guard, events, now } = deps;
  const about = { sessionId: session.id, turnId: null, chain: { current: null } };
  const emitter = createTurnEmitter(events, about);
  try {
    // It has no reply.
    const call = { plan: request.plan, outputTokensMax: 0, nowMs: now() };
    const refusal = guard ? await refuseOverCap(session, call, { guard, emitter }) : null;
    if (refusal !== null) return { isSent: false, reason: refusal.detail };
    return { isSent: true, ...(await sendAndRecord(session, request, deps, emitter)) };
  } finally {
    guard?.settle();
  }
}

/** The record and the state are one commit: after a crash the ledger has both or neither. */
async function sendAndRecord(
  session: Session,
  { purpose, blocks, plan, before, assembly, options }: WarmRequest,
  { provider, ledger, now, signal }: WarmDeps,
  emitter: TurnEmitter,
): Promise<SettledWarmCall> {
  const { model, protocol, headTurnId } = session;
  assert(protocol.prewarm !== undefined, `${protocol.name} cannot cache without a reply`);
  const startMs = now();
  const request = protocol.prewarm.encode({ assembly, plan, model, options });
  const sent = await provider.send({ request, stream: false, ...(signal && { signal }) });
  const made = { purpose, blocks, plan, before, request, sent, startMs, endMs: now() };
  const settled = settleWarm(session, { id: randomUUID(), ...made });
  const event = emitter.prepare(settled.event);
  const state = { json: toStateText(settled.session, headTurnId), headTurnId };
  await ledger.recordCall(settled.call, { state, events: event.events });
  event.deliver();
  return settled;
}
