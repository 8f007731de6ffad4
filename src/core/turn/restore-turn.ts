// A turn that a process left open, from what the ledger has of it. What comes next is for nextStep.
import { appendMessages } from "../assembly/thread.ts";
import type { EventMoment } from "../layers/event.ts";
import type { CallEntry, CallRecord } from "../ledger/call-entry.ts";
import type { CompactionRecord } from "../ledger/compaction-record.ts";
import type { ThreadMessage, TurnRecord } from "../ledger/turn-record.ts";
import type { JsonText, Message } from "../message/message.ts";
import { keptVolatileIn } from "../session/session-state.ts";
import type { Session } from "../session/session.ts";
import { isOverflow } from "./turn-ending.ts";
import { stays } from "./turn-events.ts";
import { newTurn, type Turn } from "./turn.ts";

/** Everything the ledger has of a turn that is not closed. */
export interface RecordedTurn {
  readonly turn: Pick<TurnRecord, "id" | "startMs">;
  readonly messages: readonly ThreadMessage[];
  readonly calls: readonly CallRecord[];
  /** The latest compaction on the way to the turn; null for none. */
  readonly compaction: Compaction | null;
  /** How many tools were asked for. */
  readonly toolCalls: number;
  /** What the session knew after the last call or compaction; null for nothing. */
  readonly stateJson: JsonText | null;
}

type Compaction = Pick<CompactionRecord, "firstKeptTurnId" | "firstKeptIndex" | "compactedMs">;

/** What holds for whoever goes on with it. */
export interface Resumption {
  readonly moment: EventMoment;
  readonly callsMax: number;
  /** The time. */
  readonly nowIso: string;
}

/** `before`: the session as the ledger has it now, without the turn. */
export function restoreTurn(
  before: Session,
  { turn, messages, toolCalls, compaction, stateJson, ...recorded }: RecordedTurn,
  { moment, callsMax, nowIso }: Resumption,
): Turn {
  const { id } = turn;
  const keptVolatile = keptVolatileIn(stateJson, id) ?? before.thread.keptVolatile;
  const calls = recorded.calls.map((call) => withReply(call, messages));
  const last = calls.at(-1);
  const from = compaction?.firstKeptTurnId === id ? compaction.firstKeptIndex : 0;
  const isTooLong = last !== undefined && isOverflow(last);
  const answered = isTooLong ? calls.length - 1 : calls.length;
  const replayed = messages.filter(({ isReplayed }) => isReplayed);
  const stored = replayed.filter(({ callNumber }) => callNumber > answered);
  // What a compaction says already is not sent again.
  const shown = (rows: readonly ThreadMessage[]): readonly Message[] =>
    rows.filter(({ index }) => index >= from).map(({ message }) => message);
  const sent = shown(replayed.filter(({ callNumber }) => callNumber <= answered));
  const isCompacted = isCompactedSince(before, compaction, { turn, last });
  // What is stored and not sent yet waits for a call; otherwise the last reply says what is next.
  const isWaiting = last === undefined || (stored.length > 0 && !isTooLong);
  return {
    ...newTurn,
    id,
    event: {
      moment,
      context: null,
      startIso: startIsoOf(before, messages) ?? nowIso,
      timeSentMs: timeSentMsOf(before, turn, calls, isCompacted),
    },
    route: stays,
    limits: { callsMax, mayCompact: true, repeatsFailedCalls: false },
    before,
    session: { ...before, thread: { ...appendMessages(before.thread, sent), keptVolatile } },
    current: shown(stored),
    // A call that was too long is sent again as it was, also where nothing in it was new.
    isStored: stored.length > 0 || isTooLong,
    earlier: calls,
    isCompacted,
    resumed: { toolCalls },
    at: isWaiting ? { after: "begin" } : { after: "record reply", call: null },
  };
}

/** Where the time stands before the messages, another one would be another prefix. */
function startIsoOf({ policy }: Session, [first]: readonly ThreadMessage[]): string | null {
  if (policy.layout.volatile !== "system-tail" || first?.contextJson == null) return null;
  const note: unknown = JSON.parse(first.contextJson);
  const told =
    typeof note === "object" && note !== null && "injectedAt" in note ? note.injectedAt : null;
  return typeof told === "string" && isoTime.test(told) ? told : null;
}

/**
 * With the last call that was answered, by a reply or, where it was too long, by a compaction. At its head, a message
 * says the time from when it is recorded.
 */
function timeSentMsOf(
  { policy }: Session,
  { startMs }: RecordedTurn["turn"],
  calls: readonly CallRecord[],
  isCompacted: boolean,
): number | null {
  const answered = isCompacted
    ? calls.at(-1)
    : calls.findLast(({ status }) => status === "complete");
  return answered?.startMs ?? (policy.layout.volatile === "message-head" ? startMs : null);
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The kept state counts calls from the latest compaction on; before a turn's first call, its time tells. */
function isCompactedSince(
  { compactionState }: Session,
  compaction: Compaction | null,
  { turn, last }: Pick<RecordedTurn, "turn"> & { readonly last: CallEntry | undefined },
): boolean {
  if (compaction === null || compactionState.callsSinceFold > 0) return false;
  return last !== undefined || compaction.compactedMs >= turn.startMs;
}

function withReply(call: CallRecord, messages: readonly ThreadMessage[]): CallEntry {
  const reply = messages.findLast(
    ({ callNumber, message }) => callNumber === call.number && message.role === "assistant",
  );
  return { ...call, sent: [], reply: reply?.message ?? null };
}
