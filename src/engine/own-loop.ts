// For applications with an agent loop of their own: they send the calls and run the tools, we do the rest.
import { assert } from "../core/assert.ts";
import type { AgentEvent } from "../core/layers/event.ts";
import type { CallEntry } from "../core/ledger/call-entry.ts";
import type { Block, Message, ToolUseBlock } from "../core/message/message.ts";
import { StrataError } from "../core/strata-error.ts";
import type { StreamPart } from "../core/wire/reply.ts";
import type { Edges, TurnRun } from "../engine.ts";
import type { RunOptions } from "./engine-session.ts";
import type { OwnCall } from "./own-loop-call.ts";
import { readReply } from "./own-loop-reply.ts";
import { createOwnTurn, type OwnTurn, type Stop } from "./own-loop-turn.ts";
import type { TurnHandle } from "./turn-handle.ts";

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
   * stream, which are read to the end; a `fetch` response with a whole body; or what was thrown instead.
   */
  record(call: OwnCall, reply: unknown, options?: RecordOptions): Promise<RecordedCall>;
  /** Goes on with a turn that was released, or that a process left open. */
  prepareUnfinished(options?: RunOptions): Promise<NextStep>;
  /** Gives up the turn that is prepared; its calls stay in the bill. */
  abandon(reason?: string): Promise<TurnRun | null>;
  /** Lets go of the turn that is prepared, so that anybody may go on with it. */
  release(): Promise<void>;
}

/** What a tool gave for one use. Uses without an answer are said to have given none. */
export interface ToolAnswer {
  readonly toolUseId: string;
  readonly content: string | readonly Block[];
  readonly isError?: boolean;
}

export interface RecordOptions {
  /** Told of the events of a stream, as they are read. */
  readonly onPart?: (part: StreamPart) => void;
  /** Something to say to the agent with the next call, or in one more call. */
  readonly steer?: string;
}

export interface NextStep {
  /** To be run; `prepare` takes what they gave. */
  readonly toolUses: readonly ToolUseBlock[];
  /** Null while the turn goes on: `prepare` gives its next call, also where no tools were asked for. */
  readonly run: TurnRun | null;
}

export interface RecordedCall extends NextStep {
  /** As the ledger has it: usage, cost, what the cache did. */
  readonly entry: CallEntry;
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
  /** Whether somebody works on it right now. */
  isBusy: boolean;
}

export function createOwnLoop(loop: LoopOf): OwnLoop {
  let current: Current | null = null;
  const begin = (said: AgentEvent | string | null, options: RunOptions): Current => {
    if (current !== null) throw isPrepared(loop.sessionId);
    const turn = createOwnTurn();
    const handle = loop.start(said, options, (edges) => turn.takePlace(edges));
    turn.follow(handle);
    const begun: Current = { turn, handle, isBusy: false };
    current = begun;
    const end = (): void => {
      if (current === begun) current = null;
    };
    handle.result.then(end, end);
    return begun;
  };
  const need = (): Current => {
    if (current === null) throw noTurn(loop.sessionId);
    return current;
  };
  return {
    prepare: async (said, options = {}) => {
      const isBegun = isAnswers(said);
      const now = isBegun ? need() : begin(said, options);
      return whileBusy(now, async () => {
        if (isBegun) await answerTools(now, said);
        return callIn(await now.turn.stop());
      });
    },
    record: async (call, reply, options = {}) => {
      const now = need();
      return whileBusy(now, () => recordReply(now, call, reply, options));
    },
    prepareUnfinished: async (options = {}) => {
      const now = begin(null, options);
      return whileBusy(now, async () => toStep(await now.turn.stop()));
    },
    abandon: async (reason) => {
      if (current === null) return null;
      const { handle } = current;
      handle.abort(reason);
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

async function answerTools({ turn }: Current, answers: readonly ToolAnswer[]): Promise<void> {
  const stop = await turn.stop();
  checkAnswers(answers, stop.kind === "tools" ? stop.uses : []);
  if (stop.kind === "tools") turn.answerTools(answers.map(toMessage));
}

async function recordReply(
  { turn, handle }: Current,
  call: OwnCall,
  reply: unknown,
  { onPart, steer }: RecordOptions,
): Promise<RecordedCall> {
  const stop = await turn.stop();
  if (stop.kind !== "call" || stop.call !== call) throw notWaiting(call);
  const { protocol, nowMs } = stop;
  const reading = { protocol, nowMs, ...(onPart === undefined ? {} : { onPart }) };
  const outcome = await readReply(reply, reading);
  // Whoever aborted it meanwhile ended it.
  if (handle.phase === "over") throw notWaiting(call);
  if (steer !== undefined) handle.steer(steer);
  turn.answerCall(outcome, nowMs());
  const next = await turn.stop();
  const entry = turn.entry();
  assert(entry !== null, "a call that was answered is recorded");
  return { entry, ...toStep(next) };
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

function checkAnswers(answers: readonly ToolAnswer[], uses: readonly ToolUseBlock[]): void {
  const open = new Set(uses.map(({ id }) => id));
  for (const { toolUseId } of answers) {
    if (open.delete(toolUseId)) continue;
    throw new StrataError(
      "input-invalid",
      `there is no open tool use ${toolUseId}`,
      "answer each use of the last reply once, by its id",
    );
  }
}

function toMessage({ toolUseId, content, isError }: ToolAnswer): Message {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId, content: blocks, isError: isError === true }],
  };
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

function toStep(stop: Stop): NextStep {
  return {
    toolUses: stop.kind === "tools" ? stop.uses : [],
    run: stop.kind === "over" ? stop.run : null,
  };
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

function notWaiting({ turnId, number }: OwnCall): StrataError {
  return new StrataError(
    "conflict",
    `call ${number} of turn ${turnId} is not waited for: it is recorded, or its turn is over`,
    "record each call once, and the one that was prepared last",
  );
}

function busy(id: string): StrataError {
  return new StrataError(
    "conflict",
    `a call of turn ${id} is being prepared or recorded`,
    "wait for that first",
  );
}
