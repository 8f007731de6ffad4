// The events of a call that the gateway saw, recorded with it.
import { checkEvent } from "../../../../core/events/check-event.ts";
import { completeEvent, type EventDraft, type StrataEvent } from "../../../../core/events/event.ts";
import { toUsd } from "../../../../core/events/payload-spelling.ts";
import { salvageEvent } from "../../../../core/events/salvage-event.ts";
import { withoutText } from "../../../../core/ledger/gateway-text.ts";
import type { GatewayCall } from "../../../../core/ledger/gateway-call.ts";
import { generatedTokens, writtenTokens } from "../../../../core/message/usage.ts";
import type { Store } from "../store.ts";
import { modelOf } from "./gateway-rows.ts";

/** Its time is that of the call, not of the batch. Names that clients chose may be no names: they are kept as text. */
export function eventsOf(
  { newMessageId }: Pick<Store, "newMessageId">,
  call: GatewayCall,
): readonly StrataEvent[] {
  const timestampUs = call.endMs * 1000;
  return draftsOf(call).map((draft) => {
    const event = completeEvent(draft, { id: newMessageId(), timestampUs });
    const violations = checkEvent(event);
    return violations.length === 0 ? event : salvageEvent(event, violations);
  });
}

function draftsOf(call: GatewayCall): readonly EventDraft[] {
  const miss = toMiss(call);
  return miss === null ? [toSeen(call)] : [toSeen(call), miss];
}

function toSeen(call: GatewayCall): EventDraft {
  const { conversation, usage, reportsCache, startMs, firstByteMs } = call;
  return {
    type: "gateway.call",
    sessionId: conversation.id,
    payload: {
      call_id: call.id,
      conversation_kind: conversation.kind,
      client: conversation.client,
      upstream: call.upstream,
      model: modelOf(call),
      provider: call.provider,
      status: call.status,
      failure: call.failure?.kind ?? null,
      input_tokens: usage?.uncachedTokens ?? null,
      output_tokens: usage && generatedTokens(usage),
      cached_input_tokens: usage && reportsCache ? usage.cacheReadTokens : null,
      cache_creation_input_tokens: usage && reportsCache ? writtenTokens(usage) : null,
      cost_usd: call.costPicoUsd === null ? null : toUsd(call.costPicoUsd),
      latency_ms: Math.max(0, call.endMs - startMs),
      first_byte_ms: firstByteMs === null ? null : Math.max(0, firstByteMs - startMs),
      request_size_bytes: call.requestBytes,
      response_size_bytes: call.responseBytes,
    },
  };
}

/** The same fields as for our own calls, so that one analysis counts both. */
function toMiss(call: GatewayCall): EventDraft | null {
  const { explanation } = call;
  if (explanation === null || explanation.lostTokens === 0) return null;
  const { cause, block, detail, ...found } = withoutText(explanation);
  if (cause === "no miss") return null;
  const after = block === null ? undefined : call.addedBlocks[block.index - call.keptBlocks];
  return {
    type: "cache.miss",
    sessionId: call.conversation.id,
    payload: {
      cause,
      detail,
      expected_read_tokens: found.expectedReadTokens,
      reported_read_tokens: found.reportedReadTokens,
      lost_tokens: found.lostTokens,
      lost_cost_usd: explanation.lostPicoUsd === null ? null : toUsd(explanation.lostPicoUsd),
      block_tier: block?.tier ?? null,
      block_label: block?.section ?? null,
      block_index: block?.index ?? null,
      block_byte_offset: block?.byteOffset ?? null,
      block_before_hash: null,
      block_after_hash: after?.hash ?? null,
      call_id: call.id,
      model: modelOf(call),
    },
  };
}
