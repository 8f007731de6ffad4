// Exporters: events and counters → Prometheus metrics.
import type { Registry } from "prom-client";
import { checkEvent } from "../../core/events/check-event.ts";
import { isEventType, type EventType } from "../../core/events/event-catalogue.ts";
import type { EventOf, StrataEvent } from "../../core/events/event.ts";
import type { PricedModel } from "../../core/models/cost.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { requireLeasts } from "../../core/tools/check-limits.ts";
import { createBoundedLabel, unknownValue, type BoundedLabel } from "./bounded-label.ts";
import type { CountContext, LabelName } from "./count-context.ts";
import { createInstruments, type Instruments } from "./instruments.ts";
import { createPending } from "./pending.ts";
import { createWorkspaceReader, type CountedCache } from "./workspace-metrics.ts";
import * as agents from "./count-agents.ts";
import * as calls from "./count-calls.ts";

export interface Metrics {
  /** Handler for `bus.subscribe`. Pass every event once. Uncountable events count in `strata_metrics_unread_total`. */
  observe(event: StrataEvent): void;
  /** Reads the cache's counts on every scrape. Call the result to read them a last time and release the cache. */
  addWorkspaceCache(cache: CountedCache): () => void;
  /** The Prometheus text format. */
  render(): Promise<string>;
  readonly contentType: string;
  /** Not the global registry. An application may add its own metrics to it. */
  readonly registry: Registry;
}

export interface MetricsOptions {
  /** The agent of a session, which events do not name. Without an answer the agent is `unknown`. */
  readonly agentOf?: (sessionId: string) => string | null | undefined;
  /** Prices for computing savings. Default: the built-in facts, on the model's own API. */
  readonly priceOf?: (model: string, provider: string) => PricedModel | null;
  /** How many different values each label may have; see docs/metrics.md for the defaults. */
  readonly valuesMax?: Partial<Readonly<Record<LabelName, number>>>;
  /** Called once for each label that reaches its limit. */
  readonly onProblem?: (problem: MetricsProblem) => void;
}

/** Further values of the label count as `other`. */
export interface MetricsProblem {
  readonly kind: "label-full";
  readonly label: LabelName;
  readonly valuesMax: number;
}

/** Each instance has its own registry and starts at 0. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const caches = new Set<() => void>();
  const instruments = createInstruments(() => {
    for (const read of caches) read();
  });
  const labels = createLabels(options, instruments);
  const context: CountContext = {
    ...instruments,
    labels,
    agentOf: ({ sessionId }) => labels.agent(options.agentOf?.(sessionId)),
    priceOf: options.priceOf ?? findPrice,
    estimates: createPending(pendingMax),
    tools: createPending(pendingMax),
    prompts: new Map(),
    unread: (type) => instruments.add("strata_metrics_unread_total", { type }),
  };
  const { registry } = instruments;
  return {
    observe: (event) => {
      if (isCountable(event)) {
        instruments.add("strata_events_total", { type: event.type });
        countEvent(event, context);
      } else {
        instruments.add("strata_metrics_unread_total", { type: typeOf(event) });
      }
    },
    addWorkspaceCache: (cache) => {
      const read = createWorkspaceReader(cache, (name, path, by) =>
        instruments.add(name, { path: labels.path(path) }, by),
      );
      caches.add(read);
      return () => {
        if (caches.delete(read)) read();
      };
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
    registry,
  };
}

const defaultValuesMax: Readonly<Record<LabelName, number>> = {
  agent: 64,
  provider: 16,
  model: 64,
  tool: 64,
  path: 64,
};

/** How many running calls and tools are remembered. Beyond it, the oldest lose their estimate or tool name. */
const pendingMax = 10_000;

function createLabels(
  { valuesMax, onProblem }: MetricsOptions,
  instruments: Instruments,
): CountContext["labels"] {
  const limits = { ...defaultValuesMax, ...valuesMax };
  requireLeasts("metrics", limits, { agent: 1, provider: 1, model: 1, tool: 1, path: 1 });
  const create = (label: LabelName): BoundedLabel => {
    let isReported = false;
    return createBoundedLabel(limits[label], () => {
      instruments.add("strata_metrics_other_total", { label });
      if (isReported) return;
      isReported = true;
      onProblem?.({ kind: "label-full", label, valuesMax: limits[label] });
    });
  };
  return {
    agent: create("agent"),
    provider: create("provider"),
    model: create("model"),
    tool: create("tool"),
    path: create("path"),
  };
}

function findPrice(model: string, provider: string): PricedModel | null {
  const found = findModel(model)?.facts ?? null;
  return found?.provider === provider ? found : null;
}

/** A lenient bus delivers events that violate the catalogue. Unknown fields do not matter here. */
function isCountable(event: unknown): event is StrataEvent {
  return checkEvent(event).every(({ rule }) => rule === "field-unknown");
}

function typeOf({ type }: { readonly type: unknown }): string {
  return isEventType(type) ? type : unknownValue;
}

/** Types without a metric of their own count in `strata_events_total` only. */
const counts: Readonly<{
  [Type in EventType]?: (event: EventOf<Type>, context: CountContext) => void;
}> = {
  "llm.call_started": calls.countCallStarted,
  "llm.call_completed": calls.countCallCompleted,
  "llm.call_failed": calls.countCallFailed,
  "gateway.call": calls.countGatewayCall,
  "cache.miss": calls.countMiss,
  "cache.warmed": calls.countWarmed,
  "turn.completed": agents.countTurnEnd,
  "turn.failed": agents.countTurnEnd,
  "turn.cancelled": agents.countTurnEnd,
  "turn.interrupted": agents.countTurnEnd,
  "turn.abandoned": agents.countTurnEnd,
  "tool.called": agents.countToolNamed,
  "tool.confirmation_requested": agents.countToolNamed,
  "tool.completed": agents.countToolEnd,
  "tool.failed": agents.countToolEnd,
  "memory.updated": agents.countMemory,
  "memory.eviction": agents.countMemory,
  "skill.loaded": agents.countSkill,
  "skill.search": agents.countSkill,
  "skill.modified": agents.countSkill,
  "compaction.completed": agents.countCompaction,
  "compaction.failed": agents.countCompaction,
  "compaction.skipped": agents.countCompaction,
};

function countEvent<Type extends EventType>(event: EventOf<Type>, context: CountContext): void {
  counts[event.type]?.(event, context);
}
