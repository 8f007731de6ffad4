// What a fold tells of: its beginning, its end, why it came to nothing, or why it did not begin (N-24).
import type { PayloadOf } from "../../events/event.ts";
import { toUsd } from "../../events/payload-spelling.ts";
import type { FoldTrigger } from "../../compaction/plan/decide-fold.ts";
import { hashContent } from "../../hash.ts";
import type { FoldDetails, NewFold } from "../../ledger/fold-record.ts";
import type { PreparedEvents, Teller } from "../../../engine/tell.ts";

export type SkipOutcome = PayloadOf<"compaction.skipped">["outcome"];

export interface FoldFailure {
  readonly errorClass: PayloadOf<"compaction.failed">["error_class"];
  readonly reasons: readonly string[];
  /** Null where it is not known, or was told already. */
  readonly costPicoUsd: bigint | null;
  readonly durationMs: number;
}

/** Of a fold that is made, what its record does not say. */
export interface FoldAuthor {
  /** Whether a model or the provider wrote what stands for the folded part. */
  readonly isWritten: boolean;
  /** Null where it is not known, or nobody was asked, or the attempts were told of by themselves. */
  readonly costPicoUsd: bigint | null;
}

export interface FoldEvents {
  started(sizes: Omit<PayloadOf<"compaction.started">, "trigger">): void;
  skipped(outcome: SkipOutcome): void;
  /** To be stored with the fold. */
  completed(fold: NewFold, author: FoldAuthor): PreparedEvents;
  failed(failure: FoldFailure): void;
}

export function createFoldEvents(teller: Teller, why: FoldTrigger): FoldEvents {
  const trigger = recordedTrigger(why);
  return {
    started: (sizes) => teller.tell({ type: "compaction.started", payload: { trigger, ...sizes } }),
    skipped: (outcome) =>
      teller.tell({ type: "compaction.skipped", payload: { trigger, outcome } }),
    completed: (fold, author) =>
      teller.prepare({ type: "compaction.completed", payload: toCompleted(fold, author) }),
    failed: ({ errorClass, reasons, costPicoUsd, durationMs }) =>
      teller.tell({
        type: "compaction.failed",
        payload: {
          trigger,
          outcome: "failed",
          error_class: errorClass,
          error_message_redacted: reasons.join("; "),
          cost_usd: costPicoUsd === null ? null : toUsd(costPicoUsd),
          duration_ms: durationMs,
        },
      }),
  };
}

/** As X-32 has them: what was asked for by size is one thing in the books. */
export function recordedTrigger(trigger: FoldTrigger): FoldDetails["trigger"] {
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

function toCompleted(
  { details }: NewFold,
  { isWritten, costPicoUsd }: FoldAuthor,
): PayloadOf<"compaction.completed"> {
  return {
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
  };
}
