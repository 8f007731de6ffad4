// For applications with their own agent loop: they send the calls and run the tools; the engine does the rest.
import type { AgentEvent } from "../../core/layers/event.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { TurnResult } from "../../core/turn/turn-result.ts";
import { checkEvent, checkOptions } from "../session/check-input.ts";
import type { RunOptions } from "../turn/turn-handle.ts";
import type { OwnCall } from "./own-call.ts";
import {
  type Stop,
  toStep,
  type BegunTurn,
  type NextStep,
  OwnTurn,
  type RecordedCall,
  type RecordOptions,
} from "./own-turn.ts";
import type { ToolAnswer } from "./tool-answers.ts";

export type { NextStep, RecordedCall, RecordOptions, ToolAnswer };

/** One call at a time: `prepare`, send, `record`. Repeat until `record` returns a `run`. */
export interface OwnLoop {
  /**
   * Begins a turn with an event or a person's message, or continues with the results of the requested tools.
   * When it resolves, the call's messages are recorded and a due compaction is done.
   */
  prepare(
    said: AgentEvent | string | readonly ToolAnswer[],
    options?: RunOptions,
  ): Promise<OwnCall>;
  /**
   * Books the reply of a call: the body as text, which keeps every byte; an SDK's response object; the events of its
   * stream, which are read to the end; a `fetch` response with a whole body; the error that was thrown; or a promise of
   * any of these. After an abort it books what had arrived.
   */
  record(call: OwnCall, reply: unknown, options?: RecordOptions): Promise<RecordedCall>;
  /** Continues a turn that was released, or that a process left open. */
  prepareUnfinished(options?: RunOptions): Promise<NextStep>;
  /** Abandons the prepared turn. Its calls stay in the bill. */
  abandon(reason?: string): Promise<TurnResult | null>;
  /** Releases the prepared turn, so that any process may continue it. */
  release(): Promise<void>;
}

export interface LoopOf {
  readonly sessionId: string;
  /** Null continues the turn that a process left open. */
  readonly begin: (event: AgentEvent | null, options: RunOptions) => BegunTurn;
}

interface Current {
  readonly turn: OwnTurn;
  readonly begun: BegunTurn;
  readonly outer: AbortSignal | undefined;
}

export function createOwnLoop({ sessionId, begin }: LoopOf): OwnLoop {
  let current: Current | null = null;
  const need = (): OwnTurn => {
    if (current === null) throw noTurn(sessionId);
    return current.turn;
  };
  const start = async (event: AgentEvent | null, options: RunOptions): Promise<Stop> => {
    checkOptions(options, ["id", "model"]);
    // An aborted turn gets no more replies once the next turn begins.
    if (current?.outer?.aborted === true) await end(current);
    if (current !== null) throw isPrepared(sessionId);
    const { signal: outer } = options;
    const begun = begin(event, options);
    const now: Current = { begun, outer, turn: new OwnTurn(begun, outer) };
    current = now;
    const leave = (): void => {
      if (current === now) current = null;
    };
    begun.handle.result.then(leave, leave);
    return now.turn.start();
  };
  return {
    prepare: async (said, options = {}) =>
      callIn(isAnswers(said) ? await need().answer(said) : await start(checkEvent(said), options)),
    record: async (call, reply, options = {}) => need().record(call, reply, options),
    prepareUnfinished: async (options = {}) => toStep(await start(null, options)),
    abandon: async (reason) => {
      if (current === null) return null;
      const { begun, turn } = current;
      begun.handle.abort(reason);
      await turn.giveUp();
      return begun.handle.result;
    },
    release: async () => current?.turn.release(),
  };
}

async function end({ turn, begun }: Current): Promise<void> {
  await turn.giveUp();
  await begun.handle.result.catch(() => {});
}

function isAnswers(
  said: AgentEvent | string | readonly ToolAnswer[],
): said is readonly ToolAnswer[] {
  return Array.isArray(said);
}

function callIn(stop: Stop): OwnCall {
  if (stop.kind === "call") return stop.call;
  const problem = stop.kind === "over" ? stop.run.error : null;
  if (problem?.kind === "spending_cap") {
    throw new StrataError("limit-reached", problem.message, "raise the cap, then prepare it again");
  }
  throw stop.kind === "over"
    ? new StrataError(
        "conflict",
        `the turn is over: ${stop.run.end}`,
        "say something new with `prepare`",
      )
    : new StrataError(
        "conflict",
        `the turn waits for ${stop.uses.length} tools`,
        "pass their results to `prepare` as a list",
      );
}

function noTurn(id: string): StrataError {
  return new StrataError(
    "conflict",
    `no turn is prepared in session ${id}`,
    "begin one with `prepare`, or continue one with `prepareUnfinished`",
  );
}

function isPrepared(id: string): StrataError {
  return new StrataError(
    "conflict",
    `a turn is prepared in session ${id}`,
    "record its call, answer its tools with a list, or `abandon` or `release` it",
  );
}
