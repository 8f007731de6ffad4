// Fold rows ⇄ records.
import type { FoldRecord, NewFold } from "../../../core/ledger/fold-record.ts";
import type { Write } from "../sql/database.ts";
import { integer, money, oneOf, text, textOrNull } from "../sql/read-row.ts";
import type { ResultRow } from "../sql/database.ts";
import { storable } from "../sql/storable.ts";
import type { Row } from "../sql/tables.ts";
import { messageRow } from "./message-rows.ts";
import { moveRow } from "./session-rows.ts";
import { type Store } from "./store.ts";
import type { TurnPlace } from "./turn-rows.ts";

export function foldWrites(
  store: Store,
  fold: NewFold,
  place: TurnPlace,
  move: number,
): readonly Write[] {
  const { details, sessionId, messages } = fold;
  const rows = messages.map((message, index) =>
    messageRow(message, { ...place, index, callNumber: 0 }),
  );
  return [
    { into: "turns", rows: [foldTurnRow(fold, place)] },
    ...(rows.length === 0 ? [] : [{ into: "messages" as const, rows }]),
    { into: "compactions_v1", rows: [foldRow(fold)] },
    {
      into: "session_history",
      rows: [
        moveRow({
          sessionId,
          move,
          turnId: fold.id,
          branchId: place.branchId,
          movedMs: details.compactedMs,
          reason: "fold",
        }),
      ],
    },
  ];
}

function foldTurnRow({ id, parentTurnId, details }: NewFold, { branchId, seq }: TurnPlace): Row {
  return {
    id,
    branch_id: branchId,
    seq,
    parent_turn_id: parentTurnId,
    turn_type: "compaction",
    status: "completed",
    model: storable(details.model),
    provider: storable(details.provider),
    role: "unified",
    started_ms: details.compactedMs - details.durationMs,
    completed_ms: details.compactedMs,
  };
}

function foldRow({ id, sessionId, details }: NewFold): Row {
  return {
    session_id: sessionId,
    compacted_at: details.compactedMs,
    turn_id: id,
    head_turn_count: details.headTurnCount,
    tail_start_index: details.tailStartIndex,
    // The exact text is with the turn's messages; here it is for people, in what every database keeps.
    summary: storable(details.summary),
    model_used: storable(details.model),
    provider: storable(details.provider),
    input_tokens: details.inputTokens,
    output_tokens: details.outputTokens,
    cost_pico_usd: details.costPicoUsd,
    summarized_through_turn_id: details.summarizedThroughTurnId,
    first_kept_turn_id: details.firstKeptTurnId,
    turns_summarized: details.turnsSummarized,
    compaction_type: details.kind,
    trigger: details.trigger,
    tokens_before: details.tokensBefore,
    tokens_after: details.tokensAfter,
    summary_tokens: details.summaryTokens,
    duration_ms: details.durationMs,
  };
}

const kinds = ["summary", "sliding_window", "selective"] as const;

const triggers = ["context_limit", "overflow_recovery", "manual", "periodic"] as const;

export function toFold(row: ResultRow): FoldRecord {
  return {
    turnId: text(row, "turn_id"),
    sessionId: text(row, "session_id"),
    compactedMs: integer(row, "compacted_at"),
    summary: text(row, "summary"),
    summarizedThroughTurnId: text(row, "summarized_through_turn_id"),
    firstKeptTurnId: textOrNull(row, "first_kept_turn_id"),
    turnsSummarized: integer(row, "turns_summarized"),
    kind: oneOf(row, "compaction_type", kinds),
    trigger: oneOf(row, "trigger", triggers),
    model: text(row, "model_used"),
    provider: text(row, "provider"),
    tokensBefore: integer(row, "tokens_before"),
    tokensAfter: integer(row, "tokens_after"),
    summaryTokens: integer(row, "summary_tokens"),
    inputTokens: integer(row, "input_tokens"),
    outputTokens: integer(row, "output_tokens"),
    costPicoUsd: money(row, "cost_pico_usd"),
    durationMs: integer(row, "duration_ms"),
    headTurnCount: integer(row, "head_turn_count"),
    tailStartIndex: integer(row, "tail_start_index"),
  };
}
