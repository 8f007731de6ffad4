// One turn on one screen: assemble → plan → encode → send → decode → record, until the model is done.
import { randomUUID } from "node:crypto";
import { readEvent } from "./core/layers/event.ts";
import type { CallEntry } from "./core/ledger/call-entry.ts";
import type { ToolUseBlock } from "./core/message/message.ts";
import type { CallToSend } from "./edge/providers/run-attempts.ts";
import type { Route } from "./core/routing/decide-route.ts";
import { answerTools } from "./engine/answer-tools.ts";
import { labelsOf } from "./engine/count-prompt.ts";
import type { TurnEnding } from "./core/turn/turn-ending.ts";
import type { CallAtHand, Edges, TurnRun, TurnToResume, TurnToRun } from "./engine/edges.ts";
import { limitResults } from "./core/turn/limit-results.ts";
import { fold, readyCall, type NextCall, type ReadyCall } from "./engine/ready-call.ts";
import { callOf, closeTurn, type RunningTurn } from "./engine/record-turn.ts";
import type { Session } from "./core/session/session.ts";
import { settleCall } from "./core/turn/settle-call.ts";
import { createTeller, type Teller } from "./engine/tell.ts";
import { createMoments } from "./engine/tell-moment.ts";
import { createTurnEvents, type TurnEvents } from "./engine/turn-events.ts";
import { recordSession } from "./engine/stored-session.ts";
import { endingOf, isOverflow } from "./core/turn/turn-ending.ts";
import { loadUnfinished } from "./engine/unfinished-turn.ts";
import { createBlindShadow, createShadow, type Shadow } from "./engine/shadow.ts";
import type { TurnEvent } from "./core/turn/turn.ts";
import { stays } from "./core/turn/turn-events.ts";

export type { TurnEnding } from "./core/turn/turn-ending.ts";
export type { Edges, TurnPhase, TurnRun, TurnToResume, TurnToRun } from "./engine/edges.ts";

/** One turn, from what happened to what it cost. */
export async function runTurn(session: Session, turn: TurnToRun, edges: Edges): Promise<TurnRun> {
  const startMs = edges.now();
  const iso = new Date(startMs).toISOString();
  const said = readEvent(turn.event, session.role, { iso });
  const before = await recordSession(session, edges);
  edges.onRecorded?.(before);
  const id = turn.id ?? randomUUID();
  return runCalls(
    {
      id,
      call: callOf(before, id, edges),
      before,
      session: before,
      open: null,
      current: [said.current],
      wholes: new Map(),
      isStaged: false,
      context: { ...said.context, injectedAt: iso },
      volatile: perCall(
        createMoments(turn.event, before, { startMs, toldMs: null }),
        turn.volatile,
      ),
      callCount: 0,
      toolCallCount: 0,
      callsMax: turn.callsMax ?? 50,
    },
    edges,
    {
      event: { moment: turn.event, context: null, startIso: iso, toldMs: null },
      ...(turn.route === undefined ? {} : { route: turn.route }),
    },
  );
}

/** Goes on with the turn of a session that nobody closed, from its last whole call. */
export async function resumeTurn(
  session: Session,
  turn: TurnToResume,
  edges: Edges,
): Promise<TurnRun> {
  const unfinished = await loadUnfinished(session, edges);
  const toldMs = unfinished.turn.callCount === 0 ? null : session.cache.lastStartMs;
  // Where it stands before the messages, another time would be another prefix.
  const isFixed = session.policy.layout.volatile === "system-tail";
  const startMs = (isFixed ? unfinished.toldMs : null) ?? edges.now();
  const moments = createMoments(turn.moment ?? {}, session, { startMs, toldMs });
  const volatile = perCall(moments, turn.volatile);
  const running = { ...unfinished.turn, volatile, callsMax: turn.callsMax ?? 50 };
  const { ending } = unfinished;
  const startIso = new Date(startMs).toISOString();
  const event = { moment: turn.moment ?? {}, context: null, startIso, toldMs };
  if (ending === null) return runCalls(running, edges, { earlier: unfinished.calls, event });
  const { open } = running;
  try {
    const events = createTurnEvents(createTeller(edges.events, running.call), running);
    const endMs = edges.now();
    const closed = await closeTurn({ turn: running, how: ending, endMs });
    events.resumed(running);
    events.ended(ending, unfinished.calls, endMs);
    return { session: closed, calls: [], end: ending };
  } catch (error) {
    await open?.release().catch(() => {});
    throw error;
  }
}

interface TurnSoFar {
  readonly route?: Route;
  /** Calls of the turn that another process made. */
  readonly earlier?: readonly CallEntry[];
  readonly event: TurnEvent;
}

async function runCalls(
  first: RunningTurn,
  edges: Edges,
  { route, earlier, event }: TurnSoFar,
): Promise<TurnRun> {
  const teller = createTeller(edges.events, first.call);
  const events = createTurnEvents(teller, first);
  const calls: CallEntry[] = [];
  const shadow = toShadow(first, { event, ...(earlier && { earlier }) }, edges);
  let turn = first;
  let isRecovering = false;
  const end = async (how: TurnEnding): Promise<TurnRun> => {
    shadow.same(shadow.expect("close").how ?? how, how, "ending");
    const endMs = edges.now();
    const session = await closeTurn({ turn, how, endMs });
    events.ended(how, [...(earlier ?? []), ...calls], endMs, edges.signal?.reason);
    return { session, calls, end: how };
  };
  try {
    for (let number = first.callCount + 1; number <= first.callsMax; number += 1) {
      await edges.beforeCall?.();
      turn = { ...turn, session: edges.renew?.(turn.session) ?? turn.session };
      edges.onPhase?.("preparing");
      const startMs = edges.now();
      const onRecorded: NextCall["onRecorded"] = (recorded, prepared) => {
        turn = recorded;
        if (number === 1) events.started(turn.current, prepared, route);
        else if (calls.length === 0) events.resumed(first);
      };
      const next = { turn, startMs, mayFold: !isRecovering, onRecorded, shadow };
      const ready = await readyCall(next, edges, teller);
      // A fold may have taken its time.
      const sentMs = edges.now();
      shadow.same(shadow.expect("send").number ?? number, number, "number");
      const made = await makeCall({ ...ready, number, startMs: sentMs }, edges, events, shadow);
      ({ turn } = made);
      calls.push(made.entry);
      if (isOverflow(made.entry) && !isRecovering) {
        const why = {
          prepared: ready.call,
          nowMs: edges.now(),
          asked: "overflow_recovery" as const,
        };
        shadow.expect("compact");
        const shorter = await fold(turn, why, edges, teller);
        shadow.compacted(shorter);
        isRecovering = shorter.isFolded;
        ({ turn } = shorter);
        if (isRecovering) continue;
      }
      isRecovering = false;
      const isLast = number === first.callsMax;
      const after = await goOn({ turn, entry: made.entry, isLast }, edges, teller, shadow);
      if (typeof after === "string") return await end(after);
      turn = after;
    }
    return await end("too many calls");
  } catch (error) {
    // Nobody works on it any more: it can be resumed or abandoned at once. What went wrong matters more.
    await turn.open?.release().catch(() => {});
    throw error;
  }
}

function toShadow(
  { id, before, session, current, isStaged, callsMax, toolCallCount }: RunningTurn,
  { event, earlier }: Pick<TurnSoFar, "event" | "earlier">,
  edges: Edges,
): Shadow {
  const last = earlier?.at(-1);
  const isHard = last !== undefined && isOverflow(last);
  return (isHard ? createBlindShadow : createShadow)({
    id,
    event,
    route: stays,
    limits: { callsMax, mayCompact: true, repeatsFailedCalls: false },
    before,
    session,
    current,
    fullResults: new Map(),
    isStored: isStaged,
    earlier: earlier ?? [],
    calls: [],
    isCompacted: false,
    said: [],
    aborted: null,
    rules: { compaction: edges.compaction ?? {}, canCount: edges.counter !== undefined },
    resumed: earlier === undefined ? null : { toolCalls: toolCallCount },
    isAnnounced: false,
    at: { after: "begin" },
    news: [],
  });
}

interface CallToMake extends CallAtHand {
  readonly startMs: number;
}

/** Sends it, learns from what comes back, and records both. */
async function makeCall(
  { turn, call, number, startMs }: CallToMake,
  edges: Edges,
  events: TurnEvents,
  shadow: Shadow,
): Promise<{ readonly turn: RunningTurn; readonly entry: CallEntry }> {
  const { session } = turn;
  const { assembly, plan, request, volatile, promptTokens } = call;
  events.callStarted(number, promptTokens);
  edges.onPhase?.("calling");
  edges.onReady?.({ turn, call, number });
  const sent = await edges.provider.send({ request, ...howToSend(session.options, edges) });
  const { spent } = session;
  const made = { turnId: turn.id, number, assembly, plan, request, spent, volatile };
  const endMs = edges.now();
  const settled = settleCall(session, { ...made, sent, startMs, endMs });
  shadow.apply({ did: "send", sent, notes: request.notes, startMs, endMs });
  await turn.open?.append(settled.entry, settled.more);
  shadow.settled(settled.entry);
  events.callSettled(settled.entry, session);
  noteBill(call, settled.entry, session, edges);
  edges.onSettled?.(settled.entry);
  return { turn: { ...turn, session: settled.session }, entry: settled.entry };
}

function noteBill(
  { countedTokens }: ReadyCall,
  { usage }: CallEntry,
  session: Session,
  { counter }: Edges,
): void {
  if (countedTokens === undefined || usage === null) return;
  counter?.noteBill({ labels: labelsOf(session), countedTokens, usage });
}

interface AnsweredCall {
  readonly turn: RunningTurn;
  readonly entry: CallEntry;
  /** Whether no other call is allowed. */
  readonly isLast: boolean;
}

/** What the next call sends that is new: results of tools, and what was said meanwhile. Or how the turn ends. */
async function goOn(
  { turn, entry, isLast }: AnsweredCall,
  edges: Edges,
  teller: Teller,
  shadow: Shadow,
): Promise<RunningTurn | TurnEnding> {
  if (entry.status !== "complete") return failedHow(entry);
  const uses = toolUsesOf(entry);
  const ending = endingOf(entry.stopReason, uses);
  // With the last call that is allowed, what was said meanwhile would only undo the reply.
  const isOpen = !isLast && (ending === null || ending === "done");
  const steered = isOpen ? (edges.takeSteered?.() ?? []) : [];
  if (steered.length > 0) shadow.apply({ did: "say", messages: steered });
  if (ending !== null && steered.length === 0) return ending;
  if (uses.length > 0) shadow.same(shadow.expect("run tools").uses ?? uses, uses, "uses");
  if (uses.length > 0) edges.onPhase?.("running tools");
  const answers = uses.length === 0 ? [] : await answerTools(uses, edges.runTools, turn.call);
  if (uses.length > 0) shadow.apply({ did: "run tools", answers });
  const limited = limitResults(answers, turn.session, edges.compaction);
  for (const payload of limited.cuts) teller.tell({ type: "compaction.completed", payload });
  const current = [...limited.messages, ...steered];
  return { ...turn, current, wholes: limited.wholes, isStaged: false };
}

function perCall(
  moments: ReturnType<typeof createMoments>,
  more: TurnToRun["volatile"] = [],
): RunningTurn["volatile"] {
  return async (nowMs) => [
    ...moments(nowMs),
    ...(typeof more === "function" ? await more() : more),
  ];
}

function failedHow({ failure }: CallEntry): TurnEnding {
  return failure?.kind === "cancelled" ? "cancelled" : "failed";
}

function toolUsesOf({ reply }: CallEntry): readonly ToolUseBlock[] {
  return reply?.content.filter((block) => block.type === "tool_use") ?? [];
}

function howToSend(
  { stream }: Session["options"],
  { signal, onPart }: Edges,
): Omit<CallToSend, "request"> {
  return {
    stream,
    ...(signal === undefined ? {} : { signal }),
    ...(onPart === undefined ? {} : { onPart }),
  };
}
