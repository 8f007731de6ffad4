// How a turn ends, decided by its last reply.
import type { CallRecord } from "../ledger/call-entry.ts";
import type { ToolUseBlock } from "../message/message.ts";
import type { ReplyStop } from "../wire/reply.ts";

/** `cut off`: the reply ended inside or before a tool use that cannot be run. */
export type TurnEnding = "done" | "failed" | "cancelled" | "cut off" | "too many calls";

/** How a turn with this last reply ends; null if another call follows. */
export function endingOf(
  stopReason: ReplyStop | null,
  uses: readonly ToolUseBlock[],
): TurnEnding | null {
  if (uses.length > 0) return stopReason === "tool_use" ? null : "cut off";
  return stopReason === "pause_turn" ? null : "done";
}

/** The prompt is too long for the provider: a shorter one may work. */
export function isOverflow({ failure }: Pick<CallRecord, "failure">): boolean {
  return failure?.kind === "context-overflow" || failure?.kind === "request-too-large";
}
