// The place of provider and tools in the loop, taken by an application that does their work itself.
import type { CallEntry } from "../core/ledger/call-entry.ts";
import type { Message, ToolUseBlock } from "../core/message/message.ts";
import { StrataError } from "../core/strata-error.ts";
import type { ProviderFailure } from "../core/wire/failure.ts";
import type { Reply } from "../core/wire/reply.ts";
import type { Sent } from "../edge/providers/run-attempts.ts";
import type { CallAtHand, Edges, TurnRun } from "./edges.ts";
import type { Compaction } from "./compaction.ts";
import { toOwnCall, type OwnCall } from "./own-loop-call.ts";
import type { ReplyReading } from "./own-loop-reply.ts";
import { untilAborted } from "./until-aborted.ts";

/** Where the turn waits for the application, or that it waits no more. */
export type Stop =
  | { readonly kind: "call"; readonly call: OwnCall }
  | { readonly kind: "tools"; readonly uses: readonly ToolUseBlock[] }
  | { readonly kind: "over"; readonly run: TurnRun };

/** What it takes to read a reply. `until` ends it where the turn was given up. */
export type CallReading = Required<Pick<ReplyReading, "protocol" | "nowMs" | "until">>;

/** What both sides know. */
export interface Meeting {
  readonly outer: AbortSignal | undefined;
  /** Aborted once nobody is waited for any more. */
  readonly patience: AbortController;
  stop: PromiseWithResolvers<Stop>;
  ready: CallAtHand | null;
  calling: Calling | null;
  running: PromiseWithResolvers<readonly Message[]> | null;
  isReleased: boolean;
  /** Holds on to nothing any more. */
  leave: () => void;
}

interface Calling {
  readonly call: OwnCall;
  readonly reading: CallReading;
  readonly answer: PromiseWithResolvers<Sent>;
  state: "waiting" | "read" | "given up";
  entry: CallEntry | null;
}

/** How long an aborted turn waits for what its call gave. */
const patienceMs = 500;

export function takePlace(edges: Edges, meeting: Meeting): Edges {
  const { patience } = meeting;
  const giveUp = (): void => patience.abort();
  const isAborted = (): boolean => edges.signal?.aborted === true;
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    if (meeting.outer?.aborted === true) timer = setTimeout(giveUp, patienceMs);
    else giveUp();
  };
  edges.signal?.addEventListener("abort", onAbort, { once: true });
  meeting.leave = () => {
    clearTimeout(timer);
    edges.signal?.removeEventListener("abort", onAbort);
  };
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
      const { calling } = meeting;
      if (calling?.call.number === entry.number) calling.entry = entry;
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
        const cancel = (): Sent => toSent(cancelled, edges.now());
        // Nobody is asked for more.
        if (isAborted()) return cancel();
        const calling = toCalling(ready, edges, patience.signal);
        meeting.calling = calling;
        meeting.stop.resolve({ kind: "call", call: calling.call });
        return untilAborted(calling.answer.promise, patience.signal, () => {
          if (calling.state === "read") return calling.answer.promise;
          calling.state = "given up";
          return cancel();
        });
      },
    },
    runTools: async (uses) => {
      if (isAborted()) return [];
      meeting.running = Promise.withResolvers<readonly Message[]>();
      meeting.stop.resolve({ kind: "tools", uses });
      return untilAborted(meeting.running.promise, edges.signal, () => []);
    },
  };
}

function toCalling(ready: CallAtHand, edges: Edges, until: AbortSignal): Calling {
  const { protocol } = ready.turn.session;
  return {
    call: toOwnCall(ready, edges),
    reading: { protocol, nowMs: edges.now, until },
    answer: Promise.withResolvers<Sent>(),
    state: "waiting",
    entry: null,
  };
}

export function released(): StrataError {
  return new StrataError(
    "conflict",
    "the turn was released",
    "go on with it by `prepareUnfinished`, here or in another process",
  );
}

export function waitingRoom(): PromiseWithResolvers<Stop> {
  const room = Promise.withResolvers<Stop>();
  // A turn may end while nobody waits for it.
  room.promise.catch(() => {});
  return room;
}

const cancelled: ProviderFailure = { kind: "cancelled", detail: "cancelled by the caller" };

/** How often the application tried is not known here. */
export function toSent(outcome: Reply | ProviderFailure, endMs: number): Sent {
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
