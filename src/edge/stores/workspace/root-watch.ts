// Keeps one root watched: through its replacement by another folder, through failures, and quietly after many changes.
import { stat } from "node:fs/promises";
import { openFolderWatch, type FolderWatch, type WatchFolder } from "./watch-folders.ts";

export interface RootWatch {
  /** Changes of these documents from now on are told, if the root can be watched. */
  cover(documents: readonly string[]): Promise<void>;
  isWatched(): boolean;
  close(): void;
}

export interface WatchSettings {
  /** False: nothing is watched, and ages alone decide. */
  readonly isWatching: boolean;
  /** From a change to the drop of what is kept; changes in between are one. */
  readonly watchDebounceMs: number;
  /** Watched per root. The folders of what is asked for are watched in any case. */
  readonly foldersMax: number;
  /** What a person should know. Each kind of problem is told once per root. */
  readonly report: (problem: WatchProblem) => void;
  /** Of a clock that never goes back. */
  readonly nowMs: () => number;
  readonly watch?: WatchFolder;
}

/** The list is closed: a new kind is a decision. */
export type WatchProblem =
  /** Changes are not seen; what is kept lives by its age until watching works again. */
  | { readonly kind: "watch-failed"; readonly root: string; readonly error: unknown }
  /** Changes in some folders are not seen. None of them holds a document that was asked for. */
  | {
      readonly kind: "watch-limited";
      readonly root: string;
      readonly folder: string;
      readonly error: unknown;
    };

export interface ChangeHandlers {
  readonly isConcerned: (path: string | null) => boolean;
  /** Some time after the first of the changes that concern anybody. */
  readonly onChange: () => void;
}

/** Watching that failed is tried again after this time, when somebody asks. */
const retryAfterMs = 60_000;

export function openRootWatch(
  root: string,
  settings: WatchSettings,
  { isConcerned, onChange }: ChangeHandlers,
): RootWatch {
  const changes = createDebounce(() => settings.watchDebounceMs, onChange);
  const tell = toOncePerKind(settings.report);
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
        tell({ kind: "watch-failed", root, error });
      },
      onLimit: (folder, error) => tell({ kind: "watch-limited", root, folder, error }),
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

/** Counts from the first change, not the last: what is written all the time is read all the same. */
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

/** A reporter that fails has nobody to report to, and must not fail whoever asked for a bundle. */
function toOncePerKind(report: WatchSettings["report"]): WatchSettings["report"] {
  const told = new Set<WatchProblem["kind"]>();
  return (problem) => {
    if (told.has(problem.kind)) return;
    told.add(problem.kind);
    try {
      report(problem);
    } catch {
      // Nothing can be done about it here.
    }
  };
}

/** Which folder it is, whatever its name; empty for none. */
async function identify(root: string): Promise<string> {
  const there = await stat(root, { bigint: true }).catch(() => null);
  return there === null ? "" : `${there.dev}:${there.ino}:${there.birthtimeNs}`;
}
