// Why a replayed call read less than it shared with the call before it.
import type { MissCause } from "../core/diagnosis/explanation.ts";
import type { Bill } from "../simulator/index.ts";
import type { RecordedBlock } from "./recording.ts";

export interface Miss {
  readonly cause: MissCause;
  /** Shared with the call before and not read. */
  readonly tokens: number;
  /** Of the first block that was not read; only where excerpts were asked for and the recording has content. */
  readonly excerpt?: string;
}

export interface Circumstances {
  readonly bill: Bill;
  /** Tokens of the prompt that the call before on this thread sent too. */
  readonly sharedTokens: number;
  readonly frame: "same" | "model changed" | "parameter changed";
  /** Whether the call before went on after what is shared. */
  readonly isRewritten: boolean;
  readonly gapMs: number;
  readonly shortestLifetimeMs: number;
  /** The first block that was not read; undefined where all were. */
  readonly firstUnread: Pick<RecordedBlock, "excerpt"> | undefined;
}

/** Fewer tokens than this are rounding: the last block of a prompt is often one nobody can mark. */
const tokensMin = 64;

export function explainReplayMiss(circumstances: Circumstances): Miss | null {
  const { bill, sharedTokens, firstUnread } = circumstances;
  const tokens = sharedTokens - bill.readTokens;
  if (tokens < tokensMin) return null;
  const excerpt = firstUnread?.excerpt;
  const miss = { cause: causeOf(circumstances), tokens };
  return excerpt === undefined ? miss : { ...miss, excerpt };
}

function causeOf({
  bill,
  frame,
  isRewritten,
  gapMs,
  shortestLifetimeMs,
}: Circumstances): MissCause {
  if (frame !== "same") return frame;
  switch (bill.reason.kind) {
    case "expired":
      return "lifetime expired";
    case "below the minimum":
      return "below the minimum";
    case "beyond lookback":
      return "beyond lookback";
    case "not readable yet":
      return "written concurrently";
    case "no marker":
      return "nothing was marked";
    case "never written":
    case "hit":
      if (gapMs > shortestLifetimeMs) return "lifetime expired";
      return isRewritten ? "history rewritten" : "nothing was marked";
  }
}
