// Every metric: name, type, labels and help. A test compares this list with docs/metrics.md.
import { driftBucketsPercent } from "../../core/tokens/drift.ts";

const counters = {
  llm_cache_read_tokens_total: {
    labels: ["agent", "provider", "model"],
    help: "Prompt tokens read from the provider's cache.",
  },
  llm_cache_creation_tokens_total: {
    labels: ["agent", "provider", "model"],
    help: "Prompt tokens written to the provider's cache.",
  },
  llm_compaction_triggered_total: {
    labels: ["agent", "outcome", "trigger"],
    help: "Compactions that were due, by outcome and by what made them due.",
  },
  workspace_cache_hits_total: {
    labels: ["path"],
    help: "Requests for a workspace's documents answered from memory.",
  },
  workspace_cache_misses_total: {
    labels: ["path"],
    help: "Requests for a workspace's documents that had to wait for the disk.",
  },
  workspace_cache_invalidations_total: {
    labels: ["path"],
    help: "How often the cached documents of a workspace were dropped.",
  },
  llm_calls_total: {
    labels: ["agent", "provider", "model", "outcome"],
    help: "Finished calls; outcome is completed or the error class.",
  },
  llm_tokens_total: {
    labels: ["agent", "provider", "model", "kind"],
    help: "Billed tokens in disjoint buckets: uncached, cache_read, cache_write, output.",
  },
  llm_tool_uses_total: {
    labels: ["agent", "provider", "model"],
    help: "Tool uses requested by models.",
  },
  llm_usage_refused_total: {
    labels: ["agent", "provider", "model"],
    help: "Replies whose reported usage cannot be true and was not booked.",
  },
  llm_cost_usd_total: {
    labels: ["agent", "provider", "model"],
    help: "Cost of calls in dollars, including failed calls, without summaries.",
  },
  llm_cost_without_cache_usd_total: {
    labels: ["agent", "provider", "model"],
    help: "What the same calls would have cost in dollars at the plain input rate.",
  },
  llm_calls_unpriced_total: {
    labels: ["agent", "provider", "model"],
    help: "Completed calls missing from cost or savings because their price is unknown.",
  },
  llm_cache_misses_total: {
    labels: ["agent", "cause"],
    help: "Replies that read less from cache than they could have.",
  },
  llm_cache_lost_tokens_total: {
    labels: ["agent", "cause"],
    help: "Prompt tokens not read because of misses.",
  },
  llm_cache_lost_usd_total: {
    labels: ["agent", "cause"],
    help: "Cost of misses in dollars, where the price is known.",
  },
  llm_cache_diagnoses_total: {
    labels: ["agent", "provider", "agreement"],
    help: "Diagnoses by the provider, by whether our own verdict agrees: agrees, differs, not comparable.",
  },
  llm_cache_warm_calls_total: {
    labels: ["agent", "purpose", "outcome"],
    help: "Requests that only keep or write a cache; outcome is refreshed, written or failed.",
  },
  llm_cache_warm_cost_usd_total: {
    labels: ["agent", "purpose"],
    help: "Cost of such requests in dollars; not part of llm_cost_usd_total.",
  },
  llm_compaction_cost_usd_total: {
    labels: ["agent", "outcome"],
    help: "Cost of summaries in dollars; not part of llm_cost_usd_total.",
  },
  agent_turns_total: {
    labels: ["agent", "outcome"],
    help: "Ended turns: completed, failed, cancelled, interrupted or abandoned.",
  },
  agent_tool_calls_total: {
    labels: ["agent", "tool", "outcome"],
    help: "Dispatched tool uses; outcome is ok, unsuccessful or the error class.",
  },
  agent_memory_updates_total: {
    labels: ["agent", "file", "operation"],
    help: "Writes that changed a memory file.",
  },
  agent_memory_evictions_total: {
    labels: ["agent", "file", "trigger"],
    help: "How often a memory file exceeded its cap or lost entries.",
  },
  agent_memory_entries_evicted_total: {
    labels: ["agent", "file", "trigger"],
    help: "Entries removed from a memory file.",
  },
  agent_skill_loads_total: {
    labels: ["agent", "reason", "source"],
    help: "Skills whose body was loaded into a context.",
  },
  agent_skill_searches_total: {
    labels: ["agent"],
    help: "Skill searches by agents.",
  },
  agent_skill_changes_total: {
    labels: ["agent", "source", "operation"],
    help: "Skills found to have changed.",
  },
  strata_events_total: {
    labels: ["type"],
    help: "Events observed, by type.",
  },
  strata_metrics_other_total: {
    labels: ["label"],
    help: "Label values counted as other because there were too many different ones.",
  },
  strata_metrics_unread_total: {
    labels: ["type"],
    help: "Events that could not be counted, or not in full, by type.",
  },
} as const;

const gauges = {
  llm_cache_hit_ratio: {
    labels: ["agent"],
    help: "Share of all prompt tokens since the start that were read from cache, 0 to 1.",
  },
  llm_prompt_tokens_estimated: {
    labels: ["agent", "provider", "model"],
    help: "Estimated prompt tokens of the last call sent.",
  },
  llm_cache_savings_usd: {
    labels: ["agent", "provider", "model"],
    help: "Dollars saved by caching since the start; negative if writes were wasted.",
  },
  llm_cache_coverage_ratio: {
    labels: ["agent"],
    help: "Share of all prompt tokens since the start that were read or written, 0 to 1.",
  },
} as const;

const histograms = {
  llm_compaction_duration_seconds: {
    labels: ["agent", "outcome"],
    help: "Duration of compactions that asked a model for a summary; outcome ok or failed.",
  },
  llm_prompt_tokens_drift: {
    labels: ["agent", "provider", "model"],
    help: "Difference between estimated and billed prompt tokens, in percent of the billed tokens.",
  },
  llm_call_duration_seconds: {
    labels: ["provider", "model"],
    help: "Duration of a call with all its attempts, failed or not.",
  },
  agent_turn_duration_seconds: {
    labels: ["agent"],
    help: "Duration of completed and failed turns.",
  },
  agent_tool_duration_seconds: {
    labels: ["tool"],
    help: "Duration of a tool use, failed or not.",
  },
} as const;

export type CounterName = keyof typeof counters;
export type GaugeName = keyof typeof gauges;
export type HistogramName = keyof typeof histograms;

/** In seconds, except the drift. */
const bucketsOf: Readonly<Record<HistogramName, readonly number[]>> = {
  // A summary is a call to a model, of up to a few thousand tokens of output.
  llm_compaction_duration_seconds: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300],
  // Percent. Operators decide at 10 and 20.
  llm_prompt_tokens_drift: driftBucketsPercent,
  llm_call_duration_seconds: [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600],
  agent_turn_duration_seconds: [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
  agent_tool_duration_seconds: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600],
};

type Metrics = typeof counters & typeof gauges & typeof histograms;

export type LabelsOf<Name extends keyof Metrics> = Readonly<
  Record<Metrics[Name]["labels"][number], string>
>;

export interface MetricSpec {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  readonly help: string;
  /** Empty unless it is a histogram. */
  readonly buckets: readonly number[];
}

export function listMetrics(): readonly MetricSpec[] {
  return [
    ...listed("counter", counters),
    ...listed("gauge", gauges),
    ...listed("histogram", histograms, bucketsOf),
  ];
}

function listed(
  type: MetricSpec["type"],
  specs: Readonly<Record<string, Pick<MetricSpec, "labels" | "help">>>,
  buckets: Readonly<Record<string, readonly number[]>> = {},
): readonly MetricSpec[] {
  return Object.entries(specs).map(([name, spec]) => ({
    ...spec,
    name,
    type,
    buckets: buckets[name] ?? [],
  }));
}
