// One recorded call with its bill, and why it read less than it could have.
import type { Explanation } from "../../core/diagnosis/explanation.ts";
import type { Usage } from "../../core/message/usage.ts";
import type { UnreadBlock } from "./first-unread.ts";
import type { Verdict } from "./judge-call.ts";

export interface ExplainedCall {
  readonly sessionId: string;
  readonly file: string;
  /** Within its session, from 1. */
  readonly call: number;
  /** Empty for the main thread. */
  readonly thread: string;
  readonly model: string;
  /** Null if the recording has no time. */
  readonly startMs: number | null;
  /** Since the start of the thread's previous call; null for the first call or without times. */
  readonly gapMs: number | null;
  readonly usage: Usage;
  /** Tokens that the thread's previous call left readable and this call did not read, sent again or not. */
  readonly shortfallTokens: number;
  readonly explanation: Explanation;
  /** For a miss, the first unread block; only with excerpts and recorded content. */
  readonly firstUnread?: UnreadBlock;
  /** Whether the cause follows from recorded blocks, or is inferred from bills and replies. */
  readonly evidence: Verdict["evidence"];
}

export function isMiss({ cause }: Pick<Explanation, "cause">): boolean {
  return cause !== "no miss" && cause !== "first call";
}
