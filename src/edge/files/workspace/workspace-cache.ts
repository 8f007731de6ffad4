// A workspace's documents, read once and kept until one of them changes.
import { resolve } from "node:path";
import type { BundleLimits } from "../../../core/layers/workspace-file.ts";
import type { WorkspaceBundle } from "../../../core/layers/workspace-bundle.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { requireLeasts } from "../../../core/tools/check-limits.ts";
import { openScope } from "../guard/scoped-files.ts";
import { toExtras, toScope } from "./workspace-paths.ts";
import {
  keep,
  openWorkspaceRoot,
  type RootRequest,
  type RootSettings,
  type WorkspaceMetrics,
  type WorkspaceRoot,
} from "./workspace-root.ts";

export interface WorkspaceCache {
  /** The same object as long as nothing changed. Concurrent requests share one load. */
  load(request: WorkspaceRequest): Promise<WorkspaceBundle>;
  /** For one root, or for all: the next request reads the disk. */
  invalidate(root?: string): void;
  /** One entry per kept root. */
  metrics(): readonly WorkspaceMetrics[];
  /** Stops watching. Later requests are refused. */
  close(): void;
}

export interface WorkspaceRequest extends Pick<RootRequest, "scope"> {
  readonly root: string;
  /** Further documents, relative to the root. Their order does not matter. */
  readonly extras?: readonly string[];
}

export interface WorkspaceCacheOptions extends Partial<Omit<RootSettings, "limits">> {
  /** Default: 200,000 bytes for one document and 300,000 for all. */
  readonly limits?: Partial<BundleLimits>;
  /** Read whenever they are needed, instead of the numbers above, so that a change takes effect immediately. */
  readonly times?: () => Pick<RootSettings, "watchDebounceMs" | "maxAgeMs">;
}

/** Does not keep the process alive. */
export function createWorkspaceCache(options: WorkspaceCacheOptions = {}): WorkspaceCache {
  const settings = toSettings(options);
  const roots = new Map<string, WorkspaceRoot>();
  let isClosed = false;
  return {
    load: async ({ root, scope, extras = [] }) => {
      if (isClosed) {
        throw new StrataError("usage", "the workspace cache is closed", "load before closing it");
      }
      const path = resolve(root);
      const kept = roots.get(path) ?? openWorkspaceRoot(path, settings);
      for (const forgotten of keep(roots, path, kept, settings.keptMax)) forgotten.close();
      return kept.load({ scope: toScope(scope), extras: toExtras(path, extras) });
    },
    invalidate: (root) => {
      const some = root === undefined ? [...roots.values()] : [roots.get(resolve(root))];
      for (const kept of some) kept?.invalidate();
    },
    metrics: () => [...roots.values()].map((root) => root.metrics()),
    close: () => {
      isClosed = true;
      for (const root of roots.values()) root.close();
      roots.clear();
    },
  };
}

const defaults: RootSettings = {
  limits: { fileBytesMax: 200_000, totalBytesMax: 300_000 },
  isWatching: true,
  watchDebounceMs: 500,
  maxAgeMs: 0,
  unwatchedMaxAgeMs: 2000,
  foldersMax: 4096,
  keptMax: 64,
  report: () => {},
  openFiles: (root) => openScope(root),
  // A monotonic clock: ages must not depend on the time of day.
  nowMs: () => performance.now(),
};

/** The smallest sensible values. */
const leasts = {
  watchDebounceMs: 50,
  maxAgeMs: 0,
  unwatchedMaxAgeMs: 1,
  foldersMax: 1,
  keptMax: 1,
  fileBytesMax: 1000,
  totalBytesMax: 1000,
} as const;

function toSettings({ times, ...options }: WorkspaceCacheOptions): RootSettings {
  const limits = { ...defaults.limits, ...options.limits };
  const settings: RootSettings = { ...defaults, ...options, limits };
  const { watchDebounceMs, maxAgeMs, unwatchedMaxAgeMs, foldersMax, keptMax } = settings;
  const numbers = { watchDebounceMs, maxAgeMs, unwatchedMaxAgeMs, foldersMax, keptMax, ...limits };
  requireLeasts("the workspace cache", numbers, leasts);
  if (times === undefined) return settings;
  return {
    ...settings,
    get watchDebounceMs() {
      return Math.max(leasts.watchDebounceMs, times().watchDebounceMs);
    },
    get maxAgeMs() {
      return Math.max(leasts.maxAgeMs, times().maxAgeMs);
    },
  };
}
