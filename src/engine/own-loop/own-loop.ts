// For applications with an agent loop of their own: they send the calls and run the tools, the engine does the rest.
import { assert } from "../../core/assert.ts";
import type { AgentEvent } from "../../core/layers/event.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { ToolUseBlock } from "../../core/message/message.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import type { TurnRun } from "../edges.ts";
import type { RunOptions } from "../engine-session.ts";
import type { ToolAnswer } from "./tool-answers.ts";
import type { OwnCall } from "./own-call.ts";
import { readReply } from "./read-reply.ts";
import {
  findEntry,
  giveAnswers,
  giveNothing,
  giveReply,
  goOn,
  type Stop,
  type Waiting,
} from "./own-steps.ts";
import type { SessionTurn } from "../session-turn.ts";
import { release } from "../turn/running-turn.ts";
import type { TurnHandle } from "../turn-handle.ts";

export type { ToolAnswer };

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
  /** Lets go of the turn that is prepared, so that any process may go on with it. */
  release(): Promise<void>;
}

export interface RecordOptions {
  /** Called with the events of a stream, as they are read. */
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
  /** What `onPart` threw. It was not called again; the reply is booked. */
  readonly partProblem?: unknown;
}

/** A turn that occupies its session until it is settled. */
export interface BegunTurn {
  readonly handle: TurnHandle;
  readonly signal: AbortSignal;
  /** Runs the work with the turn; what it throws ends the turn for the session. */
  with<Value>(work: (turn: SessionTurn) => Promise<Value>): Promise<Value>;
  settle(run: TurnRun): void;
  fail(error: unknown): void;
}

export interface LoopOf {
  readonly sessionId: string;
  /** Null goes on with the turn that a process left open. */
  readonly begin: (said: AgentEvent | string | null, options: RunOptions) => BegunTurn;
}

interface Current {
  readonly begun: BegunTurn;
  /** The application's own signal; its SDK may have the same one. */
  readonly outer: AbortSignal | undefined;
  /** Aborted once the turn waits for nobody any more. */
  readonly patience: AbortController;
  turn: SessionTurn | null;
  stop: Stop | null;
  /** Whether a call of it is being prepared or recorded. */
  isBusy: boolean;
}

/** What an SDK gave by the time of an abort was billed: an aborted turn waits this long for it. */
const patienceMs = 500;

export function createOwnLoop({ sessionId, begin }: LoopOf): OwnLoop {
  let current: Current | null = null;

  const leave = (now: Current): void => {
    if (current === now) current = null;
  };

  /** Runs until the application has something to do again. */
  const proceed = async (now: Current, turn: SessionTurn): Promise<Stop> => {
    try {
      const stop = await goOn(turn);
      now.stop = stop;
      if (stop.kind === "over") {
        leave(now);
        now.begun.settle(stop.run);
      }
      return stop;
    } catch (error) {
      leave(now);
      now.begun.fail(error);
      throw error;
    }
  };

  const giveUp = async (now: Current): Promise<void> => {
    now.patience.abort();
    const { turn, stop } = now;
    if (now.isBusy || turn === null || stop === null || stop.kind === "over") return;
    await whileBusy(now, async () => {
      await giveNothing(turn, stop);
      await proceed(now, turn);
    });
  };

  const followAbort = (now: Current): void => {
    const { signal, handle } = now.begun;
    let timer: NodeJS.Timeout | undefined;
    // A turn that fails here has failed for the session, which says so.
    const end = (): void => void giveUp(now).catch(() => {});
    const onAbort = (): void => {
      if (now.outer?.aborted === true) timer = setTimeout(end, patienceMs);
      else end();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const stopFollowing = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    handle.result.then(stopFollowing, stopFollowing);
  };

  /** Begins a turn, and runs to its first stop. */
  const start = async (said: AgentEvent | string | null, options: RunOptions): Promise<Stop> => {
    if (current !== null) await endAborted(current);
    if (current !== null) throw isPrepared(sessionId);
    const begun = begin(said, options);
    const now: Current = {
      begun,
      outer: options.signal,
      patience: new AbortController(),
      turn: null,
      stop: null,
      isBusy: false,
    };
    current = now;
    followAbort(now);
    return whileBusy(now, () =>
      begun
        .with((turn) => {
          now.turn = turn;
          return proceed(now, turn);
        })
        .catch((error: unknown) => {
          leave(now);
          begun.fail(error);
          throw error;
        }),
    );
  };

  const endAborted = async (now: Current): Promise<void> => {
    if (now.outer?.aborted !== true) return;
    await giveUp(now);
    if (!now.isBusy) await now.begun.handle.result.catch(() => {});
  };

  const need = (): Current & { readonly turn: SessionTurn; readonly stop: Waiting } => {
    if (current === null) throw noTurn(sessionId);
    if (isWaiting(current)) return current;
    throw busy(current.begun.handle.turnId);
  };

  return {
    prepare: async (said, options = {}) => {
      if (!isAnswers(said)) return callIn(await start(said, options));
      const now = need();
      return whileBusy(now, async () => {
        const { turn, stop } = now;
        await giveAnswers(turn, stop.kind === "tools" ? stop.uses : [], said);
        return callIn(stop.kind === "tools" ? await proceed(now, turn) : stop);
      });
    },
    record: async (call, reply, options = {}) => {
      const now = need();
      return whileBusy(now, async () => {
        const { turn, stop } = now;
        if (stop.kind !== "call" || stop.call !== call) throw notWaiting(call);
        const { protocol } = turn.running.turn.session;
        const listener = toListener(options.onPart);
        const outcome = await readReply(reply, {
          protocol,
          nowMs: turn.edges.now,
          until: now.patience.signal,
          onPart: listener.onPart,
        });
        if (options.steer !== undefined) now.begun.handle.steer(options.steer);
        giveReply(turn, stop, outcome);
        const next = await proceed(now, turn);
        const entry = findEntry(turn, call);
        assert(entry !== undefined, "a call that was answered is recorded");
        return { entry, ...toStep(next), ...listener.problem() };
      });
    },
    prepareUnfinished: async (options = {}) => toStep(await start(null, options)),
    abandon: async (reason) => {
      if (current === null) return null;
      const now = current;
      const { handle } = now.begun;
      handle.abort(reason);
      await giveUp(now);
      return handle.result;
    },
    release: async () => {
      if (current === null) return;
      const now = need();
      leave(now);
      await release(now.turn.running);
      now.begun.fail(released());
    },
  };
}

function isWaiting(
  now: Current,
): now is Current & { readonly turn: SessionTurn; readonly stop: Waiting } {
  return !now.isBusy && now.turn !== null && now.stop !== null && now.stop.kind !== "over";
}

/** Two at a time would each take the other's place. */
async function whileBusy<Value>(now: Current, work: () => Promise<Value>): Promise<Value> {
  now.isBusy = true;
  try {
    return await work();
  } finally {
    now.isBusy = false;
  }
}

/** A listener that throws says nothing about the reply. */
function toListener(onPart: RecordOptions["onPart"] = () => {}): {
  readonly onPart: (part: StreamPart) => void;
  readonly problem: () => Pick<RecordedCall, "partProblem">;
} {
  let problem: Pick<RecordedCall, "partProblem"> | null = null;
  return {
    onPart: (part) => {
      if (problem !== null) return;
      try {
        onPart(part);
      } catch (partProblem) {
        problem = { partProblem };
      }
    },
    problem: () => problem ?? {},
  };
}

function isAnswers(
  said: AgentEvent | string | readonly ToolAnswer[],
): said is readonly ToolAnswer[] {
  return Array.isArray(said);
}

function toStep(stop: Stop): NextStep {
  return {
    toolUses: stop.kind === "tools" ? stop.uses : [],
    run: stop.kind === "over" ? stop.run : null,
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

function notWaiting({ turnId, number }: OwnCall): StrataError {
  return new StrataError(
    "conflict",
    `call ${number} of turn ${turnId} is not waited for: it is recorded, or its turn is over`,
    "record each call once, and the one that was prepared last",
  );
}

function released(): StrataError {
  return new StrataError(
    "conflict",
    "the turn was released",
    "go on with it by `prepareUnfinished`, here or in another process",
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
