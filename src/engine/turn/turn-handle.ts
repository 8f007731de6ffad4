// A running turn as its caller sees it: parts as they come, a result, and ways to steer or abort it.
import type { QueueMode } from "../../core/config/schema/queue.ts";
import type { ToolResultBlock, ToolUseBlock } from "../../core/message/message.ts";
import type { PassedOver, RouteSource } from "../../core/routing/decide-route.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Miss } from "../../core/turn/diagnose-call.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import type { TurnResult } from "../../core/turn/turn-result.ts";
import type { TurnPhase } from "./deps.ts";
import { createSteering, type Steering } from "./steering.ts";

export type TurnPart =
  /** The message waits in the session's queue, and is not lost if the process dies. `id`: of its queue item. */
  | { readonly type: "queued"; readonly id: string; readonly mode: QueueMode }
  | { readonly type: "started"; readonly turnId: string }
  | {
      /** Which model answers, who decided so, and which models could not be asked. */
      readonly type: "route";
      readonly model: string;
      readonly provider: string;
      readonly by: RouteSource;
      readonly passedOver: readonly PassedOver[];
      /** Null if the session stays with its model. */
      readonly previousModel: string | null;
    }
  | Extract<StreamPart, { readonly type: "text" | "thinking" }>
  | (Extract<StreamPart, { readonly type: "tool" }> & {
      readonly status: "asked" | "running" | "succeeded" | "failed";
      /** With `running`, which comes when the tool begins. */
      readonly use?: ToolUseBlock;
      /** When it has ended, if it gave one. */
      readonly result?: ToolResultBlock;
    })
  | { readonly type: "phase"; readonly phase: TurnPhase }
  /** A call read less from the cache than it could have, as in the event `cache.miss`. */
  | { readonly type: "miss"; readonly callNumber: number; readonly miss: Miss }
  | { readonly type: "ended"; readonly run: TurnResult }
  | { readonly type: "failed"; readonly error: unknown };

export interface RunOptions {
  /** The id of the turn; random by default. */
  readonly id?: string;
  /** The model for this turn only. If it cannot take the turn, another one does, and the part `route` says why. */
  readonly model?: string;
  readonly signal?: AbortSignal;
  /** What happens if the session is busy; `follow-up` unless the configuration says otherwise. */
  readonly mode?: QueueMode;
}

/** Read it with `for await`, wait for `result`, or both. */
export interface TurnHandle extends AsyncIterable<TurnPart> {
  /** Empty until `started` for a turn that is resumed. Changes if another turn takes the message. */
  readonly turnId: string;
  readonly result: Promise<TurnResult>;
  /** Ends the turn as soon as possible; its replies and costs are recorded. Withdraws a message that waits. */
  abort(reason?: string): void;
  /**
   * Sends a message to the agent while it works: with the next call, or in one more call. False if the turn is over or
   * the text is empty; messages that came too late for a call are in the run as `unsaid`.
   */
  steer(text: string): boolean;
  readonly phase: TurnPhase;
  readonly isStreaming: boolean;
  readonly isCompacting: boolean;
}

/** The side that runs the turn. */
export interface HandleParts {
  readonly handle: TurnHandle;
  readonly signal: AbortSignal;
  /** Emits the start of a turn. A turn that was left open is finished first, and its start is emitted, too. */
  readonly started: (turnId: string) => void;
  readonly onPart: (part: StreamPart) => void;
  readonly onPhase: (phase: TurnPhase) => void;
  readonly emit: (part: TurnPart) => void;
  readonly steering: Steering;
  /** Another turn takes the message: the handle is that turn's from now on, and shows its parts. Returns its result. */
  readonly join: (turn: TurnHandle) => Promise<TurnResult>;
  /** The handle ends with this work. */
  readonly follow: (run: Promise<TurnResult>) => void;
}

/** `id`: the turn's id; null for a turn that is resumed, whose id comes with its start. */
export function createTurnHandle(id: string | null, outer?: AbortSignal): HandleParts {
  const controller = new AbortController();
  const { signal: own } = controller;
  const queue = createPartQueue();
  const { promise: result, resolve, reject } = Promise.withResolvers<TurnResult>();
  // A caller that only reads the parts gets the error there.
  result.catch(() => {});
  const steering = createSteering();
  const state: HandleState = { turnId: id ?? "", phase: "preparing", joined: null };
  const end = (part: TurnPart): void => {
    state.phase = "over";
    queue.push(part);
    queue.end();
  };
  return {
    handle: toHandle(state, {
      result,
      abort: (reason) => controller.abort(new Error(reason)),
      say: (text) => steering.say({ role: "user", content: [{ type: "text", text }] }),
      read: () => queue.read(),
    }),
    signal: outer === undefined ? own : AbortSignal.any([own, outer]),
    started: (startedId) => {
      if (id === null) state.turnId = startedId;
      queue.push({ type: "started", turnId: startedId });
    },
    onPart: (part) => {
      if (part.type === "tool") queue.push({ ...part, status: "asked" });
      else if (part.type !== "tool-input") queue.push(part);
    },
    onPhase: (phase) => {
      state.phase = phase;
      queue.push({ type: "phase", phase });
    },
    emit: (part) => queue.push(part),
    steering,
    join: async (turn) => {
      state.joined = turn;
      for await (const part of turn) {
        if (part.type !== "ended" && part.type !== "failed") queue.push(part);
      }
      return turn.result;
    },
    follow: (run) => {
      run.then(
        (done) => {
          end({ type: "ended", run: done });
          resolve(done);
        },
        (error: unknown) => {
          end({ type: "failed", error });
          reject(error);
        },
      );
    },
  };
}

interface HandleState {
  turnId: string;
  phase: TurnPhase;
  /** The turn that took the message. */
  joined: TurnHandle | null;
}

interface OwnTurn {
  readonly result: Promise<TurnResult>;
  readonly abort: (reason: string) => void;
  readonly say: (text: string) => void;
  readonly read: () => AsyncIterator<TurnPart>;
}

/** The side of the caller. */
function toHandle(state: HandleState, own: OwnTurn): TurnHandle {
  const phase = (): TurnPhase => state.joined?.phase ?? state.phase;
  return {
    get turnId() {
      return state.joined?.turnId ?? state.turnId;
    },
    result: own.result,
    abort: (reason = "aborted") => (state.joined ?? own).abort(reason),
    steer: (text) => {
      checkText(text);
      if (state.joined !== null) return state.joined.steer(text);
      if (state.phase === "over" || text.trim() === "") return false;
      own.say(text);
      return true;
    },
    get phase() {
      return phase();
    },
    get isStreaming() {
      return phase() === "calling";
    },
    get isCompacting() {
      return phase() === "compacting";
    },
    [Symbol.asyncIterator]: own.read,
  };
}

function checkText(given: unknown): void {
  if (typeof given === "string") return;
  throw new StrataError("input-invalid", `what is steered is a ${typeof given}`, "give text");
}

interface PartQueue {
  push(part: TurnPart): void;
  end(): void;
  read(): AsyncIterator<TurnPart>;
}

/** Every reader gets all parts from the beginning. */
function createPartQueue(): PartQueue {
  const parts: TurnPart[] = [];
  let isEnded = false;
  let more = Promise.withResolvers<void>();
  const wakeReaders = (): void => {
    more.resolve();
    more = Promise.withResolvers();
  };
  async function* readAll(): AsyncGenerator<TurnPart> {
    for (let at = 0; ;) {
      const part = parts[at];
      if (part !== undefined) {
        at += 1;
        yield part;
      } else if (isEnded) return;
      else await more.promise;
    }
  }
  return {
    push: (part) => {
      parts.push(part);
      wakeReaders();
    },
    end: () => {
      isEnded = true;
      wakeReaders();
    },
    read: () => readAll(),
  };
}
