// The spans of what happens in a turn besides its calls: tool uses and compactions.
import { SpanKind, type Attributes } from "@opentelemetry/api";
import type { EventOf } from "../../../core/events/event.ts";
import { parentOf, unknownSession, type Following } from "./following.ts";
import { general, genAi, strata } from "./gen-ai-names.ts";
import { endSpan, toOpenSpan, toTime, type OpenSpan } from "./open-spans.ts";

type ToolEnd = EventOf<"tool.completed" | "tool.failed">;

export function beginTool(event: EventOf<"tool.called">, following: Following): void {
  const open = openTool(event, event.payload.tool_name, event.timestampUs / 1000, following);
  following.tools.begin(useKey(event), open);
  following.uses.begin(event.id, open.context);
}

export function endTool(event: ToolEnd, errorType: string | null, following: Following): void {
  const { tool_name: tool = "unknown", latency_ms: ms } = event.payload;
  const endMs = event.timestampUs / 1000;
  // A use that was refused before it began has no beginning.
  const open = following.tools.take(useKey(event)) ?? openTool(event, tool, endMs - ms, following);
  if (event.type === "tool.completed") {
    open.span.setAttribute(strata.toolOutputBytes, event.payload.output_size_bytes);
  }
  const failed = errorType === null ? {} : { [general.errorType]: errorType };
  following.meters.countTool(ms / 1000, { ...open.labels, ...failed });
  endSpan(open.span, endMs, errorType);
}

function useKey({ sessionId, payload }: EventOf<"tool.called"> | ToolEnd): string {
  return `${sessionId}\n${payload.tool_use_id}`;
}

function openTool(
  event: EventOf<"tool.called"> | ToolEnd,
  tool: string,
  startMs: number,
  following: Following,
): OpenSpan {
  const labels: Attributes = { [genAi.operation]: "execute_tool", [genAi.tool]: tool };
  const attributes: Attributes = {
    ...labels,
    [genAi.toolCall]: event.payload.tool_use_id,
    [genAi.toolType]: "function",
    [genAi.conversation]: event.sessionId,
  };
  const parent = parentOf(event, following);
  const started = { kind: SpanKind.INTERNAL, startTime: toTime(startMs), attributes };
  const span = following.tracer.startSpan(`execute_tool ${tool}`, started, parent);
  return toOpenSpan(span, { parent, startMs, labels });
}

export function beginCompaction(event: EventOf<"compaction.started">, following: Following): void {
  const startMs = event.timestampUs / 1000;
  const { trigger, turns_to_fold: turns, tokens_before: tokens } = event.payload;
  const attributes: Attributes = {
    [genAi.operation]: "compaction",
    [genAi.conversation]: event.sessionId,
    [strata.compactionTrigger]: trigger,
    [strata.compactionTurns]: turns,
    [strata.compactionBefore]: tokens,
  };
  const parent = parentOf(event, following);
  const started = { kind: SpanKind.INTERNAL, startTime: toTime(startMs), attributes };
  const span = following.tracer.startSpan("compaction", started, parent);
  following.compactions.begin(event.sessionId, toOpenSpan(span, { parent, startMs, labels: {} }));
}

export function endCompaction(
  event: EventOf<"compaction.completed" | "compaction.failed">,
  following: Following,
): void {
  const { sessions, compactions } = following;
  const { sessionId, payload } = event;
  const open = compactions.take(sessionId);
  const { cost_usd: usd, outcome } = payload;
  open?.span.setAttributes({
    [strata.compactionOutcome]: outcome,
    ...(usd === null ? {} : { [strata.totalUsd]: Number(usd) }),
  });
  if (event.type === "compaction.completed") {
    open?.span.setAttribute(strata.compactionAfter, event.payload.tokens_after);
    const known = sessions.find(sessionId) ?? unknownSession;
    sessions.begin(sessionId, { ...known, isCompacted: true });
  }
  const errorType = event.type === "compaction.failed" ? event.payload.error_class : null;
  if (open !== undefined) endSpan(open.span, event.timestampUs / 1000, errorType);
}
