// The events of a compaction: its beginning, its end, why it failed, or why it did not begin.
import type { EventBody, PayloadOf } from "../../events/event.ts";
import { toUsd } from "../../events/payload-spelling.ts";
import type {
  CompactionTrigger,
  CompactionDecision,
  CompactionNumbers,
} from "../../compaction/plan/decide-compaction.ts";
import { hashContent } from "../../hash.ts";
import type { CompactionDetails, NewCompaction } from "../../ledger/compaction-record.ts";
import type { Session } from "../../session/session.ts";
import type { Compacting } from "./compacting.ts";

export type SkipOutcome = PayloadOf<"compaction.skipped">["outcome"];

export interface CompactionFailure {
  readonly errorClass: PayloadOf<"compaction.failed">["error_class"];
  readonly reasons: readonly string[];
  /** Null if unknown, or if an earlier event has it. */
  readonly costPicoUsd: bigint | null;
  readonly durationMs: number;
}

export function compactionStarted(
  trigger: CompactionTrigger,
  sizes: Omit<PayloadOf<"compaction.started">, "trigger">,
): EventBody {
  return { type: "compaction.started", payload: { trigger: recordedTrigger(trigger), ...sizes } };
}

export function compactionSkipped(trigger: CompactionTrigger, outcome: SkipOutcome): EventBody {
  return { type: "compaction.skipped", payload: { trigger: recordedTrigger(trigger), outcome } };
}

export function compactionFailed(
  trigger: CompactionTrigger,
  { errorClass, reasons, costPicoUsd, durationMs }: CompactionFailure,
): EventBody {
  return {
    type: "compaction.failed",
    payload: {
      trigger: recordedTrigger(trigger),
      outcome: "failed",
      error_class: errorClass,
      error_message_redacted: reasons.join("; "),
      cost_usd: costPicoUsd === null ? null : toUsd(costPicoUsd),
      duration_ms: durationMs,
    },
  };
}

/** What the compaction's record does not contain. */
export interface CompactionAuthor {
  /** Whether a model or the provider wrote the notes. */
  readonly isWritten: boolean;
  /** Null if unknown, if no model was called, or if an earlier event has it. */
  readonly costPicoUsd: bigint | null;
}

export function compactionCompleted(
  { details }: NewCompaction,
  { isWritten, costPicoUsd }: CompactionAuthor,
): EventBody {
  return {
    type: "compaction.completed",
    payload: {
      trigger: details.trigger,
      outcome: details.kind === "selective" ? "tool_result_microcompact" : "ok",
      summarized_through_turn_id: details.summarizedThroughTurnId,
      first_kept_turn_id: details.firstKeptTurnId,
      turns_summarized: details.turnsSummarized,
      tokens_before: details.tokensBefore,
      tokens_after: details.tokensAfter,
      summary_tokens: details.summaryTokens,
      summary_hash: hashContent(details.summary),
      model: isWritten ? details.model : null,
      provider: isWritten ? details.provider : null,
      cost_usd: costPicoUsd === null ? null : toUsd(costPicoUsd),
      duration_ms: details.durationMs,
    },
  };
}

/** The trigger under the ledger's name. The ledger has one name for all triggers by size. */
export function recordedTrigger(trigger: CompactionTrigger): CompactionDetails["trigger"] {
  switch (trigger) {
    case "token_pressure":
    case "context_limit":
      return "context_limit";
    case "age":
      return "periodic";
    case "overflow_recovery":
    case "manual":
      return trigger;
  }
}

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
