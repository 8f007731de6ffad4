// What turns, their tool uses and compactions add up to.
import { countOfRows, moneyColumns, sumOf, type Dim, type Fact } from "./fact.ts";

const turnDims: Readonly<Record<string, Dim>> = {
  model: { sql: ["t.model"] },
  provider: { sql: ["t.provider"] },
  day: { sql: ["t.started_ms / 86400000"], isNumber: true },
  hour: { sql: ["t.started_ms / 3600000"], isNumber: true },
};

const turnsInWindow = "t.started_ms >= ? AND t.started_ms < ?";
const isOpen = "t.turn_type = 'normal' AND t.status IN ('pending', 'interrupted')";

const turns: Fact = {
  name: "turns",
  rows: "turns",
  time: "t.started_ms",
  dims: turnDims,
  columns: {
    /** With those of compactions. */
    turn_count: countOfRows,
    total: sumOf("CASE WHEN t.turn_type = 'normal' THEN 1 END"),
    failed: sumOf("CASE WHEN t.turn_type = 'normal' AND t.status = 'failed' THEN 1 END"),
    open: sumOf(`CASE WHEN ${isOpen} THEN 1 END`),
    switched: sumOf("CASE WHEN t.turn_type = 'normal' AND p.model <> t.model THEN 1 END"),
  },
  from: () =>
    `FROM turns t LEFT JOIN turns p ON p.id = t.parent_turn_id AND p.turn_type = 'normal' WHERE ${turnsInWindow}`,
};

const toolUses: Fact = {
  name: "tool_uses",
  rows: "tool_uses",
  time: "t.started_ms",
  dims: turnDims,
  columns: {
    total: countOfRows,
    failed: sumOf("CASE WHEN u.status = 'failed' THEN 1 END"),
  },
  from: () => `FROM turns t JOIN tool_calls u ON u.turn_id = t.id WHERE ${turnsInWindow}`,
};

/** A compaction without a model call has no summary that was paid. */
const isPaid = "(f.cost_pico_usd > 0 OR f.input_tokens > 0)";

const compactions: Fact = {
  name: "compactions",
  rows: "compactions",
  time: "f.compacted_at",
  dims: {
    model: { sql: ["f.model_used"] },
    provider: { sql: ["f.provider"] },
    session: { sql: ["f.session_id"] },
    agent: { sql: ["s.agent"], usesSession: true },
    parent_session: { sql: ["s.parent_session_id"], usesSession: true },
    is_worker: {
      sql: ["CASE WHEN s.role IS NULL THEN NULL WHEN s.role = 'worker' THEN 'yes' ELSE 'no' END"],
      usesSession: true,
    },
    // They are ours: they pass through no gateway.
    gateway_key: { sql: ["CAST(NULL AS TEXT)"] },
    user: { sql: ["CAST(NULL AS TEXT)"] },
    team: { sql: ["CAST(NULL AS TEXT)"] },
    trigger: { sql: ["f.trigger"] },
    kind: { sql: ["f.compaction_type"] },
    day: { sql: ["f.compacted_at / 86400000"], isNumber: true },
    hour: { sql: ["f.compacted_at / 3600000"], isNumber: true },
  },
  columns: {
    compaction_count: countOfRows,
    turns: sumOf("f.turns_summarized"),
    before: sumOf("f.tokens_before"),
    after: sumOf("f.tokens_after"),
    summary: sumOf("f.summary_tokens"),
    input: sumOf("f.input_tokens"),
    output: sumOf("f.output_tokens"),
    duration: sumOf("f.duration_ms"),
    duration_max: { merge: "max", sql: "COALESCE(MAX(f.duration_ms), 0)", value: "f.duration_ms" },
    ...moneyColumns("f.cost_pico_usd", "cost"),
    paid_count: sumOf(`CASE WHEN ${isPaid} THEN 1 END`),
    paid_output: sumOf(`CASE WHEN ${isPaid} THEN f.output_tokens END`),
  },
  from: (usesSession) =>
    `FROM compactions_v1 f${usesSession ? " LEFT JOIN sessions s ON s.id = f.session_id" : ""} WHERE f.compacted_at >= ? AND f.compacted_at < ?`,
};

export const turnFacts: Readonly<Record<"turns" | "toolUses" | "compactions", Fact>> = {
  turns,
  toolUses,
  compactions,
};
