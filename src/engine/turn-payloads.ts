// Calls and turns as events tell of them: counts, classes and dollars, no content.
import type { PayloadOf } from "../core/events/event.ts";
import { toErrorClass, toUsd } from "../core/events/payload-spelling.ts";
import type { CallEntry } from "../core/ledger/call-entry.ts";
import type { Block } from "../core/message/message.ts";
import {
  generatedTokens,
  noUsage,
  promptTokens,
  totalUsage,
  writtenTokens,
} from "../core/message/usage.ts";
import type { TurnEnding } from "../engine.ts";
import type { Session } from "./session.ts";

type About = "model" | "provider";

export function toCompleted(
  entry: CallEntry,
  { model }: Session,
): Omit<PayloadOf<"llm.call_completed">, About> {
  const usage = entry.usage ?? noUsage;
  return {
    input_tokens: usage.uncachedTokens,
    output_tokens: generatedTokens(usage),
    cached_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: writtenTokens(usage),
    cost_usd: toUsd(entry.costPicoUsd),
    pricing_version: model.checkedOn,
    latency_ms: entry.endMs - entry.startMs,
    stop_reason: entry.stopReason ?? "unknown",
    produced_tool_calls: countBlocks(entry, "tool_use"),
    produced_thinking_blocks: countBlocks(entry, "thinking"),
  };
}

function countBlocks({ reply }: CallEntry, type: Block["type"]): number {
  return reply?.content.filter((block) => block.type === type).length ?? 0;
}

export function toFailed(entry: CallEntry): Omit<PayloadOf<"llm.call_failed">, About> {
  const { failure, discarded, startMs, endMs } = entry;
  return {
    error_class: failure === null ? "other" : toErrorClass(failure.kind),
    error_message_redacted: failure?.detail ?? "nothing arrived",
    retry_count: discarded.length,
    latency_ms: endMs - startMs,
  };
}

type TurnSums = Omit<PayloadOf<"turn.completed">, "stop_reason">;

export function toTurnSums(calls: readonly CallEntry[], endMs: number): TurnSums {
  const usage = totalUsage(calls.map((call) => call.usage ?? noUsage));
  const cost = calls.reduce<bigint | null>(
    (sum, { costPicoUsd }) => (sum === null || costPicoUsd === null ? null : sum + costPicoUsd),
    0n,
  );
  const startMs = calls[0]?.startMs ?? endMs;
  return {
    llm_call_count: calls.length,
    tool_call_count: calls.reduce((sum, call) => sum + countBlocks(call, "tool_use"), 0),
    total_input_tokens: promptTokens(usage),
    total_output_tokens: generatedTokens(usage),
    total_cost_usd: toUsd(cost),
    wall_time_seconds: (endMs - startMs) / 1000,
  };
}

export function toCancelled({
  llm_call_count: partial_llm_calls,
  tool_call_count: partial_tool_calls,
}: TurnSums): PayloadOf<"turn.cancelled"> {
  return { reason: "user_cancel", partial_llm_calls, partial_tool_calls };
}

type TurnError = Pick<PayloadOf<"turn.failed">, "error_kind" | "error_message_redacted">;

export function toTurnError(how: TurnEnding, last: CallEntry | undefined): TurnError {
  const failure = last?.failure ?? null;
  return {
    error_kind: failure === null ? "model_error" : errorKinds[toErrorClass(failure.kind)],
    error_message_redacted: failure?.detail ?? how,
  };
}

const errorKinds: Readonly<
  Record<PayloadOf<"llm.call_failed">["error_class"], TurnError["error_kind"]>
> = {
  rate_limit: "rate_limit",
  auth: "auth_failure",
  server_error: "model_error",
  network: "timeout",
  context_overflow: "context_overflow",
  invalid_request: "model_error",
  cancelled: "unknown",
  other: "unknown",
};
