// Decides what a turn does next. Only reads the turn; the cost does not grow with its length.
import { volatileText } from "../assembly/system-blocks.ts";
import type { CallEntry } from "../ledger/call-entry.ts";
import { assert } from "../assert.ts";
import { isMemory } from "../session/compaction-rules.ts";
import type { Session } from "../session/session.ts";
import type { Message, ToolUseBlock } from "../message/message.ts";
import { decideBySize, isNearLimit } from "./compaction/decide.ts";
import { mayAnswerElsewhere } from "../wire/failure.ts";
import type { Step } from "./step.ts";
import {
  callCountOf,
  recordedCall,
  type CallAtHand,
  type CallMoment,
  type CallToRecord,
  type Turn,
  endingOf,
  isOverflow,
  isPrefixLost,
  type TurnEnding,
} from "./turn.ts";

export function nextStep(turn: Turn): Step {
  const { at } = turn;
  switch (at.after) {
    case "begin":
      return begin(turn);
    case "refresh":
      return prepare(turn, at.moment);
    case "compact":
      return prepare(turn, { volatile: at.volatile, nowMs: null });
    case "prepare":
      return turn.isStored ? fit(turn, at.call) : record(turn, at.call);
    case "record":
      return fit(turn, at.call);
    case "count":
      return compactOrSend(turn, at.call);
    case "settle prompt":
      return send(turn, at.call);
    case "send":
      return recordReply(turn, at.sent);
    case "record reply":
      return afterReply(turn, at.call);
    case "end":
      return { do: "close", how: at.how };
  }
}

function begin(turn: Turn): Step {
  if (callCountOf(turn) >= turn.limits.callsMax) return close("too many calls");
  return { do: "refresh", volatile: sendsMoment(turn) };
}

function prepare(
  { current }: Turn,
  moment: { readonly volatile: CallMoment["volatile"]; readonly nowMs: number | null },
): Step {
  const volatile = moment.volatile === null ? null : volatileText(moment.volatile);
  return { do: "prepare", current, volatile, nowMs: moment.nowMs };
}

function record(turn: Turn, { prepared, moment }: CallAtHand): Step {
  const opens = turn.resumed === null && callCountOf(turn) === 0;
  return { do: "record", opens, prepared, nowMs: moment.nowMs };
}

/** Counts the prompt if a limit is near and compacts the history if that is due, at most once before a call. */
function fit(turn: Turn, call: CallAtHand): Step {
  if (!turn.limits.mayCompact || turn.isCompacted) return send(turn, call);
  if (isAfterOverflow(turn)) return recover(call, call.moment.nowMs);
  const { session, rules } = turn;
  if (rules.canCount && isNearLimit(session, call.prepared, rules.compaction)) {
    return { do: "count", prepared: call.prepared };
  }
  return compactOrSend(turn, call);
}

function compactOrSend(turn: Turn, call: CallAtHand): Step {
  const { session, rules } = turn;
  const { prepared, moment } = call;
  const { nowMs } = moment;
  const memoryTokens = memoryTokensIn(turn, moment);
  const { compaction } = rules;
  const bySize = decideBySize({ session, prepared, nowMs, memoryTokens, compaction });
  if (bySize.trigger === null) return send(turn, call);
  return { do: "compact", trigger: "size", bySize, prepared, nowMs };
}

/** Tokens of memory that this call could leave out. Zero if the memory is part of a recorded message. */
function memoryTokensIn({ session, current }: Turn, { volatile }: CallMoment): number {
  const memory = volatile?.filter(isMemory) ?? [];
  if (memory.length === 0 || current.length === 0 || hasHead(session)) return 0;
  return session.thread.foundation.counter.text(volatileText(memory) ?? "");
}

/** Whether the recorded messages already begin with their head; then they are sent as recorded. */
export function hasHead({ policy }: Session): boolean {
  return policy.layout.volatile === "message-head";
}

function send(turn: Turn, { prepared }: CallAtHand): Step {
  return { do: "send", prepared, number: callCountOf(turn) + 1 };
}

/** Where nothing can follow a reply, the turn is closed together with it. */
function recordReply(turn: Turn, { entry, more }: CallToRecord): Step {
  const isDone = entry.status === "complete" && endingOfReply(entry) === "done";
  const ends = isDone && !sendsSteered(turn, entry.number);
  return { do: "record reply", entry, more, ends };
}

function endingOfReply(entry: CallEntry): TurnEnding | null {
  return endingOf(entry.stopReason, toolUsesIn(entry));
}

function afterReply(turn: Turn, call: CallAtHand | null): Step {
  const last = lastCall(turn);
  if (isOverflow(last) && mayRetry(turn)) {
    return call === null ? begin(turn) : recover(call, null);
  }
  if (last.status !== "complete") {
    if (mayRepeat(turn, last) || goesOnWithout(turn, last)) return begin(turn);
    return fallBack(turn, last) ?? close(endingOfFailed(last));
  }
  const uses = toolUsesIn(last);
  const ending = endingOfReply(last);
  if (ending !== null && !(ending === "done" && hasCallForSteered(turn))) return close(ending);
  return uses.length > 0 ? { do: "run tools", uses } : begin(turn);
}

/** After an overflow: one compaction and one more call, where one more is allowed. */
function mayRetry(turn: Turn): boolean {
  const { callsMax, mayCompact } = turn.limits;
  const before = recordedCall(turn, 2);
  return mayCompact && callCountOf(turn) < callsMax && (before === null || !isOverflow(before));
}

/** The same call once more, with the whole prompt in the place of a stored prefix. */
function goesOnWithout(turn: Turn, last: CallEntry): boolean {
  const { session, aborted, limits } = turn;
  const before = recordedCall(turn, 2);
  if (!isPrefixLost(last, session) || aborted !== null) return false;
  return callCountOf(turn) < limits.callsMax && (before === null || !isPrefixLost(before, session));
}

function mayRepeat({ limits, ...turn }: Turn, { failure }: CallEntry): boolean {
  const isOver = failure?.kind === "cancelled" || failure?.kind === "spending-cap";
  return limits.repeatsFailedCalls && callCountOf(turn) > 1 && !isOver;
}

/** Another model, where one more call is allowed. An application that repeats calls chooses its models itself. */
function fallBack(turn: Turn, { failure }: CallEntry): Step | null {
  const { limits, aborted, switches, session } = turn;
  if (failure === null || !mayAnswerElsewhere(failure)) return null;
  if (limits.repeatsFailedCalls || aborted !== null) return null;
  if (callCountOf(turn) >= limits.callsMax) return null;
  const tried = [...switches.map(({ name }) => name), session.modelName];
  return { do: "switch model", why: failure, tried };
}

/** Whether messages that came in meanwhile are sent with one more call of this turn. */
export function hasCallForSteered(turn: Turn): boolean {
  return sendsSteered(turn, callCountOf(turn));
}

function sendsSteered({ steered, limits }: Turn, callCount: number): boolean {
  return steered.length > 0 && callCount < limits.callsMax;
}

export function isAfterOverflow(turn: Turn): boolean {
  const last = recordedCall(turn, 1);
  return last !== null && isOverflow(last);
}

/** The new messages of the next call. After a reply without tool uses: what people said meanwhile. */
export function upcoming(turn: Turn): readonly Message[] {
  if (turn.at.after !== "record reply" || turn.isStored) return turn.current;
  return hasCallForSteered(turn) ? turn.steered : [];
}

/** Whether the next call may send the time. Not after a provider's pause, and not if a stored message head already has it. */
function sendsMoment(turn: Turn): boolean {
  if (turn.event.moment === null || upcoming(turn).length === 0) return false;
  return !(turn.isStored && turn.session.policy.layout.volatile === "message-head");
}

function lastCall(turn: Turn): CallEntry {
  const last = recordedCall(turn, 1);
  assert(last !== null, "a reply is recorded before it is acted on");
  return last;
}

export function toolUsesIn({ reply }: Pick<CallEntry, "reply">): readonly ToolUseBlock[] {
  return reply?.content.filter((block) => block.type === "tool_use") ?? [];
}

function endingOfFailed({ failure }: CallEntry): TurnEnding {
  return failure?.kind === "cancelled" ? "cancelled" : "failed";
}

function recover({ prepared }: CallAtHand, nowMs: number | null): Step {
  return { do: "compact", trigger: "overflow", bySize: null, prepared, nowMs };
}

function close(how: TurnEnding): Step {
  return { do: "close", how };
}
