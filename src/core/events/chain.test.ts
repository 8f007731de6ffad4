import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extendChain, openChain, parentIn, type Chain } from "./chain.ts";
import { checkTrace } from "../../../harness/check-trace.ts";
import { createEventIds } from "./event-ids.ts";
import { completeEvent, type EventDraft, type StrataEvent } from "./event.ts";

/** A turn's events emitted through its chain, as an engine does. */
function createTurn(): {
  readonly events: StrataEvent[];
  emit(draft: EventDraft, toolUseId?: string): void;
  story(): string[];
} {
  const ids = createEventIds();
  const events: StrataEvent[] = [];
  let chain: Chain | null = null;
  return {
    events,
    emit: (draft, toolUseId) => {
      const parentEventId = chain === null ? null : parentIn(chain, draft.type, toolUseId);
      const id = ids.next(events.length, new Uint8Array(10));
      const event = completeEvent({ ...draft, parentEventId }, { id, timestampUs: 0 });
      chain = chain === null ? openChain(id) : extendChain(chain, event);
      events.push(event);
    },
    // Such as "tool.called ← llm.call_completed".
    story: () =>
      events.map(({ type, parentEventId }) => {
        const parent = events.findIndex(({ id }) => id === parentEventId);
        return `${type} ← ${parent === -1 ? "nothing" : `${parent} ${events[parent]?.type}`}`;
      }),
  };
}

const base = { sessionId: "s", turnId: "t" };
const hash = "0".repeat(64);
const trigger = "context_limit";

const drafts = {
  started: {
    ...base,
    type: "turn.started",
    payload: {
      user_message_hash: hash,
      estimated_input_tokens: 1,
      has_images: false,
      has_tool_calls_in_history: false,
    },
  },
  callStarted: {
    ...base,
    type: "llm.call_started",
    payload: {
      model: "m",
      provider: "p",
      estimated_input_tokens: 1,
      request_id: "r",
      is_worker: false,
    },
  },
  callCompleted: {
    ...base,
    type: "llm.call_completed",
    payload: {
      model: "m",
      provider: "p",
      input_tokens: 1,
      output_tokens: 1,
      cached_input_tokens: 0,
      cache_creation_input_tokens: 0,
      cost_usd: "0.1",
      pricing_version: null,
      latency_ms: 1,
      stop_reason: "tool_use",
      produced_tool_calls: 2,
      produced_thinking_blocks: 0,
    },
  },
  callFailed: {
    ...base,
    type: "llm.call_failed",
    payload: {
      model: "m",
      provider: "p",
      error_class: "network",
      error_message_redacted: "reset",
      retry_count: 2,
      latency_ms: 1,
    },
  },
  miss: {
    ...base,
    type: "cache.miss",
    payload: {
      cause: "model changed",
      detail: null,
      expected_read_tokens: 10,
      reported_read_tokens: 0,
      lost_tokens: 10,
      lost_cost_usd: "0.01",
      block_tier: "T1",
      block_label: "workspace",
      block_index: 0,
      block_byte_offset: null,
      block_before_hash: null,
      block_after_hash: hash,
    },
  },
  updated: {
    ...base,
    type: "memory.updated",
    payload: {
      file: "MEMORY.md",
      operation: "add",
      before_hash: hash,
      after_hash: hash,
      before_size_bytes: 0,
      after_size_bytes: 1,
    },
  },
  evicted: {
    ...base,
    type: "memory.eviction",
    payload: {
      file: "MEMORY.md",
      trigger: "size_cap_exceeded",
      entries_evicted: 0,
      size_before_bytes: 1,
      size_after_bytes: 1,
    },
  },
  compactionStarted: {
    ...base,
    type: "compaction.started",
    payload: { trigger, turns_to_fold: 3, tokens_before: 9, tokens_wanted: 5 },
  },
  compactionFailed: {
    ...base,
    type: "compaction.failed",
    payload: {
      trigger,
      outcome: "failed",
      error_class: "call_failed",
      error_message_redacted: "reset",
      cost_usd: null,
      duration_ms: 1,
    },
  },
  completed: {
    ...base,
    type: "turn.completed",
    payload: {
      stop_reason: "end_turn",
      llm_call_count: 2,
      tool_call_count: 2,
      total_input_tokens: 2,
      total_output_tokens: 2,
      total_cost_usd: "0.2",
      wall_time_seconds: 1,
    },
  },
} as const satisfies Readonly<Record<string, EventDraft>>;

function called(use: string): EventDraft {
  const input = { input_hash: hash, input_size_bytes: 2, side_effects: "read" } as const;
  return {
    ...base,
    type: "tool.called",
    payload: { tool_use_id: use, tool_name: "Read", ...input },
  };
}

function returned(use: string): EventDraft {
  const result = { success: true, output_size_bytes: 1, latency_ms: 1 };
  return { ...base, type: "tool.completed", payload: { tool_use_id: use, ...result } };
}

function resolved(use: string): EventDraft {
  const payload = { tool_use_id: use, decision: "denied", latency_ms: 1 } as const;
  return { ...base, type: "tool.confirmation_resolved", payload };
}

function asked(use: string): EventDraft {
  const payload = { tool_use_id: use, tool_name: "Bash", input_hash: hash } as const;
  return {
    ...base,
    type: "tool.confirmation_requested",
    payload: { ...payload, side_effects: "execute" },
  };
}

function failed(use: string): EventDraft {
  const payload = { tool_use_id: use, error_class: "user_denied", error_message: "no" } as const;
  return { ...base, type: "tool.failed", payload: { ...payload, latency_ms: 1 } };
}

describe("the chain of a turn (D-09)", () => {
  test("goes from the beginning over calls and tools to the next call; the end belongs to the beginning", () => {
    const turn = createTurn();
    turn.emit(drafts.started);
    turn.emit(drafts.callStarted);
    turn.emit(drafts.callCompleted);
    turn.emit(drafts.miss);
    turn.emit(called("a"), "a");
    turn.emit(called("b"), "b");
    turn.emit(drafts.updated, "a");
    turn.emit(drafts.evicted, "a");
    turn.emit(returned("b"), "b");
    turn.emit(returned("a"), "a");
    turn.emit(drafts.callStarted);
    turn.emit(drafts.callCompleted);
    turn.emit(drafts.completed);
    expect(turn.story()).toEqual([
      "turn.started ← nothing",
      "llm.call_started ← 0 turn.started",
      "llm.call_completed ← 1 llm.call_started",
      "cache.miss ← 2 llm.call_completed",
      "tool.called ← 2 llm.call_completed",
      "tool.called ← 2 llm.call_completed",
      "memory.updated ← 4 tool.called",
      "memory.eviction ← 6 memory.updated",
      "tool.completed ← 5 tool.called",
      "tool.completed ← 4 tool.called",
      "llm.call_started ← 9 tool.completed",
      "llm.call_completed ← 10 llm.call_started",
      "turn.completed ← 0 turn.started",
    ]);
    expect(checkTrace(turn.events)).toEqual([]);
  });

  test("goes over a question to the user, and what was denied", () => {
    const turn = createTurn();
    turn.emit(drafts.started);
    turn.emit(drafts.callStarted);
    turn.emit(drafts.callCompleted);
    turn.emit(asked("a"), "a");
    turn.emit(resolved("a"), "a");
    turn.emit(failed("a"), "a");
    turn.emit(drafts.callStarted);
    expect(turn.story().slice(3)).toEqual([
      "tool.confirmation_requested ← 2 llm.call_completed",
      "tool.confirmation_resolved ← 3 tool.confirmation_requested",
      "tool.failed ← 4 tool.confirmation_resolved",
      "llm.call_started ← 5 tool.failed",
    ]);
  });

  test("goes through a compaction with a call of its own, and on from there", () => {
    const turn = createTurn();
    turn.emit(drafts.started);
    turn.emit(drafts.compactionStarted);
    turn.emit(drafts.callStarted);
    turn.emit(drafts.callFailed);
    turn.emit(drafts.compactionFailed);
    turn.emit(drafts.callStarted);
    expect(turn.story().slice(1)).toEqual([
      "compaction.started ← 0 turn.started",
      "llm.call_started ← 1 compaction.started",
      "llm.call_failed ← 2 llm.call_started",
      "compaction.failed ← 1 compaction.started",
      "llm.call_started ← 4 compaction.failed",
    ]);
  });

  test("goes on elsewhere after the last event that is known", () => {
    const chain = openChain("started", "interrupted");
    expect(parentIn(chain, "llm.call_started")).toBe("interrupted");
    expect(parentIn(chain, "turn.completed")).toBe("started");
    expect(parentIn(chain, "tool.completed", "of a lost call")).toBe("interrupted");
  });
});

test("for any events in any order, every parent exists, comes before, and leads to the beginning", () => {
  const any = fc.constantFrom<EventDraft>(
    ...Object.values(drafts).slice(1),
    ...["a", "b"].flatMap((use) => [
      called(use),
      returned(use),
      failed(use),
      asked(use),
      resolved(use),
    ]),
  );
  const use = fc.constantFrom(undefined, "a", "b");
  fc.assert(
    fc.property(fc.array(fc.tuple(any, use), { maxLength: 40 }), (steps) => {
      const turn = createTurn();
      turn.emit(drafts.started);
      for (const [draft, toolUseId] of steps) turn.emit(draft, toolUseId);
      expect(checkTrace(turn.events)).toEqual([]);
      expect(turn.events.slice(1).every(({ parentEventId }) => parentEventId !== null)).toBe(true);
    }),
  );
});
