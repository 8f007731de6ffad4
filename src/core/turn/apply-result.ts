// Adds a result to the turn, and closes it. Decides nothing: nextStep does that.
import { assert } from "../assert.ts";
import { volatileText } from "../assembly/system-blocks.ts";
import { isMemory } from "../session/compaction-rules.ts";
import { momentOf } from "./call-moment.ts";
import { limitResults } from "./limit-results.ts";
import { hasCallForSteered, hasHead, isAfterOverflow, upcoming } from "./next-step.ts";
import { toPrepared } from "./prepare-call.ts";
import { settleCall } from "./settle-call.ts";
import type { Input, ResultOf } from "./step.ts";
import { toTurnCompaction } from "./done-in-turn.ts";
import {
  callCountOf,
  isOverflow,
  recordedCall,
  type CallAtHand,
  type Stage,
  type Turn,
  type TurnEnding,
} from "./turn.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";
import type { TurnEnd } from "../ledger/turn-record.ts";
import { toStateText } from "../session/session-state.ts";
import type { Session } from "../session/session.ts";
import { withLearnedLimit } from "../tokens/learned-sizes.ts";

export function applyResult(turn: Turn, input: Input): Turn {
  switch (input.did) {
    case "refresh":
      return refreshed(turn, input);
    case "prepare":
      return prepared(turn, input);
    case "record":
      return recorded(turn);
    case "count":
      return counted(turn, input);
    case "compact":
      return compacted(turn, input);
    case "send":
      return sent(turn, input);
    case "record reply":
      return replied(turn);
    case "run tools":
      return answered(turn, input);
    case "switch model":
      return switched(turn, input);
    case "steer":
      return { ...turn, steered: [...turn.steered, ...input.messages] };
    case "abort":
      return { ...turn, aborted: turn.aborted ?? { reason: input.reason } };
  }
}

function refreshed(turn: Turn, result: ResultOf<"refresh">): Turn {
  const { rules, nowMs } = result;
  const { model, sizes } = result.session;
  const session = { ...result.session, model: withLearnedLimit(model, sizes) };
  const current = upcoming(turn);
  const isNew = current !== turn.current;
  const steered = current === turn.steered ? [] : turn.steered;
  const next = { ...turn, session, rules, current, steered, isStored: turn.isStored && !isNew };
  if (result.volatile === null) {
    return { ...next, at: { after: "refresh", moment: { nowMs, volatile: null } } };
  }
  const { sections, timeSentMs } = momentOf(turn, result);
  const volatile = [...sections, ...result.volatile];
  const event = { ...turn.event, timeSentMs };
  return { ...next, event, at: { after: "refresh", moment: { nowMs, volatile } } };
}

function prepared(turn: Turn, { assembly, plan }: ResultOf<"prepare">): Turn {
  const { at } = turn;
  assert(at.after === "refresh" || at.after === "compact", "a call is prepared at its moment");
  const sections = at.after === "compact" ? at.volatile : at.moment.volatile;
  const volatile = sections === null ? null : volatileText(sections);
  const call = { moment: at.moment, prepared: toPrepared(turn.session, assembly, plan, volatile) };
  // After a compaction, or after memory was removed, the prompt does not change again.
  if (at.after === "compact") return { ...turn, at: { after: "settle prompt", call } };
  const next: Turn = { ...turn, at: { after: "prepare", call } };
  return turn.isStored ? { ...next, isAnnounced: true, isRouteNews: false } : next;
}

function recorded(turn: Turn): Turn {
  const call = needCall(turn);
  const { id, before, session } = turn;
  // This turn brought a model that is new to the session.
  const setupPlace = { turnId: id, isRecorded: false, after: null };
  const withPlace = before.setupPlace.isRecorded
    ? {}
    : { before: { ...before, setupPlace }, session: { ...session, setupPlace } };
  return {
    ...turn,
    ...withPlace,
    isStored: true,
    isAnnounced: true,
    at: { after: "record", call },
  };
}

function counted(turn: Turn, { tokens }: ResultOf<"count">): Turn {
  const call = needCall(turn);
  const asCounted = { ...call.prepared, promptTokens: tokens, countedTokens: tokens };
  return { ...turn, at: { after: "count", call: { ...call, prepared: asCounted } } };
}

function compacted(turn: Turn, { outcome }: ResultOf<"compact">): Turn {
  const call = needCall(turn);
  const { session } = outcome;
  if (outcome.kind === "compacted") {
    const { before, current, compaction } = outcome;
    const compactions = [...turn.compactions, toTurnCompaction(compaction)];
    const next: Turn = {
      ...turn,
      before,
      session,
      current,
      compactions,
      isStored: true,
      isCompacted: true,
    };
    // A refused call is over: the retry is a call of its own, with its own time.
    return { ...next, at: isAfterOverflow(turn) ? { after: "begin" } : again(next, call) };
  }
  // The provider found the prompt too long, and compaction could not shorten it.
  if (isAfterOverflow(turn)) return { ...turn, session, at: { after: "end", how: "failed" } };
  const mustShrink = outcome.isTight && !hasHead(turn.session);
  return {
    ...turn,
    session,
    at: mustShrink ? again(turn, call) : { after: "settle prompt", call },
  };
}

/** Memory leaves the prompt first. After a compaction the system text holds the current memory. */
function again(turn: Turn, { moment }: CallAtHand): Stage {
  const hasMessages = turn.current.length > 0 && !hasHead(turn.session);
  const rest = moment.volatile?.filter((section) => !isMemory(section)) ?? null;
  return { after: "compact", moment, volatile: hasMessages ? rest : null };
}

function sent(turn: Turn, result: ResultOf<"send">): Turn {
  const { sent: outcome, notes, besides, startMs, endMs } = result;
  const call = needCall(turn);
  const { id: turnId, session } = turn;
  const { assembly, plan, volatile } = call.prepared;
  const {
    entry,
    more,
    miss,
    session: after,
  } = settleCall(session, {
    turnId,
    number: callCountOf(turn) + 1,
    assembly,
    plan,
    volatile,
    request: { notes },
    ...(besides && { besides }),
    sent: outcome,
    spent: session.spent,
    startMs,
    endMs,
  });
  return { ...turn, at: { after: "send", sent: { call, entry, more, miss, session: after } } };
}

function replied(turn: Turn): Turn {
  const { at } = turn;
  assert(at.after === "send", "a reply is recorded after it was sent");
  const { entry, session, miss } = at.sent;
  const rest = entry.status === "complete" ? nothingNew : {};
  const call = isOverflow(entry) ? withLearnedSize(at.sent.call, session) : at.sent.call;
  return {
    ...turn,
    ...rest,
    session,
    calls: [...turn.calls, withMoneyAsText({ ...entry, miss })],
    isCompacted: false,
    at: { after: "record reply", call },
  };
}

/** Estimates the prompt again with the sizes that the refusal taught, as a resumed turn does. */
function withLearnedSize(call: CallAtHand, session: Session): CallAtHand {
  const { assembly, plan, volatile } = call.prepared;
  return { ...call, prepared: toPrepared(session, assembly, plan, volatile) };
}

const nothingNew = { current: [], fullResults: new Map<number, string>(), isStored: false };

/** Cuts each result to its share of the window. Messages from people go after the results. */
function answered(turn: Turn, { answers, runs = [] }: ResultOf<"run tools">): Turn {
  const { session, rules, limits, steered } = turn;
  const isSent = hasCallForSteered(turn);
  const { messages, fullResults, cuts } = limits.mayCompact
    ? limitResults(answers, session, rules.compaction)
    : { messages: answers, fullResults: nothingNew.fullResults, cuts: [] };
  return {
    ...turn,
    current: isSent ? [...messages, ...steered] : messages,
    steered: isSent ? [] : steered,
    fullResults,
    toolRuns: runs.length === 0 ? turn.toolRuns : [...turn.toolRuns, ...runs],
    isStored: false,
    at: { after: "begin" },
    cuts,
  };
}

/** The same messages, with a model that has seen none of this turn's calls, so the time is sent again. */
function switched(turn: Turn, { moved }: ResultOf<"switch model">): Turn {
  if (moved === null) return { ...turn, at: { after: "end", how: "failed" } };
  const { before, session, route, left, nowIso } = moved;
  const { event, startMs } = turn;
  const isKept = session.policy.layout.volatile === "system-tail";
  return {
    ...turn,
    before,
    session,
    route,
    switches: [...turn.switches, left],
    current: asRecorded(turn),
    event: {
      ...event,
      startIso: isKept ? event.startIso : nowIso,
      // Without new messages there is nothing to say the time with.
      timeSentMs: hasHead(session) ? startMs : turn.current.length > 0 ? null : leftMsOf(turn),
    },
    isStored: true,
    isRouteNews: true,
    at: { after: "begin" },
  };
}

function leftMsOf(turn: Turn): number | null {
  return recordedCall(turn, 1)?.startMs ?? null;
}

/** A message whose head has the time is recorded with it. */
function asRecorded({ session, calls, current }: Turn): Turn["current"] {
  return hasHead(session) ? (calls.at(-1)?.sent ?? current) : current;
}

function needCall({ at }: Turn): CallAtHand {
  const call = "call" in at ? at.call : null;
  assert(call !== null, `a call is at hand after ${at.after}`);
  return call;
}

/** The end of a turn: the next session value, and what the ledger records. */
export interface ClosedTurn {
  /** Keeps what was learned. Drops the messages of a failed turn: a tool use may lack its answer. */
  readonly session: Session;
  readonly end: TurnEnd;
}

export function toClosed(
  { id, before, session }: Turn,
  how: TurnEnding,
  endMs: number,
): ClosedTurn {
  if (how === "done") {
    const setupPlace = { ...session.setupPlace, isRecorded: true };
    return {
      session: { ...session, headTurnId: id, setupPlace },
      end: { status: "completed", endMs },
    };
  }
  const { headTurnId, thread } = before;
  const next = { ...session, headTurnId, thread };
  const stateJson = toStateText(next, headTurnId);
  return { session: next, end: { status: "failed", endMs, reason: how, stateJson } };
}
