// A call beside the conversation, for a summary. It reads the cache and writes nothing: no later call has its prompt.
import { assemble, keepsVolatile, type Assembly } from "../../core/assembly/assemble.ts";
import type { Thread } from "../../core/assembly/thread.ts";
import { openCacheState } from "../../core/cache/cache-state.ts";
import { openPace } from "../../core/cache/pace.ts";
import { planCache } from "../../core/cache/plan-cache.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Message } from "../../core/message/message.ts";
import type { Session } from "../../core/session/session.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";
import { settleCall, type FinishedCall } from "../../core/turn/settle-call.ts";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { CallToEncode } from "../../core/wire/protocol.ts";
import type { Reply, StreamPart } from "../../core/wire/reply.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import { refuseOverCap, type WatchedSpending } from "../session/spending.ts";
import { asksForMarkers } from "../../core/cache/policy.ts";

export interface CallDeps {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal?: AbortSignal;
  readonly onPart?: (part: StreamPart) => void;
  /** Whether the call may be sent within the spending caps. */
  readonly spending?: WatchedSpending;
}

/** Volatile text is part of the prompt only if it stands before the messages and the thread does not have it already. */
export function assembleSide(
  { policy, model }: Session,
  thread: Thread,
  current: readonly Message[],
  volatile: string | null,
): Assembly {
  const { layout } = policy;
  const isPrefix = layout.volatile === "system-tail" && !keepsVolatile(model, layout.volatile);
  return assemble({ thread, current, volatile: isPrefix ? volatile : null, layout, model });
}

export interface SideCall extends Pick<CallToEncode, "assembly" | "options"> {
  readonly provider: Pick<Provider, "send">;
  readonly encode: (call: CallToEncode) => EncodedRequest;
  /** Whether the request begins like the session's calls. */
  readonly keepsPrefix: boolean;
  readonly purpose?: "compaction";
}

export interface SettledSideCall {
  readonly outcome: Reply | ProviderFailure;
  readonly entry: CallEntry;
  readonly call: SummaryCall;
  /** The session with what the call taught about the cache. */
  readonly after: Session;
}

export async function sendSideCall(
  session: Session,
  { provider, encode, assembly, options, keepsPrefix, purpose }: SideCall,
  { now, signal, onPart, spending }: CallDeps,
): Promise<SettledSideCall> {
  const { model, policy, cache } = session;
  const startMs = now();
  const reads = keepsPrefix && asksForMarkers(policy.markers);
  const plan = planCache({
    blocks: assembly.blocks,
    rules: model,
    markers: reads ? { kind: "least-cost" } : { kind: "rules", rules: [] },
    state: reads ? cache : openCacheState(),
    pace: openPace("one-shot"),
    now: startMs,
  });
  const { outputTokensMax } = options;
  const payment = { plan, outputTokensMax, nowMs: startMs };
  const refusal = spending ? await refuseOverCap(session, payment, spending) : null;
  const send = async (): Promise<Pick<FinishedCall, "request" | "sent">> => {
    const request = encode({ assembly, plan, model, options });
    const how = {
      ...(purpose && { purpose }),
      ...(signal && { signal }),
      ...(onPart && { onPart }),
    };
    return { request, sent: await provider.send({ request, stream: options.stream, ...how }) };
  };
  const { request, sent } = refusal === null ? await send() : notSent(refusal);
  spending?.guard.settle();
  const made = { turnId: "", number: 1, assembly, plan, request, sent, startMs };
  const { entry, session: after } = settleCall(session, { ...made, endMs: now() });
  const { endMs, status, usage, discarded, costPicoUsd, failure } = entry;
  const bill = { model: entry.model, provider: model.provider, usage, discarded, costPicoUsd };
  return {
    outcome: sent.outcome,
    entry,
    call: { startMs: entry.startMs, endMs, status, failure, ...bill },
    after,
  };
}

function notSent(outcome: ProviderFailure): Pick<FinishedCall, "request" | "sent"> {
  return { request: { notes: [] }, sent: { outcome, attempts: [] } };
}
