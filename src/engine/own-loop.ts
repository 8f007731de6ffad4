// For applications with an agent loop of their own: they send the calls and run the tools, we do the rest.
import type { AgentEvent } from "../core/layers/event.ts";
import { StrataError } from "../core/strata-error.ts";
import type { Edges, TurnRun } from "./edges.ts";
import type { RunOptions } from "./engine-session.ts";
import { giveAnswers, type ToolAnswer } from "./own-loop-answers.ts";
import type { OwnCall } from "./own-loop-call.ts";
import type { Stop } from "./own-loop-place.ts";
import {
  recordReply,
  toStep,
  type NextStep,
  type RecordedCall,
  type RecordOptions,
} from "./own-loop-record.ts";
import { createOwnTurn, type OwnTurn } from "./own-loop-turn.ts";
import type { TurnHandle } from "./turn-handle.ts";

export type { NextStep, RecordedCall, RecordOptions, ToolAnswer };

/** One call at a time: `prepare`, send it, `record`; then the next one of the turn, until `run` is there. */
export interface OwnLoop {
  /**
   * Begins a turn with an event or what a person says, or goes on with the results of the tools that were asked for.
   * What the call sends is recorded by then, and the history is shortened where that was due.
   */
  prepare(
    said: AgentEvent | string | readonly ToolAnswer[],
    options?: RunOptions,
  ): Promise<OwnCall>;
  /**
   * Books what came of a call: the body as text, which keeps every byte; an SDK's response object; the events of its
   * stream, which are read to the end; a `fetch` response with a whole body; what was thrown instead; or a promise of
   * any of these. After an abort it books what came by then.
   */
  record(call: OwnCall, reply: unknown, options?: RecordOptions): Promise<RecordedCall>;
  /** Goes on with a turn that was released, or that a process left open. */
  prepareUnfinished(options?: RunOptions): Promise<NextStep>;
  /** Gives up the turn that is prepared; its calls stay in the bill. */
  abandon(reason?: string): Promise<TurnRun | null>;
  /** Lets go of the turn that is prepared, so that anybody may go on with it. */
  release(): Promise<void>;
}

/** Turns of our loop, with other edges. */
export interface LoopOf {
  readonly sessionId: string;
  /** Null to go on with a turn that nobody closed. */
  readonly start: StartTurn;
}

export type ChangeEdges = (edges: Edges) => Edges;

/** Null goes on with the turn that a process left open. */
export type StartTurn = (
  said: AgentEvent | string | null,
  options: RunOptions,
  change: ChangeEdges,
) => TurnHandle;

interface Current {
  readonly turn: OwnTurn;
  readonly handle: TurnHandle;
  /** Of the application. */
  readonly signal: AbortSignal | undefined;
  /** Whether somebody works on it right now. */
  isBusy: boolean;
}

export function createOwnLoop(loop: LoopOf): OwnLoop {
  let current: Current | null = null;
  const begin = (said: AgentEvent | string | null, options: RunOptions): Current => {
    if (current !== null) throw isPrepared(loop.sessionId);
    const { signal } = options;
    const turn = createOwnTurn(signal);
    const handle = loop.start(said, options, (edges) => turn.takePlace(edges));
    turn.follow(handle);
    const begun: Current = { turn, handle, signal, isBusy: false };
    current = begun;
    const end = (): void => {
      if (current === begun) current = null;
    };
    handle.result.then(end, end);
    return begun;
  };
  const beginNext = async (
    said: AgentEvent | string | null,
    options: RunOptions,
  ): Promise<Current> => {
    if (current !== null) await endAborted(current);
    return begin(said, options);
  };
  const need = (): Current => {
    if (current === null) throw noTurn(loop.sessionId);
    return current;
  };
  return {
    prepare: async (said, options = {}) => {
      const isBegun = isAnswers(said);
      const now = isBegun ? need() : await beginNext(said, options);
      return whileBusy(now, async () => {
        if (isBegun) await giveAnswers(now.turn, said);
        return callIn(await now.turn.stop());
      });
    },
    record: async (call, reply, options = {}) => {
      const now = need();
      return whileBusy(now, () => recordReply(now, call, reply, options));
    },
    prepareUnfinished: async (options = {}) => {
      const now = await beginNext(null, options);
      return whileBusy(now, async () => toStep(await now.turn.stop()));
    },
    abandon: async (reason) => {
      if (current === null) return null;
      const { handle, turn } = current;
      handle.abort(reason);
      turn.giveUp();
      return handle.result;
    },
    release: async () => {
      if (current === null) return;
      const { turn, handle, isBusy } = current;
      if (isBusy) throw busy(handle.turnId);
      turn.release();
      await handle.result.catch(() => {});
    },
  };
}

/** What an aborted turn waits for does not come once the next one is begun. */
async function endAborted({ turn, handle, signal, isBusy }: Current): Promise<void> {
  if (isBusy || signal?.aborted !== true) return;
  turn.giveUp();
  await handle.result.catch(() => {});
}

/** Two at a time would each take the other's place. */
async function whileBusy<Result>(now: Current, work: () => Promise<Result>): Promise<Result> {
  if (now.isBusy) throw busy(now.handle.turnId);
  now.isBusy = true;
  try {
    return await work();
  } finally {
    now.isBusy = false;
  }
}

function isAnswers(
  said: AgentEvent | string | readonly ToolAnswer[],
): said is readonly ToolAnswer[] {
  return Array.isArray(said);
}

function callIn(stop: Stop): OwnCall {
  if (stop.kind === "call") return stop.call;
  throw stop.kind === "over"
    ? new StrataError(
        "conflict",
        `the turn is over: ${stop.run.end}`,
        "say something new with `prepare`",
      )
    : new StrataError(
        "conflict",
        `the turn waits for ${stop.uses.length} tools`,
        "give `prepare` what they gave, as a list",
      );
}

function noTurn(id: string): StrataError {
  return new StrataError(
    "conflict",
    `no turn is prepared in session ${id}`,
    "begin one with `prepare`, or take one up with `prepareUnfinished`",
  );
}

function isPrepared(id: string): StrataError {
  return new StrataError(
    "conflict",
    `a turn is prepared in session ${id}`,
    "record its call, answer its tools with a list, or `abandon` or `release` it",
  );
}

function busy(id: string): StrataError {
  return new StrataError(
    "conflict",
    `a call of turn ${id} is being prepared or recorded`,
    "wait for that first",
  );
}
