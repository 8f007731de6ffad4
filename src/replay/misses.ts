// Why a replayed call read less than it shares with the previous call.
import type { MissCause } from "../core/diagnosis/explanation.ts";
import type { CacheRules } from "../core/models/cache-rules.ts";
import type { Bill } from "../simulator/billing/bill.ts";
import type { RecordedBlock } from "./recording.ts";

export interface Miss {
  readonly cause: MissCause;
  /** Tokens shared with the previous call and not read. */
  readonly tokens: number;
  /** Excerpt of the first unread block; only with excerpts and recorded content. */
  readonly excerpt?: string;
}

/** How a call continues its thread. */
export interface Continuation {
  /** Every block of the request, as recorded. */
  readonly recorded: readonly RecordedBlock[];
  /** Prompt tokens that the thread's previous call sent too. */
  readonly sharedTokens: number;
  readonly frame: "same" | "model changed" | "parameter changed";
  /** Whether the previous prompt continued differently after the shared part. */
  readonly isRewritten: boolean;
  readonly gapMs: number;
}

/** Fewer tokens are no miss: the last block of a prompt often cannot carry a marker. */
const tokensMin = 64;

export function explainReplayMiss(
  bill: Bill,
  continuation: Continuation,
  rules: CacheRules,
): Miss | null {
  const { sharedTokens, recorded } = continuation;
  const tokens = sharedTokens - bill.readTokens;
  if (tokens < tokensMin) return null;
  const excerpt = recorded[(bill.hitBlock ?? -1) + 1]?.excerpt;
  const miss = { cause: causeOf(bill, continuation, rules), tokens };
  return excerpt === undefined ? miss : { ...miss, excerpt };
}

function causeOf(
  bill: Bill,
  { frame, isRewritten, gapMs, sharedTokens }: Continuation,
  { lifetimes, minimumTokens }: CacheRules,
): MissCause {
  if (frame !== "same") return frame;
  const isShort = sharedTokens < (minimumTokens ?? 0);
  const shortestLifetimeMs = (lifetimes[0]?.seconds ?? 0) * 1000;
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
      return isShort ? "below the minimum" : "nothing was marked";
    case "never written":
    case "stored prefix":
    case "hit":
      if (gapMs > shortestLifetimeMs) return "lifetime expired";
      return isRewritten ? "history rewritten" : "nothing was marked";
  }
}
