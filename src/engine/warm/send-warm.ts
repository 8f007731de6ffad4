// Sends a request that only keeps or writes a session's cache, and records it: one call without a turn, one event.
import { randomUUID } from "node:crypto";
import { assert } from "../../core/assert.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Session } from "../../core/session/session.ts";
import { toStateText } from "../../core/session/session-state.ts";
import { settleWarm, type SettledWarmCall, type WarmCall } from "../../core/turn/settle-warm.ts";
import type { CallToEncode } from "../../core/wire/protocol.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import { createTurnEmitter, type Emitter } from "../events/turn-emitter.ts";

export interface WarmRequest
  extends
    Pick<WarmCall, "purpose" | "blocks" | "plan" | "before">,
    Pick<CallToEncode, "assembly" | "options"> {}

export interface WarmDeps {
  readonly provider: Pick<Provider, "send">;
  readonly ledger: Ledger;
  readonly events?: Emitter;
  readonly now: () => number;
  readonly signal?: AbortSignal;
}

/** The record and the state are one commit: after a crash the ledger has both or neither. */
export async function sendWarm(
  session: Session,
  { purpose, blocks, plan, before, assembly, options }: WarmRequest,
  { provider, ledger, events, now, signal }: WarmDeps,
): Promise<SettledWarmCall> {
  const { model, protocol, id: sessionId, headTurnId } = session;
  assert(protocol.prewarm !== undefined, `${protocol.name} cannot cache without a reply`);
  const startMs = now();
  const request = protocol.prewarm.encode({ assembly, plan, model, options });
  const sent = await provider.send({ request, stream: false, ...(signal && { signal }) });
  const made = { purpose, blocks, plan, before, request, sent, startMs, endMs: now() };
  const settled = settleWarm(session, { id: randomUUID(), ...made });
  const about = { sessionId, turnId: null, chain: { current: null } };
  const event = createTurnEmitter(events, about).prepare(settled.event);
  const state = { json: toStateText(settled.session, headTurnId), headTurnId };
  await ledger.recordCall(settled.call, { state, events: event.events });
  event.deliver();
  return settled;
}
