// Calls of our own sessions, as OpenTelemetry describes them.
import type { Attributes } from "@opentelemetry/api";
import type { EventOf, PayloadOf } from "../../../core/events/event.ts";
import { protocols } from "../../../core/wire/protocols.ts";
import { genAi, strata, toProviderName } from "./gen-ai-names.ts";
import type { BilledTokens, Inference, InferenceMiss } from "./inference.ts";

/** What the session's earlier events said. */
export interface SessionFacts {
  readonly agent: string | null;
  readonly isCompacted: boolean;
}

type Ended = EventOf<"llm.call_completed" | "llm.call_failed" | "cache.warmed">;

/** `requestId`: of the call's beginning; null if that was not seen. */
export function fromCompleted(
  event: EventOf<"llm.call_completed">,
  requestId: string | null,
  facts: SessionFacts,
): Inference {
  const { payload } = event;
  const saved = payload.saved_usd ?? null;
  return {
    ...toCall(event, facts),
    usage: toBilled(payload, payload.reasoning_output_tokens ?? null),
    finishReason: payload.stop_reason,
    errorType: null,
    costUsd: payload.cost_usd === null ? null : Number(payload.cost_usd),
    savedUsd: saved === null ? null : Number(saved),
    more: {
      ...toMore(event, requestId, facts),
      ...(payload.cache_policy === undefined ? {} : { [strata.policy]: payload.cache_policy }),
      ...(payload.marker_count === undefined ? {} : { [strata.markers]: payload.marker_count }),
      ...(payload.planned_read_tokens === undefined
        ? {}
        : { [strata.expectedReadTokens]: payload.planned_read_tokens }),
    },
  };
}

export function fromFailed(
  event: EventOf<"llm.call_failed">,
  requestId: string | null,
  facts: SessionFacts,
): Inference {
  const { error_class: errorType, cost_usd: usd } = event.payload;
  return {
    ...toCall(event, facts),
    errorType,
    costUsd: usd === undefined ? null : Number(usd),
    more: toMore(event, requestId, facts),
  };
}

/** A call that only keeps or writes a cache is billed like any other. */
export function fromWarmed(event: EventOf<"cache.warmed">, facts: SessionFacts): Inference {
  const { payload } = event;
  const { outcome, cost_usd: usd, purpose } = payload;
  const isFailed = outcome === "failed";
  return {
    ...toCall(event, facts),
    usage: isFailed ? null : toBilled({ ...payload, output_tokens: 0 }, null),
    errorType: isFailed ? "other" : null,
    costUsd: usd === null ? null : Number(usd),
    more: { ...toMore(event, null, facts), [strata.purpose]: purpose },
  };
}

export function toMissOf({ payload }: EventOf<"cache.miss">): InferenceMiss {
  const { cause, block_label: block, lost_tokens: tokens, lost_cost_usd: usd } = payload;
  return { cause, block, tokens, lostUsd: usd === null ? null : Number(usd) };
}

/** As a call of which nothing more is known. */
function toCall(event: Ended, _facts: SessionFacts): Inference {
  const { model, provider, latency_ms: ms } = event.payload;
  const endMs = event.timestampUs / 1000;
  return {
    operation: operations.get(provider) ?? "chat",
    provider: toProviderName(provider),
    requestModel: model,
    conversationId: event.sessionId,
    startMs: endMs - ms,
    endMs,
    firstChunkMs: null,
    usage: null,
    finishReason: null,
    errorType: null,
    responseId: null,
    server: null,
    costUsd: null,
    savedUsd: null,
    miss: null,
    more: {},
  };
}

const operations: ReadonlyMap<string, Inference["operation"]> = new Map(
  protocols.flatMap(({ access, operation }) =>
    access.vendor === null || operation === undefined ? [] : [[access.vendor.name, operation]],
  ),
);

function toMore(event: Ended, requestId: string | null, facts: SessionFacts): Attributes {
  return {
    [strata.mode]: "engine",
    ...(requestId === null ? {} : { [strata.callId]: requestId }),
    ...(event.turnId === null ? {} : { [strata.turnId]: event.turnId }),
    ...(facts.agent === null ? {} : { [genAi.agent]: facts.agent }),
    ...(facts.isCompacted ? { [genAi.isCompacted]: true } : {}),
  };
}

type Counts = Pick<
  PayloadOf<"llm.call_completed">,
  "input_tokens" | "output_tokens" | "cached_input_tokens" | "cache_creation_input_tokens"
>;

function toBilled(counts: Counts, reasoning: number | null): BilledTokens {
  const { input_tokens: uncached, output_tokens: output } = counts;
  const { cached_input_tokens: read, cache_creation_input_tokens: written } = counts;
  return {
    input: uncached + read + written,
    output,
    cacheRead: read,
    cacheWrite: written,
    reasoning,
    write5m: null,
    write1h: null,
  };
}
