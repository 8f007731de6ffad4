// What a recording does not hold shows in the bills: a prompt that shrank, and a foundation that nobody could read.
import { promptTokens, type Usage } from "../core/message/usage.ts";
import type { MissCause } from "../core/diagnosis/explanation.ts";
import type { RecordedBlock } from "./recording.ts";

export interface UnseenChange {
  readonly cause: Extract<MissCause, "history rewritten" | "parameter changed" | "system changed">;
  readonly detail: string;
}

/** Two calls on one thread, of which the second read less than the recording accounts for. */
export interface UnseenQuestion {
  readonly before: Usage;
  readonly now: Usage;
  /** All blocks of the call as recorded. */
  readonly blocks: readonly RecordedBlock[];
  /** Those of them that the call before did not have. */
  readonly appended: readonly RecordedBlock[];
  /** How far counts of ours may be off: a share of what they count. */
  readonly countErrorShare: number;
}

/** Null where the bills show nothing. */
export function findUnseenChange(question: UnseenQuestion): UnseenChange | null {
  const { blocks, appended, now } = question;
  const isUserTurn = appended.at(-1)?.role === "user" && appended.at(-1)?.kind === "text";
  const missing = missingTokens(question);
  if (missing > 0) {
    const thought = blocks.some(({ kind }) => kind === "thinking" || kind === "redacted_thinking");
    const size = `${missing} tokens of the history were not sent again`;
    return isUserTurn && thought
      ? { cause: "parameter changed", detail: `user turn after thinking: ${size}` }
      : { cause: "history rewritten", detail: size };
  }
  // Tools are in every agent's prompt: where none are recorded, what comes before the messages is not.
  const isHidden = !blocks.some(({ tier }) => tier === "T0");
  if (isUserTurn && isHidden && now.cacheReadTokens === 0) {
    const detail = "not even tools and system were read, which the recording does not hold";
    return { cause: "system changed", detail };
  }
  return null;
}

/** Fewer are envelopes and rounding. */
const missingTokensMin = 64;

/** By how much the prompt grew less than what was appended to it. */
function missingTokens({ before, now, appended, countErrorShare }: UnseenQuestion): number {
  const counted = appended.reduce((sum, { tokens }) => sum + tokens, 0);
  const missing = counted - (promptTokens(now) - promptTokens(before));
  return missing > Math.max(missingTokensMin, counted * countErrorShare) ? missing : 0;
}
