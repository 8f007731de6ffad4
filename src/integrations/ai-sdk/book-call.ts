// One call of the AI SDK, planned and booked: what the engine's loop does around a call, without sending it.
import { randomUUID } from "node:crypto";
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message, ToolUseBlock } from "../../core/message/message.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { endingOf, type TurnEnding } from "../../core/turn/turn-ending.ts";
import { prepareCall, type PreparedCall } from "../../core/turn/prepare-call.ts";
import { callOf, closeTurn, recordSent, type RunningTurn } from "../../engine/record-turn.ts";
import { settleCall } from "../../core/turn/settle-call.ts";
import { recordSession } from "../../engine/stored-session.ts";
import { createTeller, type Emitter } from "../../engine/tell.ts";
import { createTurnEvents } from "../../engine/turn-events.ts";
import { isToRepeat, type Conversation, type FoundConversation } from "./conversations.ts";

export interface BookEdges {
  /** Nothing is recorded without one. */
  readonly ledger?: Ledger;
  readonly events?: Emitter;
  readonly now: () => number;
}

export interface BookedCall extends PreparedCall {
  readonly plan: CachePlan;
  /** Records what came of it. The turn goes on where tools were asked for. */
  settle(outcome: Reply | ProviderFailure): Promise<CallEntry>;
}

export async function bookCall(
  { conversation, current }: FoundConversation,
  edges: BookEdges,
): Promise<BookedCall> {
  const startMs = edges.now();
  const turn = await turnFor(conversation, current, edges);
  const { session } = turn;
  const prepared = prepareCall({ session, current, volatile: null, startMs });
  const open = await recordNew(turn, prepared, startMs, edges);
  const number = turn.callCount + 1;
  const running: RunningTurn = { ...turn, open, current, isStaged: true, callCount: number };
  conversation.turn = running;
  const { assembly, plan } = prepared;
  if (number === 1) conversation.events?.started(current, prepared);
  conversation.events?.callStarted(number, prepared.promptTokens);
  const { protocol, model, options } = session;
  const request = protocol.encode({ assembly, plan, model, options });
  return {
    ...prepared,
    settle: async (outcome) => {
      const sent = { outcome, attempts: [] };
      const made = { turnId: turn.id, number, assembly, plan, request, sent, startMs };
      const settled = settleCall(session, { ...made, endMs: edges.now() });
      await open?.append(settled.entry, settled.more);
      conversation.events?.callSettled(settled.entry, session);
      conversation.calls = [...conversation.calls, settled.entry];
      conversation.turn = { ...running, session: settled.session };
      const how = howItEnds(settled.entry, number);
      if (how !== null) await endTurn(conversation, how, edges);
      return settled.entry;
    },
  };
}

/** The one that goes on, or a new one. A call that failed is tried again with the same words. */
async function turnFor(
  conversation: Conversation,
  current: readonly Message[],
  edges: BookEdges,
): Promise<RunningTurn> {
  const { turn } = conversation;
  if (turn !== null) return { ...turn, isStaged: isToRepeat(conversation) };
  const { ledger, events } = edges;
  const before =
    ledger === undefined
      ? conversation.session
      : await recordSession(conversation.session, { ledger, ...(events && { events }) });
  const id = randomUUID();
  const call = callOf(before, id, {});
  conversation.session = before;
  conversation.calls = [];
  conversation.events = createTurnEvents(createTeller(events, call), { before, id });
  return {
    id,
    call,
    before,
    session: before,
    open: null,
    current,
    wholes: new Map(),
    isStaged: false,
    context: null,
    volatile: () => Promise.resolve([]),
    callCount: 0,
    toolCallCount: 0,
    callsMax: Number.MAX_SAFE_INTEGER,
  };
}

async function recordNew(
  turn: RunningTurn,
  { assembly }: PreparedCall,
  startMs: number,
  { ledger }: BookEdges,
): Promise<RunningTurn["open"]> {
  if (ledger === undefined || turn.isStaged) return turn.open;
  const { thread } = turn.session;
  return recordSent(turn, turn.open, { thread, assembly, startMs }, { ledger });
}

/** Null where the turn goes on: with tools, or with another attempt that must not lose the calls before it. */
function howItEnds(entry: CallEntry, number: number): TurnEnding | null {
  if (entry.status === "complete") return endingOf(entry.stopReason, usesIn(entry));
  if (entry.failure?.kind === "cancelled") return "cancelled";
  return number === 1 ? "failed" : null;
}

function usesIn({ reply }: CallEntry): readonly ToolUseBlock[] {
  return reply?.content.filter((block) => block.type === "tool_use") ?? [];
}

/** Closes a turn that nobody goes on with. */
export async function endTurn(
  conversation: Conversation,
  how: TurnEnding,
  { now }: Pick<BookEdges, "now">,
): Promise<void> {
  const { turn, events, calls } = conversation;
  if (turn === null) return;
  conversation.turn = null;
  const endMs = now();
  conversation.session = await closeTurn({ turn, how, endMs });
  events?.ended(how, calls, endMs);
}
