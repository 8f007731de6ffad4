// The result of a turn: its messages, tool runs, usage and compaction.
import type { JsonText, MessageRecord } from "./message.ts";
import type { Usage } from "./usage.ts";

export interface TurnResult {
  /** In the order they were added. */
  readonly messages: readonly MessageRecord[];
  readonly toolCalls: readonly ToolCall[];
  /** Over every call of the turn. */
  readonly usage: Usage;
  readonly stopReason: StopReason;
  readonly durationMs: number;
  /** Set exactly when the stop reason is `error`, `timeout` or `aborted`. */
  readonly failure?: TurnFailure;
  /** Set if the turn had to compact the history to fit. */
  readonly compaction?: CompactionSummary;
}

export type StopReason = "end_turn" | "max_tokens" | "tool_use" | "timeout" | "aborted" | "error";

/** The list is closed: a new kind is a decision. */
export interface TurnFailure {
  readonly kind:
    | "context-overflow"
    | "auth-failure"
    | "rate-limit"
    | "model-error"
    | "timeout"
    | "compaction-failure"
    | "unknown";
  readonly message: string;
  readonly retryable: boolean;
}

export interface ToolCall {
  /** The id of the tool_use block. */
  readonly id: string;
  readonly toolName: string;
  readonly inputJson: JsonText;
  readonly status: "pending" | "running" | "completed" | "failed";
  readonly result?: string;
  readonly error?: string;
  readonly startedAtUs: number;
  readonly completedAtUs?: number;
  readonly sequence: number;
  /** The session a sub-agent tool opened. */
  readonly spawnedSessionLabel?: string;
}

/** One compaction, as the ledger stores it. */
export interface CompactionSummary {
  readonly summary: string;
  readonly trigger: "context_limit" | "overflow_recovery" | "manual" | "periodic";
  readonly kind: "summary" | "sliding_window" | "selective";
  readonly summarizedThroughTurnId: string;
  readonly firstKeptTurnId: string;
  readonly turnsSummarized: number;
  readonly model: string;
  readonly provider: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summaryTokens: number;
  readonly summarizationUsage: Usage;
  readonly durationMs: number;
}
