// What happens to a session as a whole.

export const sessionEvents = {
  "session.created": {
    when: "a session was opened for the first time",
    actor: "system",
    sensitivity: "private",
    payload: {
      agent: "name?",
      parent_session_id: "name?",
      workspace_path: "path",
      workspace_hash: "hash",
      initial_active_model: "name",
      routing_policy_version: "name",
    },
  },
  "session.resumed": {
    when: "a session was opened again, here or on another node",
    actor: "system",
    sensitivity: "pseudonymous",
    payload: { workspace_hash: "hash", last_event_id_at_resume: "event id or null" },
  },
  "session.ended": {
    when: "a session was closed",
    actor: "system",
    sensitivity: "aggregatable",
    payload: {
      disposition: ["completed", "abandoned", "error"],
      turn_count: "count",
      total_cost_usd: "usd or null",
      duration_seconds: "seconds",
    },
  },
  "queue.dropped": {
    when: "a message that waited for a session was dropped without a turn",
    actor: "system",
    sensitivity: "pseudonymous",
    payload: {
      item_id: "name",
      status: ["dropped", "summarized"],
      cause: ["queue_full", "withdrawn", "unreadable"],
    },
  },
  "session.forked": {
    when: "a new session was forked from a turn of another one",
    actor: "user",
    sensitivity: "pseudonymous",
    audit: true,
    payload: { from_session_id: "name", from_turn_id: "name or null" },
  },
  "session.archived": {
    when: "a session was archived and is no longer listed",
    actor: "user",
    sensitivity: "pseudonymous",
    audit: true,
    payload: {
      reason: ["user_request", "retention"],
      turn_count: "count",
      total_cost_usd: "usd or null",
    },
  },
  "session.deleted": {
    when: "a session and its content were removed",
    actor: "user",
    sensitivity: "pseudonymous",
    audit: true,
    payload: {
      reason: ["user_request", "retention"],
      turn_count: "count",
      event_count: "count",
      total_cost_usd: "usd or null",
    },
  },
} as const;
