// What an application runs before and after compactions. Its errors are told and hinder none.
import type { CompactionTrigger } from "../../core/compaction/plan/decide-compaction.ts";
import { messageOf } from "../../core/strata-error.ts";

/** Both may be asynchronous. All hooks run together, and the compaction waits for them. */
export interface CompactionHook {
  /** The session is locked, and nothing is written yet. */
  readonly before?: (about: CompactionAbout) => unknown;
  /** Also after a compaction that failed. */
  readonly after?: (about: CompactionEnd) => unknown;
}

export interface CompactionAbout {
  readonly sessionId: string;
  /** The turn that runs; null between turns. */
  readonly turnId: string | null;
  readonly trigger: CompactionTrigger;
}

export interface CompactionEnd extends CompactionAbout {
  readonly isCompacted: boolean;
  /** Why the history stays as it was; null if it was compacted. */
  readonly why: string | null;
}

export interface CompactionHooks {
  readonly all: readonly CompactionHook[];
  readonly onNotice: (notice: string) => void;
}

export function runBefore(
  hooks: CompactionHooks | undefined,
  about: CompactionAbout,
): Promise<void> {
  return runAll(hooks, "before", (hook) => hook.before?.(about));
}

export function runAfter(hooks: CompactionHooks | undefined, end: CompactionEnd): Promise<void> {
  return runAll(hooks, "after", (hook) => hook.after?.(end));
}

async function runAll(
  hooks: CompactionHooks | undefined,
  when: "before" | "after",
  run: (hook: CompactionHook) => unknown,
): Promise<void> {
  if (hooks === undefined) return;
  const ended = await Promise.allSettled(hooks.all.map(async (hook) => run(hook)));
  for (const each of ended) {
    if (each.status === "fulfilled") continue;
    hooks.onNotice(`a hook ${when} a compaction failed: ${messageOf(each.reason)}`);
  }
}
