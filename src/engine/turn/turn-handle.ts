// A turn that runs, as whoever asked for it sees it: parts as they come, a result, and ways to break in.
import type { Message, ToolResultBlock, ToolUseBlock } from "../../core/message/message.ts";
import type { PassedOver, RouteSource } from "../../core/routing/decide-route.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import type { TurnPhase, TurnRun } from "./deps.ts";
import { createPartQueue } from "./part-queue.ts";

export type TurnPart =
  | { readonly type: "started"; readonly turnId: string }
  | {
      /** Which model answers, who decided so, and who could not be asked. */
      readonly type: "route";
      readonly model: string;
      readonly provider: string;
      readonly by: RouteSource;
      readonly passedOver: readonly PassedOver[];
      /** Null where the session stays with its model. */
      readonly previousModel: string | null;
    }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | {
      readonly type: "tool";
      readonly toolUseId: string;
      readonly name: string;
      readonly status: "asked" | "running" | "succeeded" | "failed";
      /** With `running`. */
      readonly use?: ToolUseBlock;
      /** When it has ended, where it gave one. */
      readonly result?: ToolResultBlock;
    }
  | { readonly type: "phase"; readonly phase: TurnPhase }
  | { readonly type: "ended"; readonly run: TurnRun }
  | { readonly type: "failed"; readonly error: unknown };

export interface RunOptions {
  /** Of the turn; made by default. */
  readonly id?: string;
  /** For this turn only, whatever the session stays with. Where it cannot take it, another one does, which is told. */
  readonly model?: string;
  readonly signal?: AbortSignal;
}

/** Read it with `for await`, or wait for `result`; both can be done, and neither must be. */
export interface TurnHandle extends AsyncIterable<TurnPart> {
  /** Of a turn that is gone on with, empty until `started`. */
  readonly turnId: string;
  readonly result: Promise<TurnRun>;
  /** Ends the turn as soon as can be; what it said and cost is recorded. */
  abort(reason?: string): void;
  /**
   * Says something to the agent while it works: with the next call, or in one more call. False where the turn is over
   * or nothing is said; what came too late for a call is in the run as `unsaid`.
   */
  steer(text: string): boolean;
  readonly phase: TurnPhase;
  readonly isStreaming: boolean;
  readonly isCompacting: boolean;
}

/** The side of whoever runs the turn. */
export interface HandleParts {
  readonly handle: TurnHandle;
  readonly signal: AbortSignal;
  /** Tells of its beginning. */
  readonly identify: (turnId: string) => void;
  readonly onPart: (part: StreamPart) => void;
  readonly onPhase: (phase: TurnPhase) => void;
  readonly tell: (part: TurnPart) => void;
  readonly takeSteered: () => readonly Message[];
  readonly settle: (run: Promise<TurnRun>) => void;
}

/** Null for a turn that is gone on with: its name is told later. */
export function createTurnHandle(given: string | null, outer?: AbortSignal): HandleParts {
  const { signal, abort } = createAbort(outer);
  const queue = createPartQueue<TurnPart>();
  const { promise: result, resolve, reject } = Promise.withResolvers<TurnRun>();
  // Whoever reads the parts alone is told there.
  result.catch(() => {});
  let phase: TurnPhase = "preparing";
  const steering = createSteering();
  let turnId = "";
  const identify = (id: string): void => {
    turnId = id;
    queue.push({ type: "started", turnId });
  };
  if (given !== null) identify(given);
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
      abort,
      steer: (text) => phase !== "over" && steering.add(text),
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
    signal,
    identify,
    onPart: (part) => toTurnParts(part).forEach((each) => queue.push(each)),
    onPhase: (next) => {
      phase = next;
      queue.push({ type: "phase", phase });
    },
    tell: (part) => queue.push(part),
    takeSteered: () => steering.take(),
    settle: (run) => {
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

function createAbort(outer?: AbortSignal): Pick<HandleParts, "signal"> & Pick<TurnHandle, "abort"> {
  const controller = new AbortController();
  const { signal: own } = controller;
  const signal = outer === undefined ? own : AbortSignal.any([own, outer]);
  return { signal, abort: (reason = "aborted") => controller.abort(new Error(reason)) };
}

/** What is said meanwhile, each given once. */
function createSteering(): { add(text: string): boolean; take(): readonly Message[] } {
  const waiting: Message[] = [];
  return {
    add: (text) => {
      if (text.trim() === "") return false;
      waiting.push({ role: "user", content: [{ type: "text", text }] });
      return true;
    },
    take: () => waiting.splice(0),
  };
}

function toTurnParts(part: StreamPart): readonly TurnPart[] {
  switch (part.type) {
    case "text":
    case "thinking":
      return [part];
    case "tool":
      return [{ ...part, status: "asked" }];
    case "tool-input":
      return [];
  }
}
