// Turns, tools, memory, skills and compactions as metrics.
import type { EventOf, PayloadOf } from "../../core/events/event.ts";
import type { CountContext } from "./count-context.ts";

type TurnEnd = EventOf<
  "turn.completed" | "turn.failed" | "turn.cancelled" | "turn.interrupted" | "turn.abandoned"
>;

export function countTurnEnd(event: TurnEnd, context: CountContext): void {
  const agent = context.agentOf(event);
  const outcome = event.type.replace("turn.", "");
  context.add("agent_turns_total", { agent, outcome });
  if (event.type !== "turn.completed" && event.type !== "turn.failed") return;
  context.note("agent_turn_duration_seconds", { agent }, event.payload.wall_time_seconds);
}

export function countToolNamed(
  event: EventOf<"tool.called" | "tool.confirmation_requested">,
  { tools }: CountContext,
): void {
  tools.begin(keyOf(event), event.payload.tool_name);
}

/** A use refused before its tool was called counts for the tool `unknown`: its event does not name the tool. */
export function countToolEnd(
  event: EventOf<"tool.completed" | "tool.failed">,
  context: CountContext,
): void {
  const tool = context.labels.tool(context.tools.end(keyOf(event)));
  const outcome = event.type === "tool.failed" ? event.payload.error_class : successOf(event);
  context.add("agent_tool_calls_total", { agent: context.agentOf(event), tool, outcome });
  context.note("agent_tool_duration_seconds", { tool }, event.payload.latency_ms / 1000);
}

function successOf({ payload }: EventOf<"tool.completed">): string {
  return payload.success ? "ok" : "unsuccessful";
}

/** Tool use ids are unique only within a session. */
function keyOf({
  sessionId,
  payload,
}: EventOf<
  "tool.called" | "tool.confirmation_requested" | "tool.completed" | "tool.failed"
>): string {
  return `${sessionId}\n${payload.tool_use_id}`;
}

export function countMemory(
  event: EventOf<"memory.updated" | "memory.eviction">,
  context: CountContext,
): void {
  const agent = context.agentOf(event);
  const { file } = event.payload;
  if (event.type === "memory.updated") {
    const { operation } = event.payload;
    context.add("agent_memory_updates_total", { agent, file, operation });
    return;
  }
  const { trigger, entries_evicted: entries } = event.payload;
  context.add("agent_memory_evictions_total", { agent, file, trigger });
  context.add("agent_memory_entries_evicted_total", { agent, file, trigger }, entries);
}

export function countSkill(
  event: EventOf<"skill.loaded" | "skill.search" | "skill.modified">,
  context: CountContext,
): void {
  const agent = context.agentOf(event);
  switch (event.type) {
    case "skill.loaded": {
      const { load_reason: reason, source } = event.payload;
      context.add("agent_skill_loads_total", { agent, reason, source });
      return;
    }
    case "skill.search":
      context.add("agent_skill_searches_total", { agent });
      return;
    case "skill.modified": {
      const { source, operation } = event.payload;
      context.add("agent_skill_changes_total", { agent, source, operation });
    }
  }
}

type CompactionEnd = EventOf<"compaction.completed" | "compaction.failed" | "compaction.skipped">;

/** Observes a duration only if a model was asked for a summary. */
export function countCompaction(event: CompactionEnd, context: CountContext): void {
  const agent = context.agentOf(event);
  const { outcome } = event.payload;
  const trigger = triggerNames[event.payload.trigger];
  context.add("llm_compaction_triggered_total", { agent, outcome, trigger });
  if (event.type === "compaction.skipped") return;
  const { cost_usd: usd, duration_ms: ms } = event.payload;
  const isWritten = event.type === "compaction.completed" && event.payload.model !== null;
  if (outcome === "failed" || (outcome === "ok" && isWritten)) {
    context.note("llm_compaction_duration_seconds", { agent, outcome }, ms / 1000);
  }
  if (usd === null) return;
  if (!context.add("llm_compaction_cost_usd_total", { agent, outcome }, Number(usd))) {
    context.unread(event.type);
  }
}

/** Label values operators know, by our trigger. */
const triggerNames: Readonly<Record<PayloadOf<"compaction.started">["trigger"], string>> = {
  context_limit: "token_pressure",
  periodic: "age",
  overflow_recovery: "overflow_recovery",
  manual: "manual",
};
