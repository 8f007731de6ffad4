// One call of the AI SDK, planned and booked: the engine's interpreter, where the SDK sends the call and runs the tools.
import { randomUUID } from "node:crypto";
import { assert } from "../../core/assert.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import { nextStep } from "../../core/turn/next-step.ts";
import type { PreparedCall } from "../../core/turn/prepare-call.ts";
import type { TurnEnding } from "../../core/turn/turn-ending.ts";
import { stays } from "../../core/turn/turn-events.ts";
import { newTurn } from "../../core/turn/turn.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { advance, close, startCall, take, type StepEdges } from "../../engine.ts";
import { sendsNothing } from "../../engine/own-loop/application-side.ts";
import { recordSession } from "../../engine/session/stored-session.ts";
import type { Emitter } from "../../engine/events/tell.ts";
import { apply, toRunning, type RunningTurn } from "../../engine/turn/running-turn.ts";
import type { Conversation, FoundConversation } from "./conversations.ts";

export interface BookEdges {
  /** Nothing is recorded without one. */
  readonly ledger?: Ledger;
  readonly events?: Emitter;
  readonly now: () => number;
}

export interface BookedCall extends PreparedCall {
  /** Records what came of it. The turn goes on where tools were asked for. */
  settle(outcome: Reply | ProviderFailure): Promise<CallEntry>;
}

export async function bookCall(
  { conversation, current }: FoundConversation,
  book: BookEdges,
): Promise<BookedCall> {
  const edges = toEdges(book);
  const running = conversation.turn ?? (await begin(conversation, current, edges));
  if (conversation.turn !== null) give(running, current);
  conversation.turn = running;
  const step = await advance(running, edges);
  assert(step.do === "send", "a turn that the SDK goes on with sends a call");
  const { request, startMs } = startCall(step, running, edges);
  return {
    ...step.prepared,
    settle: async (outcome) => {
      const sent = { outcome, attempts: [] };
      apply(running, { did: "send", sent, notes: request.notes, startMs, endMs: edges.now() });
      const recording = nextStep(running.turn);
      assert(recording.do === "record reply", "a reply is recorded");
      await take(recording, running, edges);
      const next = nextStep(running.turn);
      if (next.do === "close") await endTurn(conversation, next.how, book);
      return recording.entry;
    },
  };
}

/** What the SDK sends that is new: results of tools, words, or the same again after a call that failed. */
function give(running: RunningTurn, current: readonly Message[]): void {
  const { turn } = running;
  if (nextStep(turn).do === "run tools") apply(running, { did: "run tools", answers: current });
  else if (!turn.isStored) apply(running, { did: "say", messages: current });
}

async function begin(
  conversation: Conversation,
  current: readonly Message[],
  edges: StepEdges,
): Promise<RunningTurn> {
  const before = await recordSession(conversation.session, edges);
  conversation.session = before;
  const turn = {
    ...newTurn,
    id: randomUUID(),
    event: { moment: null, context: null, startIso: "", toldMs: null },
    route: stays,
    // The SDK owns the history, and tries again by itself.
    limits: { callsMax: Number.MAX_SAFE_INTEGER, mayCompact: false, repeatsFailedCalls: true },
    before,
    session: before,
    current,
    resumed: null,
  };
  return toRunning(turn, { lease: null, volatile: [] }, edges);
}

/** The SDK sends the calls and runs the tools. */
function toEdges(book: BookEdges): StepEdges {
  return { ...book, provider: sendsNothing, runTools: () => Promise.resolve([]) };
}

/** Closes a turn that the SDK does not go on with. */
export async function endTurn(
  conversation: Conversation,
  how: TurnEnding,
  book: BookEdges,
): Promise<void> {
  const { turn } = conversation;
  if (turn === null) return;
  conversation.turn = null;
  const { session } = await close(turn, how, toEdges(book));
  conversation.session = session;
}
