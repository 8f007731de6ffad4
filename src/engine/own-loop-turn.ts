// One turn of our loop that stops wherever the application works: at each call, and where tools run. Everything else is
// the loop itself, so that what is recorded, learned, folded and told is the same.
import type { CallEntry } from "../core/ledger/call-entry.ts";
import type { Message, ToolUseBlock } from "../core/message/message.ts";
import { StrataError } from "../core/strata-error.ts";
import type { ProviderFailure } from "../core/wire/failure.ts";
import type { Protocol } from "../core/wire/protocol.ts";
import type { Reply } from "../core/wire/reply.ts";
import type { Sent } from "../edge/providers/run-attempts.ts";
import type { CallAtHand, Edges, TurnRun } from "../engine.ts";
import type { Compaction } from "./compaction.ts";
import { toOwnCall, type OwnCall } from "./own-loop-call.ts";
import type { TurnHandle } from "./turn-handle.ts";

/** Where the turn waits for the application, or that it waits no more. */
export type Stop =
  | {
      readonly kind: "call";
      readonly call: OwnCall;
      readonly protocol: Protocol;
      readonly nowMs: () => number;
    }
  | { readonly kind: "tools"; readonly uses: readonly ToolUseBlock[] }
  | { readonly kind: "over"; readonly run: TurnRun };

export interface OwnTurn {
  /** The edges of the loop, with the application in the place of provider and tools. */
  takePlace(edges: Edges): Edges;
  /** Tells it what it runs in. */
  follow(handle: TurnHandle): void;
  /** Where it waits, or will. */
  stop(): Promise<Stop>;
  /** The last call that is recorded. */
  entry(): CallEntry | null;
  answerCall(outcome: Reply | ProviderFailure, nowMs: number): void;
  answerTools(messages: readonly Message[]): void;
  /** Stops it where it waits, so that anybody may resume it. */
  release(): void;
}

export function createOwnTurn(): OwnTurn {
  const meeting: Meeting = {
    stop: waitingRoom(),
    ready: null,
    entry: null,
    calling: null,
    running: null,
    isReleased: false,
  };
  const goOn = (): void => {
    meeting.stop = waitingRoom();
  };
  return {
    takePlace: (edges) => takePlace(edges, meeting),
    follow: ({ result }) => {
      result.then(
        (run) => meeting.stop.resolve({ kind: "over", run }),
        (error: unknown) => meeting.stop.reject(error),
      );
    },
    stop: () => meeting.stop.promise,
    entry: () => meeting.entry,
    answerCall: (outcome, nowMs) => {
      goOn();
      meeting.calling?.resolve(toSent(outcome, nowMs));
    },
    answerTools: (messages) => {
      goOn();
      meeting.running?.resolve(messages);
    },
    release: () => {
      meeting.isReleased = true;
      goOn();
      meeting.calling?.reject(released());
      meeting.running?.resolve([]);
    },
  };
}

/** What both sides know. */
interface Meeting {
  stop: PromiseWithResolvers<Stop>;
  ready: CallAtHand | null;
  entry: CallEntry | null;
  calling: PromiseWithResolvers<Sent> | null;
  running: PromiseWithResolvers<readonly Message[]> | null;
  isReleased: boolean;
}

function takePlace(edges: Edges, meeting: Meeting): Edges {
  return {
    ...edges,
    // Asked anew for every call, as the edges give it.
    get compaction(): Compaction {
      return edges.compaction ?? {};
    },
    onReady: (ready) => {
      meeting.ready = ready;
      edges.onReady?.(ready);
    },
    onSettled: (entry) => {
      meeting.entry = entry;
      edges.onSettled?.(entry);
    },
    beforeCall: async (...about) => {
      if (meeting.isReleased) throw released();
      await edges.beforeCall?.(...about);
    },
    provider: {
      send: async (call) => {
        const { ready } = meeting;
        // Anything else, such as a summary, is ours to send.
        if (ready?.call.request !== call.request) return edges.provider.send(call);
        const { promise, resolve, reject } = Promise.withResolvers<Sent>();
        meeting.calling = { promise, resolve, reject };
        const { protocol } = ready.turn.session;
        const own = toOwnCall(ready, edges.compaction);
        meeting.stop.resolve({ kind: "call", call: own, protocol, nowMs: edges.now });
        return untilAborted(promise, edges.signal, () => resolve(toSent(cancelled, edges.now())));
      },
    },
    runTools: (uses) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly Message[]>();
      meeting.running = { promise, resolve, reject };
      meeting.stop.resolve({ kind: "tools", uses });
      return untilAborted(promise, edges.signal, () => resolve([]));
    },
  };
}

function released(): StrataError {
  return new StrataError(
    "conflict",
    "the turn was released",
    "go on with it by `prepareUnfinished`, here or in another process",
  );
}

function waitingRoom(): PromiseWithResolvers<Stop> {
  const room = Promise.withResolvers<Stop>();
  // A turn may end while nobody waits for it.
  room.promise.catch(() => {});
  return room;
}

const cancelled: ProviderFailure = { kind: "cancelled", detail: "cancelled by the caller" };

async function untilAborted<Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal | undefined,
  onAbort: () => void,
): Promise<Answer> {
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener("abort", onAbort);
  try {
    return await answer;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** For engines whose application sends everything itself: a history that must be shortened gets no written summary. */
export const sendsNothing: Edges["provider"] = {
  send: () => Promise.resolve(toSent({ kind: "not-found", detail: "no provider is given" }, 0)),
};

/** How often the application tried is not known here. */
function toSent(outcome: Reply | ProviderFailure, endMs: number): Sent {
  return {
    outcome,
    attempts: [],
    startMs: endMs,
    endMs,
    firstByteMs: null,
    status: null,
    requestId: null,
    headers: {},
  };
}
