// The events of a compaction: its beginning, its end, why it failed, or why it did not begin.
import type { EventBody, PayloadOf } from "../../events/event.ts";
import { toUsd } from "../../events/payload-spelling.ts";
import type {
  CompactionTrigger,
  CompactionDecision,
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

/** `isWritten`: a model or the provider wrote the notes. The cost is null if unknown. */
export function compactionCompleted(
  details: NewCompaction["details"],
  isWritten: boolean,
  costPicoUsd: bigint | null,
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
      cost_usd: !isWritten || costPicoUsd === null ? null : toUsd(costPicoUsd),
      duration_ms: details.durationMs,
    },
  };
}

/** One tool result that was cut to its share of the window. */
export function resultTruncated(tokensBefore: number, tokensAfter: number): EventBody {
  return {
    type: "compaction.completed",
    payload: { ...nothingSummarised, tokens_before: tokensBefore, tokens_after: tokensAfter },
  };
}

const nothingSummarised: PayloadOf<"compaction.completed"> = {
  trigger: "context_limit",
  outcome: "tool_result_truncated",
  summarized_through_turn_id: null,
  first_kept_turn_id: null,
  turns_summarized: 0,
  tokens_before: 0,
  tokens_after: 0,
  summary_tokens: 0,
  summary_hash: null,
  model: null,
  provider: null,
  cost_usd: null,
  duration_ms: 0,
};

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
  decision: Omit<Extract<CompactionDecision, { readonly isDue: false }>, "weighing">,
): Pick<Compacting, "at" | "news"> {
  const { trigger, reason } = decision;
  const skipped = skipOutcomes[reason];
  const { lastSkip } = session.compactionState;
  const isNews = trigger !== null && skipped !== undefined && lastSkip !== skipped;
  const outcome = {
    kind: "unchanged",
    session: isNews
      ? { ...session, compactionState: { ...session.compactionState, lastSkip: skipped } }
      : session,
    why: reason,
    isTight: isTight(decision) || reason === "memory leaves first",
    spent: [],
  } as const;
  return {
    news: isNews ? [compactionSkipped(trigger, skipped)] : [],
    at: { after: "end", outcome },
  };
}

/** The prompt does not fit the window, and no compaction was requested. */
export function isTight({
  trigger,
  numbers,
}: Pick<CompactionDecision, "trigger" | "numbers">): boolean {
  return trigger === "context_limit" && numbers.usedTokens >= numbers.availableTokens;
}

const skipOutcomes: Readonly<Partial<Record<string, SkipOutcome>>> = {
  "no boundary": "no_boundary",
  "memory leaves first": "memory_left_out",
  "too soon": "too_soon",
  "breaker open": "breaker_open",
  ineffective: "breaker_open",
  "too often": "breaker_open",
};
