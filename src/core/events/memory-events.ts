// Changes behind the conversation: memory files and compactions.

export const memoryEvents = {
  "memory.updated": {
    when: "a write changed a memory file",
    actor: "agent",
    sensitivity: "private",
    payload: {
      file: ["MEMORY.md", "USER.md"],
      operation: ["add", "replace", "consolidate"],
      before_hash: "hash",
      after_hash: "hash",
      before_size_bytes: "count",
      after_size_bytes: "count",
    },
  },
  "memory.eviction": {
    when: "a memory file is over its soft cap, or entries were removed",
    actor: "system",
    sensitivity: "private",
    audit: true,
    payload: {
      file: ["MEMORY.md", "USER.md"],
      trigger: ["size_cap_exceeded", "manual"],
      entries_evicted: "count",
      size_before_bytes: "count",
      size_after_bytes: "count",
    },
  },
  "memory.unreadable": {
    when: "a memory file cannot be read; the last good text is used in its place",
    actor: "system",
    sensitivity: "private",
    payload: {
      file: ["MEMORY.md", "USER.md", "global USER.md"],
      reason: "free text",
      kept_size_bytes: "count",
    },
  },
  "compaction.started": {
    when: "a compaction holds its lock and begins",
    actor: "system",
    sensitivity: "aggregatable",
    payload: {
      trigger: ["context_limit", "overflow_recovery", "manual", "periodic"],
      turns_to_fold: "count",
      tokens_before: "count",
      tokens_wanted: "count",
    },
  },
  "compaction.completed": {
    when: "the history is shorter; stored in one transaction with the compaction",
    actor: "system",
    sensitivity: "pseudonymous",
    audit: true,
    payload: {
      trigger: ["context_limit", "overflow_recovery", "manual", "periodic"],
      outcome: ["ok", "tool_result_truncated", "tool_result_microcompact"],
      summarized_through_turn_id: "name or null",
      first_kept_turn_id: "name or null",
      turns_summarized: "count",
      tokens_before: "count",
      tokens_after: "count",
      summary_tokens: "count",
      summary_hash: "hash or null",
      model: "name or null",
      provider: "name or null",
      cost_usd: "usd or null",
      duration_ms: "ms",
    },
  },
  "compaction.failed": {
    when: "a compaction or its summary failed",
    actor: "system",
    sensitivity: "pseudonymous",
    payload: {
      trigger: ["context_limit", "overflow_recovery", "manual", "periodic"],
      outcome: ["failed"],
      error_class: ["call_failed", "summary_invalid", "lock_lost", "store_failed", "other"],
      error_message_redacted: "free text",
      cost_usd: "usd or null",
      duration_ms: "ms",
    },
  },
  "compaction.skipped": {
    when: "a due compaction did not begin",
    actor: "system",
    sensitivity: "aggregatable",
    payload: {
      trigger: ["context_limit", "overflow_recovery", "manual", "periodic"],
      outcome: ["lock_held", "no_boundary", "memory_left_out", "too_soon", "breaker_open"],
    },
  },
} as const;
