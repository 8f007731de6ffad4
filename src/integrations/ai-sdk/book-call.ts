// One call of the AI SDK, planned and booked: the engine's interpreter, where the SDK sends the call and runs the tools.
import { randomUUID } from "node:crypto";
import { assert } from "../../core/assert.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import type { Miss, SentBesides } from "../../core/turn/diagnose-call.ts";
import { nextStep } from "../../core/turn/next-step.ts";
import type { PreparedCall } from "../../core/turn/prepare-call.ts";
import { type TurnEnding, openTurn } from "../../core/turn/turn.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { advance, take, type StepDeps } from "../../engine.ts";
import { closeTurn, apply, toRunning, type RunningTurn } from "../../engine/turn/running-turn.ts";
import { encodeCall } from "../../engine/turn/steps.ts";
import { sendsNothing } from "../../engine/own-loop/application-side.ts";
import { recordSession } from "../../engine/session/stored-session.ts";
import type { Emitter } from "../../engine/events/turn-emitter.ts";
import type { Conversation } from "./conversation.ts";
import type { FoundConversation } from "./conversations.ts";

export interface BookDeps {
  /** Without a ledger nothing is recorded. */
  readonly ledger?: Ledger;
  readonly events?: Emitter;
  readonly now: () => number;
}

export interface BookedCall extends PreparedCall {
  /** Records the outcome. The turn goes on if the reply has tool uses. */
  settle(outcome: Reply | ProviderFailure, besides: SentBesides): Promise<SettledCall>;
}

export interface SettledCall {
  readonly entry: CallEntry;
  /** What the call lost of the cache, and why; null for nothing. */
  readonly miss: Miss | null;
}

export async function bookCall(
  { conversation, current }: FoundConversation,
  book: BookDeps,
): Promise<BookedCall> {
  const deps = toDeps(book);
  const running = conversation.turn ?? (await begin(conversation, current, deps));
  if (conversation.turn !== null) give(running, current);
  conversation.turn = running;
  const step = await advance(running, deps);
  assert(step.do === "send", "a turn that the SDK goes on with sends a call");
  const { notes, startMs } = encodeCall(step, running, deps);
  return {
    ...step.prepared,
    settle: async (outcome, besides) => {
      const sent = { outcome, attempts: [] };
      apply(running, { did: "send", sent, notes, besides, startMs, endMs: deps.now() });
      const { at } = running.turn;
      const miss = at.after === "send" ? at.sent.miss : null;
      const recording = nextStep(running.turn);
      assert(recording.do === "record reply", "a reply is recorded");
      await take(recording, running, deps);
      const next = nextStep(running.turn);
      if (next.do === "close") await endTurn(conversation, next.how, book);
      return { entry: recording.entry, miss };
    },
  };
}

/** Gives the turn the SDK's new messages: tool results, text, or a repeat after a failed call. */
function give(running: RunningTurn, current: readonly Message[]): void {
  const { turn } = running;
  if (nextStep(turn).do === "run tools") apply(running, { did: "run tools", answers: current });
  else if (!turn.isStored) apply(running, { did: "steer", messages: current });
}

async function begin(
  conversation: Conversation,
  current: readonly Message[],
  deps: StepDeps,
): Promise<RunningTurn> {
  const before = await recordSession(conversation.session, deps);
  conversation.session = before;
  const turn = openTurn({
    id: randomUUID(),
    startMs: deps.now(),
    event: {
      sourceId: null,
      attachments: [],
      message: null,
      moment: null,
      context: null,
      startIso: "",
      timeSentMs: null,
    },
    // The SDK owns the history and makes the retries.
    limits: { callsMax: Number.MAX_SAFE_INTEGER, mayCompact: false, repeatsFailedCalls: true },
    before,
    current,
  });
  return toRunning(turn, deps);
}

/** The SDK sends the calls and runs the tools. */
function toDeps(book: BookDeps): StepDeps {
  return { ...book, provider: sendsNothing, runTools: () => Promise.resolve([]) };
}

/** Closes a turn that the SDK does not continue. */
export async function endTurn(
  conversation: Conversation,
  how: TurnEnding,
  book: BookDeps,
): Promise<void> {
  const { turn } = conversation;
  if (turn === null) return;
  conversation.turn = null;
  const { session } = await closeTurn(turn, how, toDeps(book));
  conversation.session = session;
}
