// Counts of workspace caches as counters that never go down, although a cache drops roots and restarts them at 0.
import {
  toCounters,
  type WorkspaceCounter,
  type WorkspaceMetrics,
} from "../files/workspace/workspace-root.ts";
import type { WorkspaceCache } from "../files/workspace/workspace-cache.ts";

export type CountedCache = Pick<WorkspaceCache, "metrics">;

export type AddToCounter = (name: WorkspaceCounter["name"], path: string, by: number) => void;

/** Each call of the result adds what happened since the last call. */
export function createWorkspaceReader(cache: CountedCache, add: AddToCounter): () => void {
  let before: ReadonlyMap<string, WorkspaceMetrics> = new Map();
  return () => {
    const roots = cache.metrics();
    for (const root of roots) {
      const last = before.get(root.path);
      const counted = last === undefined || isRestarted(root, last) ? [] : toCounters([last]);
      for (const [index, { name, labels, value }] of toCounters([root]).entries()) {
        add(name, labels.path, value - (counted[index]?.value ?? 0));
      }
    }
    // A root missing now starts at 0 when it returns.
    before = new Map(roots.map((root) => [root.path, root]));
  };
}

function isRestarted(root: WorkspaceMetrics, last: WorkspaceMetrics): boolean {
  return (
    root.hits < last.hits ||
    root.misses < last.misses ||
    root.invalidations < last.invalidations ||
    root.loads < last.loads
  );
}
