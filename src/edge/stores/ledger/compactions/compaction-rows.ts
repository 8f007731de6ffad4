// Converts compaction rows to records and back.
import { hashContent, type ContentHash } from "../../../../core/hash.ts";
import type { CompactionRecord, NewCompaction } from "../../../../core/ledger/compaction-record.ts";
import type { Write } from "../../sql/database.ts";
import { integer, money, oneOf, text, textOrNull } from "../../sql/read-row.ts";
import type { ResultRow } from "../../sql/database.ts";
import { storable, storableJson } from "../../sql/storable.ts";
import { selected, type Row } from "../../sql/tables.ts";
import { contentWrites, messageRow, messageWrites } from "../message-rows.ts";
import type { Store } from "../store.ts";
import type { TurnPlace } from "../turns/turn-rows.ts";

export interface CompactionPlace {
  readonly place: TurnPlace;
  /** The number of the session's pointer move. */
  readonly move: number;
  /** The compaction before it on the thread. */
  readonly before: Pick<CompactionRecord, "foundationHash"> | null;
}

export function compactionWrites(
  store: Store,
  compaction: NewCompaction,
  { place, move, before }: CompactionPlace,
): readonly Write[] {
  const { details, sessionId, messages, foundation } = compaction;
  const foundationHash =
    foundation === undefined ? (before?.foundationHash ?? null) : hashContent(foundation);
  const rows = messages.map((message, index) =>
    messageRow(store, message, { ...place, index, callNumber: 0 }),
  );
  return [
    { into: "turns", rows: [compactionTurnRow(compaction, place)] },
    ...messageWrites(rows, messages),
    ...contentWrites(foundation === undefined ? [] : [foundation]),
    { into: "compactions_v1", rows: [compactionRow(compaction, foundationHash)] },
    {
      into: "session_history",
      rows: [
        {
          session_id: sessionId,
          move,
          turn_id: compaction.id,
          branch_id: place.branchId,
          moved_ms: details.compactedMs,
          reason: "fold",
        },
      ],
    },
  ];
}

function compactionTurnRow(
  { id, parentTurnId, details }: NewCompaction,
  { branchId, seq }: TurnPlace,
): Row {
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

function compactionRow(
  { id, sessionId, details }: NewCompaction,
  foundationHash: ContentHash | null,
): Row {
  return {
    session_id: sessionId,
    compacted_at: details.compactedMs,
    turn_id: id,
    head_turn_count: details.headTurnCount,
    tail_start_index: details.tailStartIndex,
    // The exact text is with the turn's messages. This copy is for people, in characters every database stores.
    summary: storable(details.summary),
    model_used: storable(details.model),
    provider: storable(details.provider),
    input_tokens: details.inputTokens,
    output_tokens: details.outputTokens,
    cost_pico_usd: details.costPicoUsd,
    summarized_through_turn_id: details.summarizedThroughTurnId,
    first_kept_turn_id: details.firstKeptTurnId,
    first_kept_index: details.firstKeptIndex ?? 0,
    turns_summarized: details.turnsSummarized,
    compaction_type: details.kind,
    trigger: details.trigger,
    tokens_before: details.tokensBefore,
    tokens_after: details.tokensAfter,
    summary_tokens: details.summaryTokens,
    duration_ms: details.durationMs,
    index_json: storableJson(details.indexJson ?? undefined),
    metadata_json: storableJson(details.metadataJson ?? undefined),
    foundation_hash: foundationHash,
  };
}

export const compactionColumns: string = selected("compactions_v1", "c");

const kinds = ["summary", "sliding_window", "selective"] as const;

const triggers = ["context_limit", "overflow_recovery", "manual", "periodic"] as const;

export function toCompaction(row: ResultRow): CompactionRecord {
  return {
    turnId: text(row, "turn_id"),
    sessionId: text(row, "session_id"),
    compactedMs: integer(row, "compacted_at"),
    summary: text(row, "summary"),
    summarizedThroughTurnId: text(row, "summarized_through_turn_id"),
    firstKeptTurnId: textOrNull(row, "first_kept_turn_id"),
    firstKeptIndex: integer(row, "first_kept_index"),
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
    indexJson: textOrNull(row, "index_json"),
    metadataJson: textOrNull(row, "metadata_json"),
    foundationHash: textOrNull(row, "foundation_hash"),
  };
}
