// Folds: a compaction is a turn after the head whose summary stands for everything before the first kept turn.
import type { ContentHash } from "../hash.ts";
import type { JsonText } from "../message/message.ts";
import type { NewMessage } from "./turn-record.ts";

export interface NewFold {
  /** Of the compaction turn. */
  readonly id: string;
  readonly sessionId: string;
  /**
   * The head that is folded. Another head in the ledger is a conflict. Null where the first turn of a session
   * runs and folds itself.
   */
  readonly parentTurnId: string | null;
  /** What stands for the folded turns; read before the kept ones. */
  readonly messages: readonly NewMessage[];
  readonly details: NewFoldDetails;
  /** T0 to T2 from this fold on, kept once by hash; those of the fold before it, or of the session, by default. */
  readonly foundation?: string;
  /** What the session knows after the fold. */
  readonly stateJson?: JsonText;
}

/** Without them the first kept turn is whole, and there is no index. */
type WithDefaults = "firstKeptIndex" | "indexJson" | "metadataJson";

export type NewFoldDetails = Omit<FoldDetails, WithDefaults> &
  Partial<Pick<FoldDetails, WithDefaults>>;

/** X-32 and N-25, one row of `compactions_v1`. */
export interface FoldDetails {
  readonly compactedMs: number;
  readonly summary: string;
  readonly summarizedThroughTurnId: string;
  /** Null where nothing but the summary is kept. */
  readonly firstKeptTurnId: string | null;
  /** Messages of the first kept turn before this index are folded, too; 0 where it is whole. */
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
  /** How many turns and messages there were before, and where the kept part begins. */
  readonly headTurnCount: number;
  readonly tailStartIndex: number;
  /** The identifiers of what was folded. */
  readonly indexJson: JsonText | null;
  /** The numbers the decision was made with. */
  readonly metadataJson: JsonText | null;
}

export interface FoldRecord extends FoldDetails {
  readonly turnId: string;
  readonly sessionId: string;
  /** T0 to T2 from this fold on, whether it or one before it brought them; null where they are the session's. */
  readonly foundationHash: ContentHash | null;
}
