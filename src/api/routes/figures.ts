// The rows of each analysis by the kind of each figure. docs/analytics.md says what they mean.
import type { AnalysisName } from "../../analytics/analysis-names.ts";
import { analyses } from "../../analytics/analyses.ts";
import {
  count,
  flag,
  list,
  moment,
  named,
  number,
  object,
  orNull,
  text,
  usd,
  type Schema,
} from "./schema.ts";

const kinds = {
  count: count("whole number"),
  countOrNull: orNull(count("whole number; null if unknown")),
  share: orNull(number("a share; null if the whole is 0")),
  shareOf: number("a share, 0 to 1"),
  ms: number("milliseconds"),
  msOrNull: orNull(number("milliseconds; null if there is nothing to measure")),
  usd: usd("dollars"),
  usdOrNull: orNull(usd("dollars; null if nothing was billed or the price is unknown")),
  text: text("a name"),
  textOrNull: orNull(text("a name; null if there is none")),
  flag: flag("whether it is so"),
  moment: moment("in UTC"),
  momentOrNull: orNull(moment("in UTC; null if it did not happen")),
  counts: named(count("how often"), "how often, by name"),
} as const satisfies Readonly<Record<string, Schema>>;

/** Names of members by kind, with blanks between them. */
type Row = Readonly<Partial<Record<keyof typeof kinds, string>>>;

const tokens = "uncached_input_tokens cached_input_tokens cache_creation_tokens output_tokens";

const rows: Readonly<Record<AnalysisName, Row>> = {
  cache_effectiveness: {
    count: "uncached_input_tokens cached_input_tokens cache_creation_tokens call_count",
    countOrNull: "distinct_tokens",
    share: "hit_rate cache_write_share coverage rewrite_factor",
  },
  cost: {
    count: `call_count ${tokens} warm_call_count summary_count summary_input_tokens summary_output_tokens unpriced_call_count`,
    share: "hit_rate",
    usd: "cost_usd failed_cost_usd summary_cost_usd warm_cost_usd",
  },
  savings: { count: "call_count" },
  sessions: {
    count: `${tokens} turn_count call_count unpriced_call_count`,
    share: "hit_rate",
    usd: "cost_usd summary_cost_usd warm_cost_usd",
    textOrNull: "session agent role model parent_session status",
    momentOrNull: "first_call_at last_call_at",
  },
  turns: {
    count: `${tokens} call_count tool_use_count unpriced_call_count`,
    share: "hit_rate",
    usd: "cost_usd",
    text: "turn type status model provider",
    textOrNull: "session end_reason",
    flag: "in_flight",
    moment: "started_at",
    momentOrNull: "completed_at",
    msOrNull: "duration_ms",
  },
  reliability: {
    count:
      "call_count failed_call_count partial_call_count turn_count failed_turn_count open_turn_count tool_use_count failed_tool_use_count",
    share: "failure_rate",
    counts: "failures",
    msOrNull: "latency_ms_p50 latency_ms_p95",
  },
  routing: { count: "turn_count switched_turn_count", counts: "decided_by" },
  skills: {
    count: "load_count loaded_tokens session_count search_count preload_count asked_preload_count",
    share: "asked_preload_share",
    counts: "load_reasons",
    momentOrNull: "last_loaded_at",
  },
  misses: {
    count:
      "miss_count session_count expected_read_tokens reported_read_tokens lost_tokens unpriced_miss_count provider_agreed_count provider_differed_count",
    usd: "lost_cost_usd",
    counts: "causes sections",
    text: "costliest_session",
    textOrNull: "costliest_cause costliest_detail costliest_block costliest_turn",
    countOrNull: "costliest_byte",
  },
  compactions: {
    count:
      "compaction_count turns_summarized tokens_before tokens_after summary_tokens input_tokens output_tokens",
    share: "kept_share",
    usd: "cost_usd failed_cost_usd",
    ms: "duration_ms_max",
    msOrNull: "duration_ms_mean",
    counts: "outcomes",
  },
};

/** A row has the name of its group first, unless it is the only one. */
export function figuresOf(name: AnalysisName): Schema {
  const figures = { ...membersOf(rows[name]), ...special(name) };
  const groups = analyses[name].groupBys.filter((group) => group !== "none");
  const labels = groups.map((group) => [group, labelOf(group)] as const);
  const row = object({ ...Object.fromEntries(labels), ...figures });
  const optional = name === "turns" ? ["calls"] : [];
  return { ...row, required: Object.keys(figures).filter((each) => !optional.includes(each)) };
}

function membersOf(row: Row): Readonly<Record<string, Schema>> {
  const members: Record<string, Schema> = {};
  for (const [kind, schema] of Object.entries(kinds)) {
    const names = Object.entries(row).find(([each]) => each === kind)?.[1] ?? "";
    for (const name of names.split(" ")) if (name !== "") members[name] = schema;
  }
  return members;
}

function labelOf(group: string): Schema {
  return group === "is_worker"
    ? orNull(flag("with `group_by=is_worker`; null for deleted sessions"))
    : orNull(text(`with \`group_by=${group}\`; null if there is none`));
}

/** Members that have members of their own. */
function special(name: AnalysisName): Readonly<Record<string, Schema>> {
  if (name === "savings") {
    const arms = orNull(object(membersOf(armsRow), "null where no conversation was optimised"));
    const comparison = object(membersOf(comparisonRow));
    return { no_cache: comparison, baseline: orNull(comparison), arms };
  }
  if (name !== "turns") return {};
  return { calls: list(object(membersOf(callRow)), "with the parameter `turn` only") };
}

const comparisonRow: Row = {
  textOrNull: "model pricing_version",
  usd: "cost_usd actual_cost_usd saved_usd",
  share: "saved_share",
  count: "compared_call_count unpriced_call_count",
  flag: "is_partial",
};

const armsRow: Row = {
  count:
    "strata_conversation_count holdout_conversation_count strata_call_count holdout_call_count marked_call_count compared_call_count unpriced_call_count",
  usd: "strata_cost_usd holdout_cost_usd client_cost_usd compared_cost_usd saved_usd",
  usdOrNull:
    "strata_cost_per_conversation_usd holdout_cost_per_conversation_usd strata_cost_per_call_usd holdout_cost_per_call_usd",
  share: "strata_cost_share holdout_cost_share saved_share saved_share_low saved_share_high",
  shareOf: "confidence",
  textOrNull: "claim reason",
};

const callRow: Row = {
  count: `number discarded_count ${tokens}`,
  text: "status model policy",
  textOrNull: "stop_reason failure",
  moment: "started_at",
  ms: "latency_ms",
  share: "hit_rate",
  usdOrNull: "cost_usd",
};
