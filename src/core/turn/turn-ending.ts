// How a turn ends, by its last reply.
import type { CallRecord } from "../ledger/call-entry.ts";
import type { ToolUseBlock } from "../message/message.ts";
import type { ReplyStop } from "../wire/reply.ts";

/** `cut off`: the reply ended inside or before a tool use that cannot be run. */
export type TurnEnding = "done" | "failed" | "cancelled" | "cut off" | "too many calls";

/** How a turn with this last reply ends; null where another call follows. */
export function endingOf(
  stopReason: ReplyStop | null,
  uses: readonly ToolUseBlock[],
): TurnEnding | null {
  if (uses.length > 0) return stopReason === "tool_use" ? null : "cut off";
  return stopReason === "pause_turn" ? null : "done";
}

/** The provider takes less than it was sent: a shorter prompt may do better. */
export function isOverflow({ failure }: Pick<CallRecord, "failure">): boolean {
  return failure?.kind === "context-overflow" || failure?.kind === "request-too-large";
}
