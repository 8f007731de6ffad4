// The span of a turn.
import { SpanKind, type Attributes, type Context } from "@opentelemetry/api";
import type { EventOf } from "../../../core/events/event.ts";
import { factsOf, turnKey, type Following } from "./following.ts";
import { general, genAi, strata } from "./gen-ai-names.ts";
import type { EndedTurn } from "./meters.ts";
import { endSpan, toOpenSpan, toTime } from "./open-spans.ts";

/** `around`: the context of the program that ran it. */
export function beginTurn(
  event: EventOf<"turn.started" | "turn.resumed">,
  following: Following,
  around: Context,
): void {
  const { agent } = factsOf(event, following);
  const startMs = event.timestampUs / 1000;
  const parent = following.sessions.find(event.sessionId)?.parent ?? around;
  const labels: Attributes = {
    ...anyAgent,
    ...(agent === null ? {} : { [genAi.agent]: agent }),
  };
  const attributes = {
    ...labels,
    [genAi.conversation]: event.sessionId,
    ...(event.turnId === null ? {} : { [strata.turnId]: event.turnId }),
    ...(event.type === "turn.resumed" ? { [strata.isResumed]: true } : {}),
  };
  const name = agent === null ? "invoke_agent" : `invoke_agent ${agent}`;
  const started = { kind: SpanKind.INTERNAL, startTime: toTime(startMs), attributes };
  const span = following.tracer.startSpan(name, started, parent);
  following.turns.begin(turnKey(event), toOpenSpan(span, { parent, startMs, labels }));
}

const anyAgent: Attributes = { [genAi.operation]: "invoke_agent" };

type Summed = EventOf<"turn.completed" | "turn.failed">;

type Broken = EventOf<"turn.cancelled" | "turn.interrupted" | "turn.abandoned">;

/** `errorType`: null for a turn with an answer. */
export function endTurn(
  event: Summed | Broken,
  errorType: string | null,
  { turns, meters }: Following,
): void {
  const open = turns.take(turnKey(event));
  if (event.type === "turn.completed" || event.type === "turn.failed") {
    const failed = errorType === null ? {} : { [general.errorType]: errorType };
    meters.countTurn(toCounts(event), { ...(open?.labels ?? anyAgent), ...failed });
    open?.span.setAttributes(toSums(event));
  }
  if (open !== undefined) endSpan(open.span, event.timestampUs / 1000, errorType);
}

function toCounts({ payload }: Summed): EndedTurn {
  const { wall_time_seconds: seconds, llm_call_count, tool_call_count } = payload;
  return { seconds, callCount: llm_call_count, toolCount: tool_call_count };
}

/** Under names of our own: what sums up a trace would count tokens and dollars of the calls twice. */
function toSums({ payload }: Summed): Attributes {
  const { total_input_tokens: input, total_output_tokens: output, total_cost_usd: usd } = payload;
  return {
    [strata.turnCalls]: payload.llm_call_count,
    [strata.turnTools]: payload.tool_call_count,
    [strata.turnInputTokens]: input,
    [strata.turnOutputTokens]: output,
    ...(usd === null ? {} : { [strata.turnUsd]: Number(usd) }),
  };
}
