// Loads a turn that a process left open. nextStep decides what comes next.
import { appendMessages } from "../../core/assembly/thread.ts";
import type { CompactionRecord } from "../../core/ledger/compaction-record.ts";
import type { CallEntry, CallRecord } from "../../core/ledger/call-entry.ts";
import type { OpenTurn } from "../../core/ledger/ledger.ts";
import type { ThreadMessage, TurnRecord } from "../../core/ledger/turn-record.ts";
import type { Message } from "../../core/message/message.ts";
import type { Session } from "../../core/session/session.ts";
import { StrataError } from "../../core/strata-error.ts";
import { isOverflow } from "../../core/turn/turn-ending.ts";
import { stays } from "../../core/turn/turn-events.ts";
import type { Turn } from "../../core/turn/turn.ts";
import type { Deps, TurnToResume } from "./deps.ts";
import { callsMaxUsual, newTurn } from "./begin-turn.ts";
import { toRunning, type RunningTurn } from "./running-turn.ts";

/** Takes the turn over: no other process can add to it any more. */
export async function loadTurn(
  session: Session,
  wish: TurnToResume,
  deps: Deps,
): Promise<RunningTurn> {
  const { ledger } = deps;
  const found = await ledger.findUnfinished(session.id);
  if (found === null) {
    throw new StrataError(
      "conflict",
      `session ${session.id} has no turn to resume: it is closed, or another process works on it`,
      "run a new turn, or wait until the other one is closed",
    );
  }
  checkHead(session, found.turn);
  checkModel(session, found.turn);
  const lease = await ledger.resumeTurn(session.id);
  try {
    const turn = await readTurn(session, found.turn, lease, wish, deps);
    return toRunning(turn, { lease, volatile: wish.volatile }, deps);
  } catch (error) {
    await lease.release().catch(() => {});
    throw error;
  }
}

/** A session value that is older than the ledger would send another conversation. */
function checkHead({ id, headTurnId }: Session, turn: TurnRecord): void {
  if (headTurnId === turn.parentTurnId) return;
  throw new StrataError(
    "conflict",
    `session ${id} has moved on: turn ${turn.id} follows ${turn.parentTurnId ?? "no turn"}, not ${headTurnId ?? "no turn"}`,
    "resume the session from the ledger, then its turn",
  );
}

/** The turn's bytes are for its own model. */
function checkModel({ id, model }: Session, turn: TurnRecord): void {
  if (model.id === turn.model && model.provider === turn.provider) return;
  throw new StrataError(
    "conflict",
    `turn ${turn.id} of session ${id} is with ${turn.provider}/${turn.model}, not with ${model.provider}/${model.id}`,
    "resume the session from the ledger with that model, then its turn",
  );
}

async function readTurn(
  before: Session,
  record: TurnRecord,
  { id }: OpenTurn,
  { moment = {}, callsMax = callsMaxUsual }: TurnToResume,
  deps: Deps,
): Promise<Turn> {
  const { ledger } = deps;
  const recorded = await ledger.readMessages(id);
  const calls = (await ledger.readCalls(id)).map((call) => withReply(call, recorded));
  const compaction = await ledger.findCompaction({ turnId: id });
  const from = compaction?.firstKeptTurnId === id ? compaction.firstKeptIndex : 0;
  const last = calls.at(-1);
  const isTooLong = last !== undefined && isOverflow(last);
  const answered = isTooLong ? calls.length - 1 : calls.length;
  const replayed = recorded.filter(({ isReplayed }) => isReplayed);
  const stored = replayed.filter(({ callNumber }) => callNumber > answered);
  // Messages that a compaction replaced are not sent again.
  const shown = (messages: readonly ThreadMessage[]): readonly Message[] =>
    messages.filter(({ index }) => index >= from).map(({ message }) => message);
  const sent = shown(replayed.filter(({ callNumber }) => callNumber <= answered));
  const thread = appendMessages(before.thread, sent);
  // Stored messages that were not sent wait for a call; otherwise the last reply decides.
  const isWaiting = last === undefined || (stored.length > 0 && !isTooLong);
  return {
    ...newTurn,
    id,
    event: {
      moment,
      context: null,
      startIso: new Date(startMsOf(before, recorded) ?? deps.now()).toISOString(),
      toldMs: last === undefined ? null : before.cache.lastStartMs,
    },
    route: stays,
    limits: { callsMax, mayCompact: true, repeatsFailedCalls: false },
    before,
    session: { ...before, thread },
    current: shown(stored),
    isStored: stored.length > 0,
    earlier: calls,
    isCompacted: isCompactedSince(before, compaction, { record, last }),
    resumed: { toolCalls: (await ledger.readToolCalls(id)).length },
    at: isWaiting ? { after: "begin" } : { after: "record reply", call: null },
  };
}

/** If the time stands before the messages, a new time would change the cached prefix. */
function startMsOf({ policy }: Session, [first]: readonly ThreadMessage[]): number | null {
  if (policy.layout.volatile !== "system-tail" || first?.contextJson == null) return null;
  const note: unknown = JSON.parse(first.contextJson);
  const told =
    typeof note === "object" && note !== null && "injectedAt" in note ? note.injectedAt : null;
  const ms = typeof told === "string" ? Date.parse(told) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** The stored state counts calls since the latest compaction. Before a turn's first call, compare the times. */
function isCompactedSince(
  { compactionState }: Session,
  compaction: CompactionRecord | null,
  { record, last }: { readonly record: TurnRecord; readonly last: CallEntry | undefined },
): boolean {
  if (compaction === null || compactionState.callsSinceFold > 0) return false;
  return last !== undefined || compaction.compactedMs >= record.startMs;
}

function withReply(call: CallRecord, messages: readonly ThreadMessage[]): CallEntry {
  const reply = messages.findLast(
    ({ callNumber, message }) => callNumber === call.number && message.role === "assistant",
  );
  return { ...call, sent: [], reply: reply?.message ?? null };
}
