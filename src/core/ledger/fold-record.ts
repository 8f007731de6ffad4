// Folds: a compaction is a turn after the head whose summary stands for everything before the first kept turn.
import type { NewMessage } from "./turn-record.ts";

export interface NewFold {
  /** Of the compaction turn. */
  readonly id: string;
  readonly sessionId: string;
  /** The head that is folded. Another head in the ledger is a conflict. */
  readonly parentTurnId: string;
  /** What stands for the folded turns; read before the kept ones. */
  readonly messages: readonly NewMessage[];
  readonly details: FoldDetails;
}

/** X-32 and N-25, one row of `compactions_v1`. */
export interface FoldDetails {
  readonly compactedMs: number;
  readonly summary: string;
  readonly summarizedThroughTurnId: string;
  /** Null where nothing but the summary is kept. */
  readonly firstKeptTurnId: string | null;
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
  /** How many turns and messages there were before, and where the kept part begins (N-25). */
  readonly headTurnCount: number;
  readonly tailStartIndex: number;
}

export interface FoldRecord extends FoldDetails {
  readonly turnId: string;
  readonly sessionId: string;
}
