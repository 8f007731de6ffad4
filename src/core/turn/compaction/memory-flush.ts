// The silent turn before a compaction, in which the agent may save to memory what would otherwise be only in the notes.
import { memoryFlushText } from "../../compaction/summary/memory-flush-text.ts";
import type { AgentEvent } from "../../layers/event.ts";
import { isMemoryTool } from "../../memory/memory-tool.ts";
import { settingsOf, type CompactionRules } from "../../session/compaction-rules.ts";
import type { Session } from "../../session/session.ts";
import { prepareCall } from "../prepare-call.ts";
import { decideBySize } from "./decide.ts";

/** It is due this many tokens before the compaction. */
const marginTokens = 4_000;

export const memoryFlushEvent: AgentEvent = {
  source: "strata:memory-flush",
  content: memoryFlushText,
};

/** Once per compaction, and only for an agent that can write to memory. */
export function isMemoryFlushDue(
  session: Session,
  compaction: CompactionRules | undefined,
  nowMs: number,
): boolean {
  const { folds, memoryFlushedAt } = session.compactionState;
  if (!settingsOf(compaction).flushesMemory || memoryFlushedAt === folds) return false;
  const { tools } = session.thread.foundation;
  if (!tools.some((tool) => tool.name === "memory_add" || isMemoryTool(tool))) return false;
  const next = prepareCall({
    session,
    current: [],
    volatile: session.lastVolatile,
    startMs: nowMs,
  });
  const prepared = { ...next, promptTokens: next.promptTokens + marginTokens };
  return decideBySize({ session, prepared, nowMs, compaction }).isDue;
}

/** Said before the turn begins, so that one that fails is not repeated. */
export function withMemoryFlushed(session: Session): Session {
  const { compactionState } = session;
  const memoryFlushedAt = compactionState.folds;
  return { ...session, compactionState: { ...compactionState, memoryFlushedAt } };
}
