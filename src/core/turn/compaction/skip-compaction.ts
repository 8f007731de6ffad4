// A compaction that does not begin: the event says so once, not again with every call.
import type {
  CompactionDecision,
  CompactionNumbers,
} from "../../compaction/plan/decide-compaction.ts";
import type { Session } from "../../session/session.ts";
import type { Compacting } from "./compacting.ts";
import { compactionSkipped, type SkipOutcome } from "./compaction-events.ts";

export function skip(
  session: Session,
  { trigger, reason, numbers }: Extract<CompactionDecision, { readonly isDue: false }>,
): Pick<Compacting, "at" | "news"> {
  const isTight = trigger === "context_limit" && isFull(numbers);
  const skipped = skipOutcomes[reason];
  const isNews = skipped !== undefined && session.compactionState.lastSkip !== skipped;
  const unchanged = { kind: "unchanged", why: reason, isTight, spent: [] } as const;
  if (trigger === null || !isNews) {
    return { news: [], at: { after: "end", outcome: { ...unchanged, session } } };
  }
  const next = { ...session, compactionState: { ...session.compactionState, lastSkip: skipped } };
  return {
    news: [compactionSkipped(trigger, skipped)],
    at: { after: "end", outcome: { ...unchanged, session: next } },
  };
}

export function isFull({ usedTokens, availableTokens }: CompactionNumbers): boolean {
  return usedTokens >= availableTokens;
}

const skipOutcomes: Readonly<Partial<Record<string, SkipOutcome>>> = {
  "no boundary": "no_boundary",
  "too soon": "too_soon",
  "breaker open": "breaker_open",
  ineffective: "breaker_open",
  "too often": "breaker_open",
};
