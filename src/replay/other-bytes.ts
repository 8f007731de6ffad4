// The requests of a workspace with other bytes than its recordings show: with the breaks that only bills show, and without any.
import type { Policy } from "../core/cache/policy.ts";
import {
  createBreaks,
  createFrozenBeginning,
  type BreakingBytes,
  type ByteChange,
  images,
} from "./changed-bytes.ts";
import type { ReplayOptions } from "./books.ts";
import type { Placed } from "./place-in-time.ts";
import { openWorkspaceReplay, type ReplayedRequest } from "./replay-workspace.ts";

/** One request three times; the same value where the bytes are the same. */
export interface ByBytes {
  readonly asShown: ReplayedRequest<Placed>;
  /** With the changes that the recording does not show, at the calls whose bills show them. */
  readonly withBreaks: ReplayedRequest<Placed>;
  /** With tools, system text and settings as first sent. Its outcome is that of the plan alone. */
  readonly unchanged: Pick<ReplayedRequest<Placed>, "outcomes">;
}

/** The policy that stands for what the same sessions would have cost. */
export function planIndex(policies: readonly Pick<Policy, "name">[]): number {
  return Math.max(
    0,
    policies.findIndex(({ name }) => name === "adaptive"),
  );
}

/** Takes the requests of the workspace in order of time. */
export function openOtherBytes(
  name: string,
  marked: readonly Placed[],
  { policies, billing }: ReplayOptions,
): (asShown: ReplayedRequest<Placed>) => ByBytes {
  const plan = planIndex(policies);
  const breaking = marked.some(isUnseenChange)
    ? openBreaking(openWorkspaceReplay<Placed>(name, policies, undefined, billing))
    : null;
  const freezing = marked.some(isSeenChange)
    ? openFreezing(
        openWorkspaceReplay<Placed>(name, policies.slice(plan, plan + 1), undefined, billing),
      )
    : null;
  return (asShown) => ({
    asShown,
    withBreaks: breaking?.(asShown.timed) ?? asShown,
    unchanged: freezing?.(asShown.timed) ?? { outcomes: asShown.outcomes.slice(plan, plan + 1) },
  });
}

type Run = (timed: Placed) => ReplayedRequest<Placed>;

function openBreaking(run: Run): Run {
  const threads = new Map<string, BreakingBytes>();
  return (timed) => {
    const { thread, usage } = timed.request;
    const bytes = threads.get(thread) ?? createBreaks(thread);
    threads.set(thread, bytes);
    const read = isUnseenChange(timed) ? (usage?.cacheReadTokens ?? null) : null;
    return run({ ...timed, request: bytes.next(timed.request, read) });
  };
}

function openFreezing(run: Run): Run {
  const threads = new Map<string, ByteChange>();
  return (timed) => {
    const { thread } = timed.request;
    const bytes = threads.get(thread) ?? createFrozenBeginning();
    threads.set(thread, bytes);
    return run({ ...timed, request: bytes.next(timed.request) });
  };
}

/** A recorded call that read less for a reason which is not in the recording. */
export function isUnseenChange({ explained }: Pick<Placed, "explained">): boolean {
  if (explained === null) return false;
  const { cause } = explained.explanation;
  if (cause === "provider lost it" || cause === "another host") return true;
  return explained.evidence === "inferred" && unseenCauses.has(cause);
}

const unseenCauses: ReadonlySet<string> = new Set([
  "system changed",
  "tools changed",
  "parameter changed",
  "history rewritten",
  "changed after the head",
]);

/** A change before the messages, or of a setting, that the recording shows. */
function isSeenChange({ explained }: Placed): boolean {
  if (explained === null || explained.evidence === "inferred") return false;
  // Whether a history holds images follows from its messages, which stay.
  if (explained.explanation.detail?.startsWith(images) === true) return false;
  return seenCauses.has(explained.explanation.cause);
}

const seenCauses: ReadonlySet<string> = new Set([
  "tools changed",
  "tools reordered",
  "system changed",
  "parameter changed",
]);
