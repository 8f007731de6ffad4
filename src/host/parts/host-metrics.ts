// The metrics of a host: counted from its events, priced by its catalogue.
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { EventBus } from "../../edge/events/event-bus.ts";
import { createMetrics, type Metrics } from "../../edge/exporters/metrics.ts";
import type { WorkspaceCache } from "../../edge/files/workspace/workspace-cache.ts";

export interface HostMetricsOptions {
  readonly events: EventBus;
  readonly catalogue: Catalogue;
  readonly documents: WorkspaceCache;
  /** By session. Events name sessions, metrics name agents. */
  readonly agents: ReadonlyMap<string, string>;
  /** The agent of a session that is not in `agents`. */
  readonly agent: string;
}

export function createHostMetrics(options: HostMetricsOptions): Metrics {
  const { events, catalogue, documents, agents, agent } = options;
  const metrics = createMetrics({
    agentOf: (sessionId) => agents.get(sessionId) ?? agent,
    priceOf: (model, provider) => {
      const found = findModel(model, catalogue)?.facts ?? null;
      return found?.provider === provider ? found : null;
    },
  });
  events.subscribe((event) => metrics.observe(event));
  metrics.addWorkspaceCache(documents);
  return metrics;
}
