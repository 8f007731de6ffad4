// One turn of our loop that stops wherever the application works: at each call, and where tools run. Everything else is
// the loop itself, so that what is recorded, learned, folded and told is the same.
import type { CallEntry } from "../core/ledger/call-entry.ts";
import type { Message } from "../core/message/message.ts";
import type { ProviderFailure } from "../core/wire/failure.ts";
import type { Reply } from "../core/wire/reply.ts";
import type { Edges } from "./edges.ts";
import type { OwnCall } from "./own-loop-call.ts";
import {
  released,
  takePlace,
  toSent,
  waitingRoom,
  type CallReading,
  type Meeting,
  type Stop,
} from "./own-loop-place.ts";
import type { TurnHandle } from "./turn-handle.ts";

export interface OwnTurn {
  /** The edges of the loop, with the application in the place of provider and tools. */
  takePlace(edges: Edges): Edges;
  /** Tells it what it runs in. */
  follow(handle: TurnHandle): void;
  /** Where it waits, or will. */
  stop(): Promise<Stop>;
  /** Null where that call is not waited for. From here on it is, also where the turn is aborted meanwhile. */
  beginReading(call: OwnCall): CallAtReading | null;
  answerCall(outcome: Reply | ProviderFailure, nowMs: number): void;
  answerTools(messages: readonly Message[]): void;
  /** After an abort: nobody comes any more with what a call gave. */
  giveUp(): void;
  /** Stops it where it waits, so that anybody may resume it. */
  release(): void;
}

export interface CallAtReading extends CallReading {
  /** As it is recorded; null before. */
  entry(): CallEntry | null;
}

/**
 * `outer`: the signal of the application. The SDK may have the same one, and what it gave by then was billed: the turn
 * waits a moment for it.
 */
export function createOwnTurn(outer?: AbortSignal): OwnTurn {
  const meeting: Meeting = {
    outer,
    patience: new AbortController(),
    stop: waitingRoom(),
    ready: null,
    calling: null,
    running: null,
    isReleased: false,
    leave: () => {},
  };
  const goOn = (): void => {
    meeting.stop = waitingRoom();
  };
  return {
    takePlace: (edges) => takePlace(edges, meeting),
    follow: ({ result }) => {
      result.then(
        (run) => {
          meeting.leave();
          meeting.stop.resolve({ kind: "over", run });
        },
        (error: unknown) => {
          meeting.leave();
          meeting.stop.reject(error);
        },
      );
    },
    stop: () => meeting.stop.promise,
    beginReading: (call) => {
      const { calling } = meeting;
      if (calling?.call !== call || calling.state !== "waiting") return null;
      calling.state = "read";
      return { ...calling.reading, entry: () => calling.entry };
    },
    answerCall: (outcome, nowMs) => {
      goOn();
      meeting.calling?.answer.resolve(toSent(outcome, nowMs));
    },
    answerTools: (messages) => {
      goOn();
      meeting.running?.resolve(messages);
    },
    giveUp: () => meeting.patience.abort(),
    release: () => {
      meeting.isReleased = true;
      goOn();
      meeting.calling?.answer.reject(released());
      meeting.running?.resolve([]);
    },
  };
}

/** For engines whose application sends everything itself: a history that must be shortened gets no written summary. */
export const sendsNothing: Edges["provider"] = {
  send: () => Promise.resolve(toSent({ kind: "not-found", detail: "no provider is given" }, 0)),
};
