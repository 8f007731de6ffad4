// A running turn as its caller sees it: parts as they come, a result, and ways to steer or abort it.
import type { Message, ToolResultBlock, ToolUseBlock } from "../../core/message/message.ts";
import type { PassedOver, RouteSource } from "../../core/routing/decide-route.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Miss } from "../../core/turn/diagnose-call.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import type { TurnResult } from "../../core/turn/turn-result.ts";
import type { TurnPhase } from "./deps.ts";

export type TurnPart =
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
}

/** Read it with `for await`, wait for `result`, or both. */
export interface TurnHandle extends AsyncIterable<TurnPart> {
  /** Empty until `started` for a turn that is resumed. */
  readonly turnId: string;
  readonly result: Promise<TurnResult>;
  /** Ends the turn as soon as possible; its replies and costs are recorded. */
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
  /** Emits the start of a turn: first of one that was left open, then of the handle's own. */
  readonly started: (turnId: string) => void;
  readonly onPart: (part: StreamPart) => void;
  readonly onPhase: (phase: TurnPhase) => void;
  readonly emit: (part: TurnPart) => void;
  readonly takeSteered: () => readonly Message[];
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
  let phase: TurnPhase = "preparing";
  let turnId = id ?? "";
  const steered: Message[] = [];
  const end = (part: TurnPart): void => {
    phase = "over";
    queue.push(part);
    queue.end();
  };
  return {
    handle: {
      get turnId() {
        return turnId;
      },
      result,
      abort: (reason = "aborted") => controller.abort(new Error(reason)),
      steer: (text) => {
        checkText(text);
        if (phase === "over" || text.trim() === "") return false;
        steered.push({ role: "user", content: [{ type: "text", text }] });
        return true;
      },
      get phase() {
        return phase;
      },
      get isStreaming() {
        return phase === "calling";
      },
      get isCompacting() {
        return phase === "compacting";
      },
      [Symbol.asyncIterator]: () => queue.read(),
    },
    signal: outer === undefined ? own : AbortSignal.any([own, outer]),
    started: (startedId) => {
      if (id === null) turnId = startedId;
      queue.push({ type: "started", turnId: startedId });
    },
    onPart: (part) => {
      if (part.type === "tool") queue.push({ ...part, status: "asked" });
      else if (part.type !== "tool-input") queue.push(part);
    },
    onPhase: (next) => {
      phase = next;
      queue.push({ type: "phase", phase });
    },
    emit: (part) => queue.push(part),
    takeSteered: () => steered.splice(0),
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
