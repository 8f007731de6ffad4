// The cache's counters, under their monitoring names.
import type { WorkspaceMetrics } from "./workspace-root.ts";

export interface WorkspaceCounter {
  readonly name:
    | "workspace_cache_hits_total"
    | "workspace_cache_misses_total"
    | "workspace_cache_invalidations_total";
  readonly labels: { readonly path: string };
  /** Only grows, until the root is dropped and starts again. */
  readonly value: number;
}

/** Converts `cache.metrics()` for exporters. */
export function toCounters(metrics: readonly WorkspaceMetrics[]): readonly WorkspaceCounter[] {
  return metrics.flatMap(({ path, hits, misses, invalidations }): WorkspaceCounter[] => [
    { name: "workspace_cache_hits_total", labels: { path }, value: hits },
    { name: "workspace_cache_misses_total", labels: { path }, value: misses },
    { name: "workspace_cache_invalidations_total", labels: { path }, value: invalidations },
  ]);
}
