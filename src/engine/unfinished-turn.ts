// A turn that a dead process left open, as far as it came.
import { appendMessages } from "../core/assembly/thread.ts";
import type { CallRecord } from "../core/ledger/call-entry.ts";
import type { ThreadMessage } from "../core/ledger/turn-record.ts";
import type { ToolUseBlock } from "../core/message/message.ts";
import { StrataError } from "../core/strata-error.ts";
import type { Edges, TurnEnding } from "../engine.ts";
import { answerTools } from "./answer-tools.ts";
import type { RunningTurn } from "./record-turn.ts";
import type { Session } from "./session.ts";

export interface UnfinishedRun {
  readonly turn: Omit<RunningTurn, "volatile" | "callsMax">;
  /** Set where all that was missing is the closing. */
  readonly ending: TurnEnding | null;
}

/** Takes the turn over. Tools whose answers were not recorded are run again. */
export async function loadUnfinished(
  before: Session,
  { ledger, runTools }: Pick<Edges, "ledger" | "runTools">,
): Promise<UnfinishedRun> {
  const found = await ledger.findUnfinished(before.id);
  if (found === null) {
    throw new StrataError(
      "conflict",
      `session ${before.id} has no turn to resume: it is closed, or somebody works on it`,
      "run a new turn, or wait until the other one is closed",
    );
  }
  const { turn, calls, messages } = found;
  const open = await ledger.resumeTurn(before.id);
  const callCount = calls.length;
  const staged = messages.filter(({ callNumber }) => callNumber === callCount + 1);
  const said = messages.filter((each) => each.isReplayed && each.callNumber <= callCount);
  const thread = appendMessages(before.thread, said.map(toMessage));
  const base = {
    id: turn.id,
    before,
    session: { ...before, thread },
    open,
    context: null,
    callCount,
  };
  const ending = endingOf(calls.at(-1));
  if (ending !== null || staged.length > 0) {
    return { turn: { ...base, current: staged.map(toMessage), isStaged: true }, ending };
  }
  const uses = unansweredUses(said);
  const current = uses.length === 0 ? [] : await answerTools(uses, runTools);
  return { turn: { ...base, current, isStaged: false }, ending };
}

/** How a turn with this last call ends; null where another call follows. */
function endingOf(last: CallRecord | undefined): TurnEnding | null {
  if (last === undefined) return null;
  if (last.status !== "complete") return "failed";
  return last.stopReason === "tool_use" || last.stopReason === "pause_turn" ? null : "done";
}

function toMessage({ message }: ThreadMessage): ThreadMessage["message"] {
  return message;
}

function unansweredUses(said: readonly ThreadMessage[]): readonly ToolUseBlock[] {
  const reply = said.findLast(({ message }) => message.role === "assistant");
  return reply?.message.content.filter((block) => block.type === "tool_use") ?? [];
}
