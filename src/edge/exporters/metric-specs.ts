// Every metric by name: type, labels and what it says. docs/metrics.md has the same list, and a test holds them together.
import { driftBucketsPercent } from "../../core/tokens/drift.ts";

/** What the seeds name, under exactly these names (N-18, N-24, N-33, N-42). */
const seedSpecs = {
  llm_cache_read_tokens_total: {
    type: "counter",
    labels: ["agent", "provider", "model"],
    help: "Prompt tokens that were read from the provider's cache.",
  },
  llm_cache_creation_tokens_total: {
    type: "counter",
    labels: ["agent", "provider", "model"],
    help: "Prompt tokens that were written to the provider's cache.",
  },
  llm_cache_hit_ratio: {
    type: "gauge",
    labels: ["agent"],
    help: "Share of all prompt tokens since the start that was read from cache, 0 to 1.",
  },
  llm_compaction_triggered_total: {
    type: "counter",
    labels: ["agent", "outcome", "trigger"],
    help: "Folds that were due, by what became of them and why they were due.",
  },
  llm_compaction_duration_seconds: {
    type: "histogram",
    labels: ["agent", "outcome"],
    help: "How long a fold took that asked a model for a summary; outcome ok or failed.",
  },
  llm_prompt_tokens_estimated: {
    type: "gauge",
    labels: ["agent", "provider", "model"],
    help: "Estimated prompt tokens of the last call that was sent.",
  },
  llm_prompt_tokens_drift: {
    type: "histogram",
    labels: ["agent", "provider", "model"],
    help: "Distance of the estimate from the billed prompt tokens, in percent of the billed ones.",
  },
  workspace_cache_hits_total: {
    type: "counter",
    labels: ["path"],
    help: "Requests for a workspace's documents that were answered from memory.",
  },
  workspace_cache_misses_total: {
    type: "counter",
    labels: ["path"],
    help: "Requests for a workspace's documents that had to wait for the disk.",
  },
  workspace_cache_invalidations_total: {
    type: "counter",
    labels: ["path"],
    help: "Times that kept documents of a workspace were dropped.",
  },
} as const;

const callSpecs = {
  llm_calls_total: {
    type: "counter",
    labels: ["agent", "provider", "model", "outcome"],
    help: "Calls that ended: completed, or the class of the error.",
  },
  llm_call_duration_seconds: {
    type: "histogram",
    labels: ["provider", "model"],
    help: "How long a call took with all its attempts, whether it failed or not.",
  },
  llm_tokens_total: {
    type: "counter",
    labels: ["agent", "provider", "model", "kind"],
    help: "Billed tokens in disjoint buckets: uncached, cache_read, cache_write, output.",
  },
  llm_tool_uses_total: {
    type: "counter",
    labels: ["agent", "provider", "model"],
    help: "Tool uses that models asked for.",
  },
  llm_cost_usd_total: {
    type: "counter",
    labels: ["agent", "provider", "model"],
    help: "Dollars that calls cost, also those that failed, without those of summaries.",
  },
  llm_cost_without_cache_usd_total: {
    type: "counter",
    labels: ["agent", "provider", "model"],
    help: "Dollars that the same calls would have cost at the plain input rate.",
  },
  llm_cache_savings_usd: {
    type: "gauge",
    labels: ["agent", "provider", "model"],
    help: "Dollars that caching saved since the start; below zero where writes were wasted.",
  },
  llm_calls_unpriced_total: {
    type: "counter",
    labels: ["agent", "provider", "model"],
    help: "Completed calls that are missing in cost or savings because no price is known.",
  },
  llm_cache_coverage_ratio: {
    type: "gauge",
    labels: ["agent"],
    help: "Share of all prompt tokens since the start that was read or written, 0 to 1.",
  },
  llm_cache_misses_total: {
    type: "counter",
    labels: ["agent", "cause"],
    help: "Replies that read less from cache than their requests could have.",
  },
  llm_cache_lost_tokens_total: {
    type: "counter",
    labels: ["agent", "cause"],
    help: "Prompt tokens that were not read because of misses.",
  },
  llm_cache_lost_usd_total: {
    type: "counter",
    labels: ["agent", "cause"],
    help: "Dollars that misses cost, where a price is known.",
  },
  llm_compaction_cost_usd_total: {
    type: "counter",
    labels: ["agent", "outcome"],
    help: "Dollars that summaries for folds cost; not part of llm_cost_usd_total.",
  },
} as const;

const agentSpecs = {
  agent_turns_total: {
    type: "counter",
    labels: ["agent", "outcome"],
    help: "Turns that ended: completed, failed, cancelled, interrupted or abandoned.",
  },
  agent_turn_duration_seconds: {
    type: "histogram",
    labels: ["agent"],
    help: "How long a turn took that was completed or failed.",
  },
  agent_tool_calls_total: {
    type: "counter",
    labels: ["agent", "tool", "outcome"],
    help: "Tool uses that were dispatched: ok, unsuccessful, or the class of the error.",
  },
  agent_tool_duration_seconds: {
    type: "histogram",
    labels: ["tool"],
    help: "How long a tool took, whether it failed or not.",
  },
  agent_memory_updates_total: {
    type: "counter",
    labels: ["agent", "file", "operation"],
    help: "Writes that changed a memory file.",
  },
  agent_memory_evictions_total: {
    type: "counter",
    labels: ["agent", "file", "trigger"],
    help: "Times that a memory file was over its cap, or entries were taken out.",
  },
  agent_memory_entries_evicted_total: {
    type: "counter",
    labels: ["agent", "file", "trigger"],
    help: "Entries that were taken out of a memory file.",
  },
  agent_skill_loads_total: {
    type: "counter",
    labels: ["agent", "reason", "source"],
    help: "Skills whose body became part of a context.",
  },
  agent_skill_searches_total: {
    type: "counter",
    labels: ["agent"],
    help: "Times that an agent looked for a skill.",
  },
  agent_skill_changes_total: {
    type: "counter",
    labels: ["agent", "source", "operation"],
    help: "Skills that were found to be others than before.",
  },
} as const;

/** About the metrics themselves. */
const ownSpecs = {
  strata_events_total: {
    type: "counter",
    labels: ["type"],
    help: "Events that were told, by type.",
  },
  strata_metrics_other_total: {
    type: "counter",
    labels: ["label"],
    help: "Values of a label that were counted as other because there were too many different ones.",
  },
  strata_metrics_unread_total: {
    type: "counter",
    labels: ["type"],
    help: "Events that could not be counted, or not in full, by type.",
  },
} as const;

type MetricSpecs = typeof seedSpecs & typeof callSpecs & typeof agentSpecs & typeof ownSpecs;

export const metricSpecs: MetricSpecs = {
  ...seedSpecs,
  ...callSpecs,
  ...agentSpecs,
  ...ownSpecs,
};

export type MetricName = keyof MetricSpecs;

export type MetricType = MetricSpecs[MetricName]["type"];

/** Metrics of one type. */
export type NameOf<Type extends MetricType> = {
  [Name in MetricName]: MetricSpecs[Name]["type"] extends Type ? Name : never;
}[MetricName];

export type LabelsOf<Name extends MetricName> = Readonly<
  Record<MetricSpecs[Name]["labels"][number], string>
>;

/** In seconds, except where the name says otherwise. */
const bucketsOf: Readonly<Record<NameOf<"histogram">, readonly number[]>> = {
  // A summary is a call to a model, of up to a few thousand tokens of output.
  llm_compaction_duration_seconds: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300],
  // Percent; 10 and 20 are what operators decide by (N-33, N-44).
  llm_prompt_tokens_drift: driftBucketsPercent,
  llm_call_duration_seconds: [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600],
  agent_turn_duration_seconds: [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
  agent_tool_duration_seconds: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600],
};

export interface MetricSpec {
  readonly name: MetricName;
  readonly type: MetricType;
  readonly labels: readonly string[];
  readonly help: string;
  /** Of a histogram. */
  readonly buckets: readonly number[];
}

export function listMetrics(): readonly MetricSpec[] {
  return Object.keys(metricSpecs)
    .filter(isMetricName)
    .map((name) => ({
      ...metricSpecs[name],
      name,
      buckets: hasBuckets(name) ? bucketsOf[name] : [],
    }));
}

function hasBuckets(name: string): name is NameOf<"histogram"> {
  return Object.hasOwn(bucketsOf, name);
}

function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(metricSpecs, name);
}
