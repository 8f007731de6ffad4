// A turn that a dead process left open, as far as it came.
import { appendMessages } from "../core/assembly/thread.ts";
import type { CallEntry, CallRecord } from "../core/ledger/call-entry.ts";
import type { OpenTurn } from "../core/ledger/ledger.ts";
import type { ThreadMessage, TurnRecord } from "../core/ledger/turn-record.ts";
import type { ToolUseBlock } from "../core/message/message.ts";
import { StrataError } from "../core/strata-error.ts";
import { endingOf, isOverflow, type TurnEnding } from "../core/turn/turn-ending.ts";
import type { Edges } from "./edges.ts";
import { answerTools } from "./answer-tools.ts";
import { callOf, type RunningTurn } from "./record-turn.ts";
import type { Session } from "../core/session/session.ts";

export interface UnfinishedRun {
  readonly turn: Omit<RunningTurn, "volatile" | "callsMax">;
  /** Set where all that was missing is the closing. */
  readonly ending: TurnEnding | null;
  /** When it was told the time first; null where that was not recorded. */
  readonly toldMs: number | null;
  /** Made before, oldest first; what they sent is not read again. */
  readonly calls: readonly CallEntry[];
}

/** Takes the turn over. Tools whose answers were not recorded are run again. */
export async function loadUnfinished(
  before: Session,
  edges: Pick<Edges, "ledger" | "runTools" | "signal">,
): Promise<UnfinishedRun> {
  const { ledger } = edges;
  const found = await ledger.findUnfinished(before.id);
  if (found === null) {
    throw new StrataError(
      "conflict",
      `session ${before.id} has no turn to resume: it is closed, or somebody works on it`,
      "run a new turn, or wait until the other one is closed",
    );
  }
  checkHead(before, found.turn);
  checkModel(before, found.turn);
  const open = await ledger.resumeTurn(before.id);
  try {
    return await readRun(before, open, edges);
  } catch (error) {
    await open.release().catch(() => {});
    throw error;
  }
}

/** A session that was read before others went on would send another conversation. */
function checkHead({ id, headTurnId }: Session, turn: TurnRecord): void {
  if (headTurnId === turn.parentTurnId) return;
  throw new StrataError(
    "conflict",
    `session ${id} has moved on: turn ${turn.id} follows ${turn.parentTurnId ?? "no turn"}, not ${headTurnId ?? "no turn"}`,
    "resume the session from the ledger, then its turn",
  );
}

/** Its bytes are for the model it was opened with. */
function checkModel({ id, model }: Session, turn: TurnRecord): void {
  if (model.id === turn.model && model.provider === turn.provider) return;
  throw new StrataError(
    "conflict",
    `turn ${turn.id} of session ${id} is with ${turn.provider}/${turn.model}, not with ${model.provider}/${model.id}`,
    "resume the session from the ledger with that model, then its turn",
  );
}

/** Read once the turn is ours: nobody adds to it any more. */
async function readRun(
  before: Session,
  open: OpenTurn,
  edges: Pick<Edges, "ledger" | "runTools" | "signal">,
): Promise<UnfinishedRun> {
  const { ledger, runTools } = edges;
  const recorded = await ledger.readMessages(open.id);
  const calls = (await ledger.readCalls(open.id)).map((call) => withReply(call, recorded));
  const messages = recorded.filter((each) => each.isReplayed);
  const fold = await ledger.findFold({ turnId: open.id });
  const from = fold?.firstKeptTurnId === open.id ? fold.firstKeptIndex : 0;
  const toldMs = toldIn(recorded);
  const last = calls.at(-1);
  // A prompt that was too long is sent again, shorter.
  const isTooLong = last !== undefined && isOverflow(last);
  const callCount = calls.length;
  const answered = isTooLong ? callCount - 1 : callCount;
  const said = messages.filter((each) => each.callNumber <= answered);
  const staged = messages.filter((each) => each.callNumber > answered);
  const isShown = (each: ThreadMessage): boolean => each.index >= from;
  const thread = appendMessages(before.thread, said.filter(isShown).map(toMessage));
  const call = callOf(before, open.id, edges);
  const base = {
    id: open.id,
    before,
    session: { ...before, thread },
    open,
    wholes: new Map<number, string>(),
    context: null,
    callCount,
    toolCallCount: (await ledger.readToolCalls(open.id)).length,
    call,
  };
  const uses = toolUsesIn(said);
  // What is staged was said to be answered.
  const isOpen = last === undefined || isTooLong || staged.length > 0;
  const ending = isOpen ? null : endingAfter(last, uses);
  if (ending !== null || staged.length > 0) {
    // Where a fold says what is staged, nothing of it is left to send.
    const current = staged.filter(isShown).map(toMessage);
    return { turn: { ...base, current, isStaged: true }, ending, calls, toldMs };
  }
  const current = uses.length === 0 ? [] : await answerTools(uses, runTools, call);
  return { turn: { ...base, current, isStaged: false }, ending, calls, toldMs };
}

/** From the note on what it began with. */
function toldIn([first]: readonly ThreadMessage[]): number | null {
  const note: unknown = first?.contextJson == null ? null : JSON.parse(first.contextJson);
  const told =
    typeof note === "object" && note !== null && "injectedAt" in note ? note.injectedAt : null;
  const ms = typeof told === "string" ? Date.parse(told) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

function withReply(call: CallRecord, messages: readonly ThreadMessage[]): CallEntry {
  const reply = messages.findLast(
    ({ callNumber, message }) => callNumber === call.number && message.role === "assistant",
  );
  return { ...call, sent: [], reply: reply?.message ?? null };
}

function endingAfter(last: CallRecord, uses: readonly ToolUseBlock[]): TurnEnding | null {
  return last.status === "complete" ? endingOf(last.stopReason, uses) : "failed";
}

function toMessage({ message }: ThreadMessage): ThreadMessage["message"] {
  return message;
}

/** Of the last reply, where nothing was said after it. */
function toolUsesIn(said: readonly ThreadMessage[]): readonly ToolUseBlock[] {
  const reply = said.findLast(({ message }) => message.role === "assistant");
  return reply?.message.content.filter((block) => block.type === "tool_use") ?? [];
}
