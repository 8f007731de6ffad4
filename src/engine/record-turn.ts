// What a running turn tells the ledger: what is about to be sent, and how it ended.
import type { Assembly } from "../core/assembly/assemble.ts";
import { keepFoundation } from "../core/assembly/kept-foundation.ts";
import { messagesFrom, messageTokens, type Thread } from "../core/assembly/thread.ts";
import type { EventContext } from "../core/layers/event.ts";
import type { Section } from "../core/layers/section.ts";
import type { OpenTurn } from "../core/ledger/ledger.ts";
import { messageSources, type NewMessage } from "../core/ledger/turn-record.ts";
import type { Message } from "../core/message/message.ts";
import type { DispatchContext } from "../edge/tools/dispatch/dispatch-options.ts";
import type { SharedChain } from "../edge/tools/dispatch/tool-trace.ts";
import type { Edges, TurnEnding } from "./edges.ts";
import { keptSetupOf } from "./recorded-seat.ts";
import { toStateText } from "./session-state.ts";
import type { Session } from "./session.ts";

/** A turn with everything its next call needs. */
export interface RunningTurn {
  readonly id: string;
  /** The session as it was before the turn. */
  readonly before: Session;
  /** With the calls made so far. */
  readonly session: Session;
  /** Null until the first call is about to be sent. */
  readonly open: OpenTurn | null;
  readonly current: readonly Message[];
  /** By place in `current`: the whole text of a tool result that was cut. */
  readonly wholes: ReadonlyMap<number, string>;
  /** Whether the ledger has `current` already. */
  readonly isStaged: boolean;
  readonly context: (EventContext & { readonly injectedAt: string }) | null;
  /** What is told for the next call only. */
  readonly volatile: (nowMs: number) => Promise<readonly Section[]>;
  readonly callCount: number;
  /** Tools that were asked for in those calls. */
  readonly toolCallCount: number;
  readonly callsMax: number;
  /** Whose tools run, and the chain of its events, which tools share. */
  readonly call: DispatchContext & { readonly chain: SharedChain };
}

export interface CallToRecord {
  /** Before the call. */
  readonly thread: Thread;
  readonly assembly: Assembly;
  readonly startMs: number;
}

/** Recorded before it is sent: what tools did is not lost with the process. */
export async function recordSent(
  turn: RunningTurn,
  open: OpenTurn | null,
  call: CallToRecord,
  { ledger }: Pick<Edges, "ledger">,
): Promise<OpenTurn> {
  const messages = newMessages(call.assembly.plainThread, call.thread.messages.length);
  if (open !== null) {
    if (messages.length > 0)
      await open.answer(messages.map((each, at) => withWhole(each, turn, at)));
    return open;
  }
  const { model, role, id, headTurnId, permissions, workspacePath } = turn.before;
  const { foundation } = call.thread;
  const { tools } = foundation;
  return ledger.openTurn({
    id: turn.id,
    sessionId: id,
    parentTurnId: headTurnId,
    model: model.id,
    provider: model.provider,
    role,
    startMs: call.startMs,
    ...(workspacePath === null ? {} : { workspacePath }),
    ...(turn.before.seat.isRecorded
      ? {}
      : {
          foundation: keepFoundation(foundation),
          setupJson: JSON.stringify(keptSetupOf(turn.before)),
        }),
    toolset: {
      name: role,
      tools: tools.map(({ name }) => name),
      permissionsGranted: permissions,
    },
    messages: messages.map((each) => ({ ...each, ...noteOf(turn) })),
  });
}

/** Messages of a thread from a place on, as the ledger keeps them. */
export function newMessages(thread: Thread, from: number): readonly NewMessage[] {
  const tokens = messageTokens(thread, from);
  return messagesFrom(thread, from).map((message, index) => ({
    message,
    tokens: tokens[index] ?? 0,
  }));
}

function withWhole(message: NewMessage, { wholes }: RunningTurn, at: number): NewMessage {
  const whole = wholes.get(at);
  return whole === undefined ? message : { ...message, whole };
}

/** Where the words come from. */
function noteOf({ context }: RunningTurn): Pick<NewMessage, "source" | "contextJson"> {
  if (context === null) return {};
  const source = messageSources.find((each) => each === context.source) ?? "event";
  return { source, contextJson: JSON.stringify(context) };
}

export interface TurnToClose {
  readonly turn: RunningTurn;
  readonly how: TurnEnding;
  readonly endMs: number;
}

/** The session to go on from. What was learned stays; a tool use without an answer must not. */
export async function closeTurn({ turn, how, endMs }: TurnToClose): Promise<Session> {
  const { open, session } = turn;
  if (how === "done") {
    await open?.close({ status: "completed", endMs });
    const seat = { ...session.seat, isRecorded: true };
    return { ...session, headTurnId: turn.id, seat };
  }
  const { headTurnId, thread } = turn.before;
  const next = { ...session, headTurnId, thread };
  const stateJson = toStateText(next, headTurnId);
  await open?.close({ status: "failed", endMs, reason: how, stateJson });
  return next;
}

export function callOf(
  { id: sessionId, role }: Session,
  turnId: string,
  { signal }: Pick<Edges, "signal">,
): RunningTurn["call"] {
  const chain: SharedChain = { current: null };
  return { sessionId, turnId, role, chain, ...(signal === undefined ? {} : { signal }) };
}
