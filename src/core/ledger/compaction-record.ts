// Compactions: a turn after the head whose summary replaces everything before the first kept turn.
import type { ContentHash } from "../hash.ts";
import type { JsonText } from "../message/message.ts";
import type { NewMessage } from "./turn-record.ts";

export interface NewCompaction {
  /** The id of the compaction turn. */
  readonly id: string;
  readonly sessionId: string;
  /** The compacted head. Another head is a conflict. Null if the first turn of a session compacts itself. */
  readonly parentTurnId: string | null;
  /** Replaces the compacted turns, before the kept ones. */
  readonly messages: readonly NewMessage[];
  readonly details: NewCompactionDetails;
  /** T0 to T2 from here on, stored once by hash. Default: those of the compaction before, or of the session. */
  readonly foundation?: string;
  /** The session's state after the compaction. */
  readonly stateJson?: JsonText;
}

/** By default the first kept turn is complete, and there is no index. */
type WithDefaults = "firstKeptIndex" | "indexJson" | "metadataJson";

export type NewCompactionDetails = Omit<CompactionDetails, WithDefaults> &
  Partial<Pick<CompactionDetails, WithDefaults>>;

/** One row of `compactions_v1`. */
export interface CompactionDetails {
  readonly compactedMs: number;
  readonly summary: string;
  readonly summarizedThroughTurnId: string;
  /** Null if only the summary is kept. */
  readonly firstKeptTurnId: string | null;
  /** Messages of the first kept turn before this index are compacted too. 0 if the turn is complete. */
  readonly firstKeptIndex: number;
  readonly turnsSummarized: number;
  readonly kind: "summary" | "sliding_window" | "selective";
  readonly trigger: "context_limit" | "overflow_recovery" | "manual" | "periodic";
  readonly model: string;
  readonly provider: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summaryTokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costPicoUsd: bigint;
  readonly durationMs: number;
  /** The number of turns before, and where the kept part begins. */
  readonly headTurnCount: number;
  readonly tailStartIndex: number;
  /** The identifiers in the compacted part. */
  readonly indexJson: JsonText | null;
  /** The numbers behind the decision. */
  readonly metadataJson: JsonText | null;
}

export interface CompactionRecord extends CompactionDetails {
  readonly turnId: string;
  readonly sessionId: string;
  /** T0 to T2 from here on, set by this or an earlier compaction. Null if they are the session's. */
  readonly foundationHash: ContentHash | null;
}
