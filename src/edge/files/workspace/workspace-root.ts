// What is kept for one root: a bundle per scope and set of extras, all dropped when a document changes.
import type { BundleLimits, ReadDocument } from "../../../core/layers/workspace-file.ts";
import type { WorkspaceBundle, WorkspaceScope } from "../../../core/layers/workspace-bundle.ts";
import { StrataError, messageOf } from "../../../core/strata-error.ts";
import type { ScopedFiles } from "../guard/scoped-files.ts";
import { isRefusal } from "../guard/scoped-failure.ts";
import { stateFolders } from "../workspace-folders.ts";
import { loadBundle } from "./load-bundle.ts";
import { openRootWatch, type WatchSettings } from "./root-watch.ts";
import { concerns, isOutside, spellExtras } from "./workspace-paths.ts";

export interface WorkspaceRoot {
  load(request: RootRequest): Promise<WorkspaceBundle>;
  invalidate(): void;
  metrics(): WorkspaceMetrics;
  close(): void;
}

export interface RootRequest {
  readonly scope: WorkspaceScope;
  /** Relative to the root, sorted, each once. */
  readonly extras: readonly string[];
}

export interface WorkspaceMetrics {
  readonly path: string;
  readonly hits: number;
  readonly misses: number;
  /** How often something kept was dropped: after a change, by age, or on request of the host. */
  readonly invalidations: number;
  /** How often the disk was read. */
  readonly loads: number;
  readonly isWatched: boolean;
}

export interface RootSettings extends WatchSettings {
  readonly limits: BundleLimits;
  /** Nothing older is returned. 0 for no limit. For file systems that report no changes. */
  readonly maxAgeMs: number;
  /** Used without such a limit if the root cannot be watched. */
  readonly unwatchedMaxAgeMs: number;
  /** The limit for roots, and for bundles of one root. The least recently used go first. */
  readonly keptMax: number;
  readonly openFiles: (root: string) => Promise<WorkspaceFiles>;
}

export type WorkspaceFiles = Pick<ScopedFiles, "nameOf" | "readFile" | "stat">;

export function openWorkspaceRoot(path: string, settings: RootSettings): WorkspaceRoot {
  const { nowMs, limits } = settings;
  const entries = new Map<string, Entry>();
  const lastGood = new Map<string, ReadDocument>();
  const counts = { hits: 0, misses: 0, invalidations: 0, loads: 0 };

  const invalidate = (): void => {
    if (entries.size > 0) counts.invalidations += 1;
    // Also drops loads in progress: they may have read the state before the change.
    entries.clear();
  };

  const watch = openRootWatch(path, settings, {
    isConcerned: (changed) => [...entries.values()].some(({ extras }) => concerns(changed, extras)),
    onChange: invalidate,
  });

  const read = async (request: RootRequest, entry: Entry): Promise<WorkspaceBundle> => {
    counts.loads += 1;
    const files = await settings.openFiles(path).catch((error: unknown) => {
      throw unusable(path, error);
    });
    const extras = spellExtras(files, request.extras);
    entry.extras = extras;
    // Watches first, so that no change falls between reading and watching.
    await watch.cover([...fixedDocuments, ...extras.filter((extra) => !isOutside(extra))]);
    return loadBundle(files, { root: path, scope: request.scope, extras, limits }, lastGood);
  };

  const start = (key: string, request: RootRequest): Promise<WorkspaceBundle> => {
    const loading = Promise.withResolvers<WorkspaceBundle>();
    const entry = openEntry(request, nowMs(), loading.promise);
    loading.resolve(read(request, entry));
    keep(entries, key, entry, settings.keptMax);
    entry.bundle.then(
      () => (entry.isLoaded = true),
      // Waiters get the error; the next request tries again.
      () => entries.get(key) === entry && entries.delete(key),
    );
    return entry.bundle;
  };

  return {
    load: (request) => {
      const key = JSON.stringify([request.scope, request.extras]);
      const entry = entries.get(key);
      if (entry?.isLoaded === true && !isTooOld(entry, settings, watch.isWatched())) {
        counts.hits += 1;
        keep(entries, key, entry, settings.keptMax);
        return entry.bundle;
      }
      counts.misses += 1;
      if (entry?.isLoaded === false) return entry.bundle;
      if (entry !== undefined) counts.invalidations += 1;
      return start(key, request);
    },
    invalidate,
    metrics: () => ({ path, ...counts, isWatched: watch.isWatched() }),
    close: () => {
      entries.clear();
      watch.close();
    },
  };
}

function isTooOld({ startedMs }: Entry, settings: RootSettings, isWatched: boolean): boolean {
  const isTrusted = settings.maxAgeMs > 0 || isWatched;
  const maxAgeMs = isTrusted ? settings.maxAgeMs : settings.unwatchedMaxAgeMs;
  return maxAgeMs > 0 && settings.nowMs() - startedMs >= maxAgeMs;
}

/** Marks it as most recently used. Removes and returns the least recently used beyond the limit. */
export function keep<Value>(
  kept: Map<string, Value>,
  key: string,
  value: Value,
  keptMax: number,
): readonly Value[] {
  kept.delete(key);
  kept.set(key, value);
  const forgotten: Value[] = [];
  for (const [oldest, old] of kept) {
    if (kept.size <= keptMax) break;
    kept.delete(oldest);
    forgotten.push(old);
  }
  return forgotten;
}

interface Entry {
  /** As requested at first, later as the workspace spells them. */
  extras: readonly string[];
  readonly bundle: Promise<WorkspaceBundle>;
  /** Age counts from before the first byte was read. */
  readonly startedMs: number;
  isLoaded: boolean;
}

function openEntry(
  { extras }: RootRequest,
  startedMs: number,
  bundle: Promise<WorkspaceBundle>,
): Entry {
  return { extras, startedMs, bundle, isLoaded: false };
}

/** Their folders are watched from the start, whether or not they exist. */
const fixedDocuments = ["AGENTS.md", ...stateFolders.map((folder) => `${folder}/MEMORY.md`)];

function unusable(path: string, cause: unknown): StrataError {
  const words = messageOf(cause);
  const problem = `the workspace ${path} cannot be opened: ${words}`;
  return isRefusal(cause)
    ? new StrataError("not-found", problem, "pass a folder that exists and is readable", { cause })
    : new StrataError("environment-unfit", problem, "try again", { cause });
}

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
