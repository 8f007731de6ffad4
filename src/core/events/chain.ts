// The parent of a turn's next event. A turn's events form a tree with `turn.started` as the root.
import type { EventType } from "./event-catalogue.ts";
import type { StrataEvent } from "./event.ts";

/** The state of a running turn. Extending it leaves the old value unchanged. */
export interface Chain {
  readonly started: string;
  /** The parent of the next call: the start, the last reply, the last tool result or a compaction. */
  readonly latest: string;
  readonly call: string | null;
  readonly reply: string | null;
  /** The last event of each tool use since the last reply, by tool use id. */
  readonly tools: ReadonlyMap<string, string>;
  readonly memory: string | null;
  readonly compaction: string | null;
}

/** For a turn that continues elsewhere, pass the id of its `turn.started` and its last known event. */
export function openChain(startedEventId: string, latestEventId: string = startedEventId): Chain {
  return {
    started: startedEventId,
    latest: latestEventId,
    call: null,
    reply: null,
    tools: new Map(),
    memory: null,
    compaction: null,
  };
}

/** The parent of the next event of a type. Pass the tool use id if the event belongs to one. */
export function parentIn(chain: Chain, type: EventType, toolUseId?: string | null): string {
  const { started, latest, call, reply } = chain;
  const use = toolUseId == null ? undefined : chain.tools.get(toolUseId);
  switch (type) {
    case "llm.call_completed":
    case "llm.call_failed":
      return call ?? latest;
    case "cache.miss":
      return reply ?? latest;
    case "tool.called":
    case "tool.completed":
    case "tool.failed":
    case "tool.input_invalid":
    case "tool.confirmation_requested":
    case "tool.confirmation_resolved":
    case "skill.search":
    case "skill.loaded":
    case "skill.modified":
    case "memory.updated":
      return use ?? reply ?? latest;
    case "memory.eviction":
      return chain.memory ?? use ?? latest;
    case "compaction.completed":
    case "compaction.failed":
      return chain.compaction ?? latest;
    case "llm.call_started":
    case "compaction.started":
    case "compaction.skipped":
    case "spending.cap_reached":
      return latest;
    case "turn.started":
    case "route.decided":
    case "turn.completed":
    case "turn.cancelled":
    case "turn.failed":
    case "turn.interrupted":
    case "turn.resumed":
    case "turn.abandoned":
    case "session.created":
    case "session.resumed":
    case "session.ended":
    case "session.forked":
    case "session.archived":
    case "session.deleted":
    case "queue.dropped":
    case "memory.unreadable":
    case "cache.warmed":
    case "gateway.call":
    case "gateway.calls_lost":
    case "gateway.compacted":
      return started;
  }
}

export function extendChain(chain: Chain, event: StrataEvent): Chain {
  const { id } = event;
  switch (event.type) {
    case "llm.call_started":
      return { ...chain, latest: id, call: id, reply: null, tools: new Map() };
    case "llm.call_completed":
      return { ...chain, latest: id, call: null, reply: id };
    case "llm.call_failed":
      return { ...chain, latest: id, call: null };
    case "tool.called":
    case "tool.confirmation_requested":
    case "tool.confirmation_resolved":
      return { ...chain, tools: withTool(chain, event.payload.tool_use_id, id) };
    case "tool.completed":
    case "tool.failed":
      return { ...chain, latest: id, tools: withTool(chain, event.payload.tool_use_id, id) };
    case "tool.input_invalid":
    case "turn.resumed":
    case "compaction.skipped":
      return { ...chain, latest: id };
    case "compaction.started":
      return { ...chain, latest: id, compaction: id };
    case "compaction.completed":
    case "compaction.failed":
      return { ...chain, latest: id, compaction: null };
    case "memory.updated":
      return { ...chain, memory: id };
    case "route.decided":
    case "turn.started":
    case "turn.completed":
    case "turn.cancelled":
    case "turn.failed":
    case "turn.interrupted":
    case "turn.abandoned":
    case "session.created":
    case "session.resumed":
    case "session.ended":
    case "session.forked":
    case "session.archived":
    case "session.deleted":
    case "queue.dropped":
    case "cache.miss":
    case "cache.warmed":
    case "spending.cap_reached":
    case "skill.search":
    case "skill.loaded":
    case "skill.modified":
    case "memory.eviction":
    case "memory.unreadable":
    case "gateway.call":
    case "gateway.calls_lost":
    case "gateway.compacted":
      return chain;
  }
}

function withTool(chain: Chain, toolUseId: string, eventId: string): ReadonlyMap<string, string> {
  return new Map(chain.tools).set(toolUseId, eventId);
}
