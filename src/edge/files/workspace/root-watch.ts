// Watches one root: survives its replacement and failures, and merges many changes into one.
import { stat } from "node:fs/promises";
import { openFolderWatch, type FolderWatch, type WatchFolder } from "./watch-folders.ts";

export interface RootWatch {
  /** From now on, reports changes of these documents, if the root can be watched. */
  cover(documents: readonly string[]): Promise<void>;
  isWatched(): boolean;
  close(): void;
}

export interface WatchSettings {
  /** False: watches nothing; only ages decide. */
  readonly isWatching: boolean;
  /** From a change to dropping what is kept. Further changes in between count as one. */
  readonly watchDebounceMs: number;
  /** The limit per root. Folders of requested documents are always watched. */
  readonly foldersMax: number;
  /** Problems for people. Each kind is reported once per root. */
  readonly report: (problem: WatchProblem) => void;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  readonly watch?: WatchFolder;
}

/** The list is closed: a new kind is a decision. */
export type WatchProblem =
  /** Changes go unseen. Kept bundles expire by age until watching works again. */
  | { readonly kind: "watch-failed"; readonly root: string; readonly error: unknown }
  /** Changes in some folders go unseen. None of them contains a requested document. */
  | {
      readonly kind: "watch-limited";
      readonly root: string;
      readonly folder: string;
      readonly error: unknown;
    };

export interface ChangeHandlers {
  readonly isConcerned: (path: string | null) => boolean;
  /** Called some time after the first relevant change. */
  readonly onChange: () => void;
}

/** Failed watching is retried after this time, on the next request. */
const retryAfterMs = 60_000;

export function openRootWatch(
  root: string,
  settings: WatchSettings,
  { isConcerned, onChange }: ChangeHandlers,
): RootWatch {
  const changes = createDebounce(() => settings.watchDebounceMs, onChange);
  const reportOnce = toOncePerKind(settings.report);
  let folders: FolderWatch | null = null;
  let watched = "";
  let failedMs: number | null = null;
  let isClosed = false;

  const hear = (path: string | null): void => {
    if (isConcerned(path)) changes.hear();
  };

  const open = (): FolderWatch | null => {
    failedMs = null;
    const opened = openFolderWatch(root, {
      onChange: hear,
      onGone: () => {
        folders = null;
        hear(null);
      },
      onFailure: (error) => {
        folders = null;
        failedMs = settings.nowMs();
        reportOnce({ kind: "watch-failed", root, error });
      },
      onLimit: (folder, error) => reportOnce({ kind: "watch-limited", root, folder, error }),
      foldersMax: settings.foldersMax,
      ...(settings.watch === undefined ? {} : { watch: settings.watch }),
    });
    return failedMs === null ? opened : null;
  };

  return {
    cover: async (documents) => {
      if (!settings.isWatching) return;
      const now = await identify(root);
      if (isClosed) return;
      if (now !== watched) {
        folders?.close();
        folders = null;
        failedMs = null;
        watched = now;
      }
      if (now === "") return;
      if (failedMs !== null && settings.nowMs() - failedMs < retryAfterMs) return;
      folders ??= open();
      folders?.cover(documents);
    },
    isWatched: () => folders !== null,
    close: () => {
      isClosed = true;
      folders?.close();
      folders = null;
      changes.cancel();
    },
  };
}

/** Counts from the first change, not the last: a file that is written all the time is still read. */
function createDebounce(delayMs: () => number, run: () => void): { hear(): void; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  const fire = (): void => {
    timer = undefined;
    run();
  };
  return {
    hear: () => {
      timer ??= setTimeout(fire, delayMs()).unref();
    },
    cancel: () => clearTimeout(timer),
  };
}

/** A failing reporter must not fail the request. */
function toOncePerKind(report: WatchSettings["report"]): WatchSettings["report"] {
  const reported = new Set<WatchProblem["kind"]>();
  return (problem) => {
    if (reported.has(problem.kind)) return;
    reported.add(problem.kind);
    try {
      report(problem);
    } catch {
      // The reporter itself failed.
    }
  };
}

/** The identity of the folder, whatever its name. Empty for none. */
async function identify(root: string): Promise<string> {
  const there = await stat(root, { bigint: true }).catch(() => null);
  return there === null ? "" : `${there.dev}:${there.ino}:${there.birthtimeNs}`;
}
