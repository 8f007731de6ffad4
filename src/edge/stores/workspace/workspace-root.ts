// What is kept of one root: a bundle for each scope and set of extras, dropped together when a document changes.
import type {
  BundleLimits,
  WorkspaceBundle,
  WorkspaceScope,
} from "../../../core/layers/workspace-bundle.ts";
import { StrataError, messageOf } from "../../../core/strata-error.ts";
import type { ScopedFiles } from "../scoped-files.ts";
import { isRefusal } from "../scoped-failure.ts";
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
  /** From the root, sorted, each once. */
  readonly extras: readonly string[];
}

export interface WorkspaceMetrics {
  readonly path: string;
  readonly hits: number;
  readonly misses: number;
  /** Times that something kept was dropped: after a change, by its age, or because the host said so. */
  readonly invalidations: number;
  /** Times that the disk was read. */
  readonly loads: number;
  readonly isWatched: boolean;
}

export interface RootSettings extends WatchSettings {
  readonly limits: BundleLimits;
  /** Nothing older is given out; 0 for no such limit. For file systems that tell of no changes. */
  readonly maxAgeMs: number;
  /** The same where there is no such limit and the root cannot be watched. */
  readonly unwatchedMaxAgeMs: number;
  /** Of roots, and of bundles of one root; what was not asked for the longest goes first. */
  readonly keptMax: number;
  readonly openFiles: (root: string) => Promise<WorkspaceFiles>;
}

export type WorkspaceFiles = Pick<ScopedFiles, "nameOf" | "readFile" | "stat">;

export function openWorkspaceRoot(path: string, settings: RootSettings): WorkspaceRoot {
  const { nowMs, limits } = settings;
  const entries = new Map<string, Entry>();
  const counts = { hits: 0, misses: 0, invalidations: 0, loads: 0 };

  const invalidate = (): void => {
    if (entries.size > 0) counts.invalidations += 1;
    // A load under way is forgotten with the rest: what it read may be from before the change.
    entries.clear();
  };

  const watch = openRootWatch(path, settings, {
    isConcerned: (changed) => [...entries.values()].some(({ extras }) => concerns(changed, extras)),
    onChange: invalidate,
  });

  const isTooOld = ({ startedMs }: Entry): boolean => {
    const isTrusted = settings.maxAgeMs > 0 || watch.isWatched();
    const maxAgeMs = isTrusted ? settings.maxAgeMs : settings.unwatchedMaxAgeMs;
    return maxAgeMs > 0 && nowMs() - startedMs >= maxAgeMs;
  };

  const read = async (request: RootRequest, entry: Entry): Promise<WorkspaceBundle> => {
    counts.loads += 1;
    const files = await settings.openFiles(path).catch((error: unknown) => {
      throw unusable(path, error);
    });
    const extras = spellExtras(files, request.extras);
    entry.extras = extras;
    // Watched first, so that no change falls between the reading and the watching.
    await watch.cover([...fixedDocuments, ...extras.filter((extra) => !isOutside(extra))]);
    return loadBundle(files, { root: path, scope: request.scope, extras, limits });
  };

  const start = (key: string, request: RootRequest): Promise<WorkspaceBundle> => {
    const loading = Promise.withResolvers<WorkspaceBundle>();
    const entry = openEntry(request, nowMs(), loading.promise);
    loading.resolve(read(request, entry));
    keep(entries, key, entry, settings.keptMax);
    entry.bundle.then(
      () => (entry.isLoaded = true),
      // Whoever waits is told; whoever comes next tries again.
      () => entries.get(key) === entry && entries.delete(key),
    );
    return entry.bundle;
  };

  return {
    load: (request) => {
      const key = JSON.stringify([request.scope, request.extras]);
      const entry = entries.get(key);
      if (entry?.isLoaded === true && !isTooOld(entry)) {
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

/** Makes it the one that was used last; gives those that were not used for the longest, and keeps them no more. */
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
  /** As they were asked for, then as the workspace spells them. */
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

/** Their folders are watched from the beginning, whether or not they exist. */
const fixedDocuments = ["AGENTS.md", ...stateFolders.map((folder) => `${folder}/MEMORY.md`)];

function unusable(path: string, cause: unknown): StrataError {
  const words = messageOf(cause);
  const problem = `the workspace ${path} cannot be opened: ${words}`;
  return isRefusal(cause)
    ? new StrataError("not-found", problem, "give a folder that exists and may be read", { cause })
    : new StrataError("environment-unfit", problem, "try again", { cause });
}
