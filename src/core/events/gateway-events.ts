// What the gateway saw of other programs' calls, and what it could not record.

export const gatewayEvents = {
  "gateway.call": {
    when: "a call of another program passed through the gateway",
    actor: "agent",
    sensitivity: "pseudonymous",
    payload: {
      call_id: "name",
      conversation_kind: ["conversation", "sub-agent", "title", "summary", "single"],
      client: "name",
      upstream: "name",
      model: "name",
      provider: "name",
      status: ["complete", "partial", "failed"],
      failure: "name or null",
      input_tokens: "count or null",
      output_tokens: "count or null",
      cached_input_tokens: "count or null",
      cache_creation_input_tokens: "count or null",
      cost_usd: "usd or null",
      latency_ms: "ms",
      first_byte_ms: "ms or null",
      request_size_bytes: "count",
      response_size_bytes: "count",
    },
  },
  "gateway.compacted": {
    when: "a program said that it shortened its conversation",
    actor: "agent",
    sensitivity: "pseudonymous",
    payload: {
      client: "name",
      trigger: ["manual", "auto"],
      summary_size_bytes: "count",
    },
  },
  "gateway.calls_lost": {
    when: "the gateway could not record calls: traffic went on, the ledger has a gap",
    actor: "system",
    sensitivity: "aggregatable",
    payload: {
      cause: ["queue_full", "store_failed", "not_storable", "killed"],
      lost_call_count: "count or null",
      from: "name",
      until: "name",
      error_message_redacted: "free text or null",
    },
  },
} as const;
