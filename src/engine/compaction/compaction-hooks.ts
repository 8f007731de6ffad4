// Hooks of the application before and after compactions. Their errors become notices and stop nothing.
import type { CompactionTrigger } from "../../core/compaction/plan/decide-compaction.ts";
import { messageOf } from "../../core/strata-error.ts";

/** Both may be asynchronous. All hooks run together, and the compaction waits for them, for at most 30 seconds. */
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

/** A hook that takes longer is no longer waited for. */
const hookMsMax = 30_000;

export function runBefore(
  hooks: CompactionHooks | undefined,
  about: CompactionAbout,
  signal: AbortSignal | undefined,
): Promise<void> {
  return runAll(hooks, { when: "before", signal }, (hook) => hook.before?.(about));
}

export function runAfter(
  hooks: CompactionHooks | undefined,
  end: CompactionEnd,
  signal: AbortSignal | undefined,
): Promise<void> {
  return runAll(hooks, { when: "after", signal }, (hook) => hook.after?.(end));
}

async function runAll(
  hooks: CompactionHooks | undefined,
  { when, signal }: { readonly when: "before" | "after"; readonly signal: AbortSignal | undefined },
  run: (hook: CompactionHook) => unknown,
): Promise<void> {
  if (hooks === undefined) return;
  const stop = AbortSignal.any([AbortSignal.timeout(hookMsMax), ...(signal ? [signal] : [])]);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  stopped.catch(() => {});
  const why = new Error(`it was not over in ${hookMsMax / 1000} seconds, or the work was aborted`);
  if (stop.aborted) reject(why);
  stop.addEventListener("abort", () => reject(why), { once: true });
  const ended = await Promise.allSettled(
    hooks.all.map((hook) => Promise.race([(async () => run(hook))(), stopped])),
  );
  for (const each of ended) {
    if (each.status === "fulfilled") continue;
    hooks.onNotice(`a hook ${when} a compaction failed: ${messageOf(each.reason)}`);
  }
}
