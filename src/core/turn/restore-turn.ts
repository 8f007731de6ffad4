// A turn that a process left open, as the ledger has it. nextStep decides how it goes on.
import { appendMessages } from "../assembly/thread.ts";
import { attachmentsIn, type EventMoment } from "../layers/event.ts";
import type { CallEntry, CallRecord } from "../ledger/call-entry.ts";
import type { CompactionRecord } from "../ledger/compaction-record.ts";
import type { ThreadMessage, ToolCallRecord, TurnRecord } from "../ledger/turn-record.ts";
import type { JsonText, Message } from "../message/message.ts";
import { withoutThinking } from "../message/without-thinking.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";
import type { Route } from "../routing/decide-route.ts";
import { keptVolatileIn } from "../session/session-state.ts";
import type { Session } from "../session/session.ts";
import { toToolRuns, type TurnCompaction } from "./done-in-turn.ts";
import type { TurnToTell } from "./turn-result.ts";
import { openTurn, stays, type Turn } from "./turn.ts";

/** Everything the ledger has of a turn. */
export interface RecordedTurn {
  readonly turn: Pick<TurnRecord, "id" | "startMs" | "sourceEventId" | "switches">;
  readonly messages: readonly ThreadMessage[];
  readonly calls: readonly CallRecord[];
  /** The latest compaction on the way to the turn; null for none. */
  readonly compaction: Compaction | null;
  /** The tools that were asked for. */
  readonly toolCalls: readonly ToolCallRecord[];
  /** The compactions of the turn, oldest first. */
  readonly compactions: readonly TurnCompaction[];
  /** What the session knew after the last call or compaction; null for nothing. */
  readonly stateJson: JsonText | null;
}

type Compaction = Pick<CompactionRecord, "firstKeptTurnId" | "firstKeptIndex" | "compactedMs">;

/** The inputs of the process that resumes it. */
export interface Resumption {
  readonly moment: EventMoment;
  readonly callsMax: number;
  /** The current time. */
  readonly nowIso: string;
}

/** `before`: the session as the ledger has it now, without the turn. */
export function restoreTurn(
  before: Session,
  { turn, messages, toolCalls, compaction, compactions, stateJson, ...recorded }: RecordedTurn,
  { moment, callsMax, nowIso }: Resumption,
): Turn {
  const { id, switches, startMs } = turn;
  const keptVolatile = keptVolatileIn(stateJson, id) ?? before.thread.keptVolatile;
  const calls = withMessages(recorded.calls, messages);
  const last = calls.at(-1);
  const fromIndex = compaction?.firstKeptTurnId === id ? compaction.firstKeptIndex : 0;
  // Messages of a failed call are sent again.
  const isAgain = last !== undefined && last.status !== "complete";
  const answered = lastAnswered(calls);
  const replayed = messages.filter(({ isReplayed }) => isReplayed);
  const leftThrough = switches.at(-1)?.through ?? 0;
  const isSwitched = calls.length > 0 && leftThrough === calls.length;
  const stored = replayed.filter(({ callNumber }) => callNumber > answered);
  const seen = { fromIndex, leftThrough };
  const current = toSeen(stored, seen);
  const sent = toSeen(
    replayed.filter(({ callNumber }) => callNumber <= answered),
    seen,
  );
  const isCompacted = isCompactedSince(before, compaction, { turn, last });
  // Stored messages that were not sent wait for a call; otherwise the last reply decides what is next.
  const isWaiting = last === undefined || isSwitched || (stored.length > 0 && !isAgain);
  const [first] = messages;
  const timeSentMs =
    timeSentMsOf(before, turn, calls.slice(leftThrough), isCompacted) ??
    (current.length === 0 ? (calls[leftThrough - 1]?.startMs ?? null) : null);
  const event = {
    sourceId: turn.sourceEventId,
    attachments: attachmentsIn(first?.contextJson ?? null),
    message: first?.message ?? null,
    startIso: startIsoOf(before, messages) ?? nowIso,
  };
  const begun = openTurn(
    {
      id,
      startMs,
      event: { ...event, moment, context: null, timeSentMs },
      limits: { callsMax, mayCompact: true, repeatsFailedCalls: false },
      before,
      current,
    },
    isSwitched ? toFallback(switches) : stays,
  );
  return {
    ...begun,
    session: { ...before, thread: { ...appendMessages(before.thread, sent), keptVolatile } },
    switches,
    isRouteNews: isSwitched,
    // A call is sent again unchanged, even if it had no new messages.
    isStored: stored.length > 0 || isAgain,
    earlier: calls,
    toolRuns: toToolRuns(toolCalls),
    compactions,
    isCompacted,
    resumed: { toolCalls: toolCalls.length },
    at: isWaiting ? { after: "begin" } : { after: "record reply", call: null },
  };
}

/** A turn that is over, for its result. */
export function restoreClosed({
  turn: { id, startMs },
  messages,
  toolCalls,
  compactions,
  ...recorded
}: Pick<RecordedTurn, "turn" | "messages" | "calls" | "toolCalls" | "compactions">): TurnToTell {
  const earlier = withMessages(recorded.calls, messages);
  const answered = lastAnswered(earlier);
  const unsent = messages.filter((each) => each.isReplayed && each.callNumber > answered);
  return {
    id,
    startMs,
    earlier,
    calls: [],
    toolRuns: toToolRuns(toolCalls),
    compactions,
    current: unsent.map(({ message }) => message),
    aborted: null,
  };
}

function lastAnswered(calls: readonly CallEntry[]): number {
  return calls.findLast(({ status }) => status === "complete")?.number ?? 0;
}

/** The route of a turn that left its model, as far as the ledger has it: not what of its cache was left. */
function toFallback(switches: TurnRecord["switches"]): Route {
  const model = switches.at(-1)?.model;
  return {
    by: "fallback",
    passedOver: switches.map(({ name }) => ({ name, by: "fallback", reason: "provider_failed" })),
    left: model === undefined ? null : { model, cachedTokens: 0 },
  };
}

/** If the time stands before the messages, another time would change the cached prefix. */
function startIsoOf({ policy }: Session, [first]: readonly ThreadMessage[]): string | null {
  if (policy.layout.volatile !== "system-tail" || first?.contextJson == null) return null;
  const note: unknown = JSON.parse(first.contextJson);
  const sent =
    typeof note === "object" && note !== null && "injectedAt" in note ? note.injectedAt : null;
  return typeof sent === "string" && isoTime.test(sent) ? sent : null;
}

/**
 * When the time was last sent: with the last call that got a reply, or with a refused call that a compaction followed.
 * A layout with the time at the head of a message sent it when the turn began.
 */
function timeSentMsOf(
  { policy }: Session,
  { startMs }: Pick<TurnRecord, "startMs">,
  calls: readonly CallRecord[],
  isCompacted: boolean,
): number | null {
  const answered = isCompacted
    ? calls.at(-1)
    : calls.findLast(({ status }) => status === "complete");
  return answered?.startMs ?? (policy.layout.volatile === "message-head" ? startMs : null);
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The stored state counts calls since the latest compaction; before the turn's first call, the times decide. */
function isCompactedSince(
  { compactionState }: Session,
  compaction: Compaction | null,
  { turn, last }: Pick<RecordedTurn, "turn"> & { readonly last: CallEntry | undefined },
): boolean {
  if (compaction === null || compactionState.callsSinceFold > 0) return false;
  return last !== undefined || compaction.compactedMs >= turn.startMs;
}

/** Messages of a turn as its model sees them: without those that a compaction replaced, and without the thinking of models that the turn left. */
export function toSeen(
  rows: readonly ThreadMessage[],
  { fromIndex, leftThrough }: { readonly fromIndex: number; readonly leftThrough: number },
): readonly Message[] {
  return rows
    .filter(({ index }) => index >= fromIndex)
    .map(({ message, callNumber }) =>
      callNumber <= leftThrough ? withoutThinking(message) : message,
    );
}

/** The calls with their messages. The next call repeats the messages of a failed call. */
export function withMessages(
  calls: readonly CallRecord[],
  messages: readonly ThreadMessage[],
): readonly CallEntry[] {
  let again: readonly Message[] = [];
  return calls.map((call) => {
    const own = messages.filter(({ callNumber }) => callNumber === call.number);
    const reply = own.findLast(({ message }) => message.role === "assistant")?.message ?? null;
    const first = own.flatMap(({ message }) => (message.role === "assistant" ? [] : [message]));
    const sent = [...again, ...first];
    again = call.status === "complete" ? [] : sent;
    return withMoneyAsText({ ...call, sent, reply });
  });
}
