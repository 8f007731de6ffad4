import { register } from "prom-client";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PayloadOf, StrataEvent } from "../../core/events/event.ts";
import { listMetrics, type MetricSpec } from "./metric-specs.ts";
import { createMetrics, type MetricsProblem } from "./metrics.ts";
import {
  keptRoot,
  openTestMetrics,
  parseExposition,
  sessionId,
  type TestMetrics,
} from "./test-kit.ts";

const sonnet = { provider: "anthropic", model: "claude-sonnet-4-6" } as const;
const ana = { agent: "ana", ...sonnet };

const completed: PayloadOf<"llm.call_completed"> = {
  ...sonnet,
  input_tokens: 100,
  output_tokens: 50,
  cached_input_tokens: 700,
  cache_creation_input_tokens: 200,
  cost_usd: "0.00201",
  pricing_version: "2026-11-15",
  latency_ms: 3000,
  stop_reason: "end_turn",
  produced_tool_calls: 2,
  produced_thinking_blocks: 0,
};

/** A call from its beginning to its end. */
function call({ bus }: TestMetrics, estimated: number, more: Partial<typeof completed> = {}): void {
  const { provider, model } = { ...completed, ...more };
  const started = bus.emit({
    sessionId,
    type: "llm.call_started",
    payload: {
      provider,
      model,
      estimated_input_tokens: estimated,
      request_id: "turn-1/1",
      is_worker: false,
    },
  });
  bus.emit({
    sessionId,
    type: "llm.call_completed",
    parentEventId: started.id,
    payload: { ...completed, ...more },
  });
}

function compaction(
  { bus }: TestMetrics,
  outcome: PayloadOf<"compaction.completed">["outcome"],
  trigger: PayloadOf<"compaction.completed">["trigger"] = "context_limit",
  more: Partial<PayloadOf<"compaction.completed">> = {},
): void {
  bus.emit({
    sessionId,
    type: "compaction.completed",
    payload: {
      trigger,
      outcome,
      summarized_through_turn_id: null,
      first_kept_turn_id: null,
      turns_summarized: 3,
      tokens_before: 9000,
      tokens_after: 3000,
      summary_tokens: 500,
      summary_hash: null,
      model: "claude-sonnet-4-6",
      provider: "anthropic",
      cost_usd: "0.02",
      duration_ms: 4000,
      ...more,
    },
  });
}

describe("calls", () => {
  test("N-18: cache tokens are counted by agent, provider and model, and their share by agent", async () => {
    const kit = openTestMetrics();
    call(kit, 1000);
    call(kit, 1000, { cached_input_tokens: 900, cache_creation_input_tokens: 0 });
    expect(await kit.valueOf("llm_cache_read_tokens_total", ana)).toBe(1600);
    expect(await kit.valueOf("llm_cache_creation_tokens_total", ana)).toBe(200);
    expect(await kit.valueOf("llm_cache_hit_ratio", { agent: "ana" })).toBe(0.8);
    expect(await kit.valueOf("llm_cache_coverage_ratio", { agent: "ana" })).toBe(0.9);
  });

  test("N-33: the last estimate is shown, and its distance from the bill in percent", async () => {
    const kit = openTestMetrics();
    call(kit, 880);
    call(kit, 1150);
    expect(await kit.valueOf("llm_prompt_tokens_estimated", ana)).toBe(1150);
    expect(await kit.valueOf("llm_prompt_tokens_drift_sum", ana)).toBe(27);
    expect(await kit.valueOf("llm_prompt_tokens_drift_count", ana)).toBe(2);
    expect(await kit.valueOf("llm_prompt_tokens_drift_bucket", { ...ana, le: "10" })).toBe(0);
    expect(await kit.valueOf("llm_prompt_tokens_drift_bucket", { ...ana, le: "15" })).toBe(2);
  });

  test("N-33: a bill of nothing is no bill to compare with", async () => {
    const kit = openTestMetrics();
    const nothing = { input_tokens: 0, cached_input_tokens: 0, cache_creation_input_tokens: 0 };
    call(kit, 880, nothing);
    expect(await kit.valueOf("llm_prompt_tokens_drift_count", ana)).toBeUndefined();
    expect(await kit.valueOf("llm_cache_hit_ratio", { agent: "ana" })).toBeUndefined();
    expect(
      await kit.valueOf("strata_metrics_unread_total", { type: "llm.call_completed" }),
    ).toBeUndefined();
  });

  test("N-33: a call whose start was not seen is counted, and its missing estimate too", async () => {
    const kit = openTestMetrics();
    kit.bus.emit({ sessionId, type: "llm.call_completed", payload: completed });
    expect(await kit.valueOf("llm_calls_total", { ...ana, outcome: "completed" })).toBe(1);
    expect(await kit.valueOf("strata_metrics_unread_total", { type: "llm.call_completed" })).toBe(
      1,
    );
  });

  test("tokens are counted in disjoint buckets, with tool uses and seconds", async () => {
    const kit = openTestMetrics();
    call(kit, 1000);
    const kinds = ["uncached", "cache_read", "cache_write", "output"];
    expect(
      await Promise.all(kinds.map((kind) => kit.valueOf("llm_tokens_total", { ...ana, kind }))),
    ).toEqual([100, 700, 200, 50]);
    expect(await kit.valueOf("llm_tool_uses_total", ana)).toBe(2);
    expect(await kit.valueOf("llm_call_duration_seconds_sum", sonnet)).toBe(3);
  });

  test("dollars are counted beside what the same calls would have cost without a cache", async () => {
    const kit = openTestMetrics();
    call(kit, 1000);
    // 1000 tokens at $3 and 50 at $15 per million.
    expect(await kit.valueOf("llm_cost_usd_total", ana)).toBe(0.00201);
    expect(await kit.valueOf("llm_cost_without_cache_usd_total", ana)).toBe(0.00375);
    expect(await kit.valueOf("llm_cache_savings_usd", ana)).toBeCloseTo(0.00174, 12);
  });

  test("writes that were wasted make savings go below zero, and no counter go down", async () => {
    const kit = openTestMetrics();
    call(kit, 1000, {
      cached_input_tokens: 0,
      cache_creation_input_tokens: 900,
      cost_usd: "0.004425",
    });
    expect(await kit.valueOf("llm_cache_savings_usd", ana)).toBeCloseTo(-0.000675, 12);
    expect(await kit.valueOf("llm_cost_usd_total", ana)).toBe(0.004425);
  });

  test("calls without a price are counted as such, and prices can be given", async () => {
    const kit = openTestMetrics();
    call(kit, 1000, { model: "house-model", cost_usd: null });
    const house = { ...ana, model: "house-model" };
    expect(await kit.valueOf("llm_calls_unpriced_total", house)).toBe(1);
    expect(await kit.valueOf("llm_cost_usd_total", house)).toBeUndefined();
    const free = openTestMetrics({
      priceOf: () => ({ id: "free", prices: { kind: "unpriced", reason: "it is free" } }),
    });
    call(free, 1000);
    expect(await free.valueOf("llm_calls_unpriced_total", ana)).toBe(1);
    expect(await free.valueOf("llm_cost_usd_total", ana)).toBe(0.00201);
    expect(await free.valueOf("llm_cache_savings_usd", ana)).toBeUndefined();
  });

  test("calls that failed are counted by the class of their error and with what they cost, misses by their cause", async () => {
    const kit = openTestMetrics();
    kit.bus.emit({
      sessionId,
      type: "llm.call_failed",
      payload: {
        ...sonnet,
        error_class: "rate_limit",
        error_message_redacted: "slow down",
        retry_count: 2,
        latency_ms: 500,
        cost_usd: "0.0042",
      },
    });
    kit.bus.emit({
      sessionId,
      type: "cache.miss",
      payload: {
        cause: "lifetime expired",
        detail: null,
        expected_read_tokens: 5000,
        reported_read_tokens: 0,
        lost_tokens: 5000,
        lost_cost_usd: "0.0135",
        block_tier: null,
        block_label: null,
        block_index: null,
        block_byte_offset: null,
        block_before_hash: null,
        block_after_hash: null,
      },
    });
    const labels = { agent: "ana", cause: "lifetime expired" };
    expect(await kit.valueOf("llm_calls_total", { ...ana, outcome: "rate_limit" })).toBe(1);
    expect(await kit.valueOf("llm_cost_usd_total", ana)).toBe(0.0042);
    expect(await kit.valueOf("llm_cache_misses_total", labels)).toBe(1);
    expect(await kit.valueOf("llm_cache_lost_tokens_total", labels)).toBe(5000);
    expect(await kit.valueOf("llm_cache_lost_usd_total", labels)).toBe(0.0135);
  });
});

describe("compactions", () => {
  test("N-24: every outcome is counted with its trigger; only those that asked a model have a duration", async () => {
    const kit = openTestMetrics();
    compaction(kit, "ok");
    compaction(kit, "ok", "periodic");
    // Notes that no model wrote.
    compaction(kit, "ok", "manual", { model: null, provider: null, cost_usd: null });
    compaction(kit, "tool_result_truncated");
    compaction(kit, "tool_result_microcompact");
    kit.bus.emit({
      sessionId,
      type: "compaction.failed",
      payload: {
        trigger: "manual",
        outcome: "failed",
        error_class: "call_failed",
        error_message_redacted: "no answer",
        cost_usd: "0.005",
        duration_ms: 9000,
      },
    });
    for (const outcome of ["lock_held", "no_boundary"] as const) {
      kit.bus.emit({
        sessionId,
        type: "compaction.skipped",
        payload: { trigger: "overflow_recovery", outcome },
      });
    }
    const family = parseExposition(await kit.metrics.render());
    expect(
      family
        .get("llm_compaction_triggered_total")
        ?.samples.map(({ labels, value }) => [labels["outcome"], labels["trigger"], value]),
    ).toEqual([
      ["ok", "token_pressure", 1],
      ["ok", "age", 1],
      ["ok", "manual", 1],
      ["tool_result_truncated", "token_pressure", 1],
      ["tool_result_microcompact", "token_pressure", 1],
      ["failed", "manual", 1],
      ["lock_held", "overflow_recovery", 1],
      ["no_boundary", "overflow_recovery", 1],
    ]);
    const durations = family
      .get("llm_compaction_duration_seconds")
      ?.samples.filter(({ name }) => name.endsWith("_sum"));
    expect(durations?.map(({ labels, value }) => [labels["outcome"], value])).toEqual([
      ["ok", 8],
      ["failed", 9],
    ]);
    const failed = { agent: "ana", outcome: "failed" };
    expect(await kit.valueOf("llm_compaction_cost_usd_total", failed)).toBe(0.005);
  });
});

describe("labels", () => {
  test("values beyond the limit are counted as other and reported once; earlier values keep their names", async () => {
    const problems: MetricsProblem[] = [];
    const kit = openTestMetrics({
      valuesMax: { model: 2 },
      onProblem: (problem) => problems.push(problem),
    });
    for (const model of ["one", "two", "three", "four", "one"]) call(kit, 1000, { model });
    const family = parseExposition(await kit.metrics.render()).get("llm_cache_read_tokens_total");
    expect(family?.samples.map(({ labels, value }) => [labels["model"], value])).toEqual([
      ["one", 1400],
      ["two", 700],
      ["other", 1400],
    ]);
    expect(problems).toEqual([{ kind: "label-full", label: "model", valuesMax: 2 }]);
    // Once when a call starts and once when it completes.
    expect(await kit.valueOf("strata_metrics_other_total", { label: "model" })).toBe(4);
  });

  test("a session without a known agent counts for unknown", async () => {
    const kit = openTestMetrics({ agentOf: () => null });
    call(kit, 1000);
    expect(await kit.valueOf("llm_cache_hit_ratio", { agent: "unknown" })).toBe(0.7);
  });

  test("names that look like other labels stay apart", async () => {
    const kit = openTestMetrics();
    call(kit, 1000, { model: "y", provider: "z" });
    call(kit, 1000, { model: "y,provider:z", provider: "z" });
    call(kit, 1000, { model: 'a"b\\c', provider: "z" });
    const family = parseExposition(await kit.metrics.render()).get("llm_tool_uses_total");
    expect(family?.samples.map(({ labels }) => labels["model"])).toEqual([
      "y",
      "y_provider:z",
      'a"b\\c',
    ]);
  });

  test("a key inside a name is not shown", async () => {
    const secret = "0123456789abcdef".repeat(2);
    const kit = openTestMetrics({ agentOf: () => `bob:sk-ant-api03-${secret}` });
    call(kit, 1000, { model: `sk-ant-api03-${secret}` });
    kit.metrics.addWorkspaceCache({ metrics: () => [keptRoot(`https://bob:${secret}@host/a`)] });
    const text = await kit.metrics.render();
    expect(text).not.toContain("0123456789abcdef");
    expect(text).toContain('agent="bob:[redacted]",provider="anthropic",model="[redacted]"');
    expect(text).toContain('path="https://[redacted]@host/a"');
  });

  test("an invalid limit is refused", () => {
    expect(() => createMetrics({ valuesMax: { agent: 0 } })).toThrow(/agent of metrics is 0/);
  });
});

describe("events that violate the catalogue", () => {
  test("unknown types and broken payloads are counted as unread, and nothing else changes", async () => {
    const kit = openTestMetrics();
    const event = kit.bus.emit({ sessionId, type: "llm.call_completed", payload: completed });
    const before = await kit.valueOf("llm_cost_usd_total", ana);
    const broken = [
      { ...event, type: "llm.call_dreamt" },
      { ...event, payload: { ...completed, cached_input_tokens: -5 } },
      { ...event, payload: { ...completed, cost_usd: "a lot" } },
    ] as unknown as readonly StrataEvent[];
    for (const each of broken) kit.metrics.observe(each);
    expect(await kit.valueOf("llm_cost_usd_total", ana)).toBe(before);
    expect(await kit.valueOf("strata_metrics_unread_total", { type: "unknown" })).toBe(1);
    // One more for the estimate that the first event has not got.
    expect(await kit.valueOf("strata_metrics_unread_total", { type: "llm.call_completed" })).toBe(
      3,
    );
  });

  test("an event with an extra field is counted", async () => {
    const kit = openTestMetrics();
    const event = kit.bus.emit({
      sessionId,
      type: "llm.call_completed" as const,
      payload: completed,
    });
    const more = { ...event, payload: { ...completed, mood: "good" } };
    kit.metrics.observe(more);
    expect(await kit.valueOf("llm_calls_total", { ...ana, outcome: "completed" })).toBe(2);
  });

  test("a cost below zero makes no counter go down", async () => {
    const kit = openTestMetrics();
    call(kit, 1000, { cost_usd: "-1" });
    expect(await kit.valueOf("llm_cost_usd_total", ana)).toBeUndefined();
    expect(await kit.valueOf("strata_metrics_unread_total", { type: "llm.call_completed" })).toBe(
      1,
    );
  });
});

describe("the text", () => {
  test("every metric is in it from the start, with its type (B-04)", async () => {
    const families = parseExposition(await createMetrics().render());
    expect([...families].map(([name, { type }]) => [name, type])).toEqual(
      listMetrics().map(({ name, type }) => [name, type]),
    );
  });

  test("labels of every series are those of its metric", async () => {
    const kit = openTestMetrics();
    call(kit, 1000);
    compaction(kit, "ok");
    const specs = new Map<string, MetricSpec>(listMetrics().map((spec) => [spec.name, spec]));
    for (const [name, { samples }] of parseExposition(await kit.metrics.render())) {
      for (const { labels } of samples) {
        const names = Object.keys(labels).filter((label) => label !== "le");
        expect([name, names.toSorted()]).toEqual([name, specs.get(name)?.labels.toSorted()]);
      }
    }
  });

  test("it can be parsed, whatever the names of agents and paths", async () => {
    const names = fc.array(fc.string({ unit: "grapheme", minLength: 1 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(names, async (paths) => {
        const kit = openTestMetrics({ agentOf: () => paths[0] });
        for (const path of paths)
          kit.metrics.addWorkspaceCache({ metrics: () => [keptRoot(path)] });
        call(kit, 1000);
        const families = parseExposition(await kit.metrics.render());
        const hits = families.get("workspace_cache_hits_total")?.samples ?? [];
        expect(hits.reduce((sum, { value }) => sum + value, 0)).toBe(paths.length);
      }),
      { numRuns: 100 },
    );
  });

  test("two of them count for themselves only, and nothing for the global registry", async () => {
    const [first, second] = [openTestMetrics(), openTestMetrics({ agentOf: () => "bob" })];
    call(first, 1000);
    call(first, 1000);
    call(second, 1000);
    const outcome = "completed";
    const texts = await Promise.all([first.metrics.render(), second.metrics.render()]);
    expect(await first.valueOf("llm_calls_total", { ...ana, outcome })).toBe(2);
    expect(await second.valueOf("llm_calls_total", { ...ana, agent: "bob", outcome })).toBe(1);
    expect(texts.map((text) => text.includes('agent="bob"'))).toEqual([false, true]);
    expect(register.getMetricsAsArray()).toEqual([]);
  });
});
