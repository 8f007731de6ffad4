// One turn whose calls the application sends: its waits, its inputs, and its end by an abort.
import { assert } from "../../core/assert.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { ToolUseBlock } from "../../core/message/message.ts";
import { fieldsOf } from "../../core/message/fields.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { StreamPart, Reply } from "../../core/wire/reply.ts";
import type { TurnResult } from "../../core/turn/turn-result.ts";
import { callCountOf } from "../../core/turn/turn.ts";
import type { SessionTurn } from "../session/live-session.ts";
import { release, closeTurn, apply } from "../turn/running-turn.ts";
import type { TurnHandle } from "../turn/turn-handle.ts";
import { type OwnCall, toOwnCall } from "./own-call.ts";
import { readReply } from "./read-reply.ts";
import { type ToolAnswer, toToolMessages } from "./tool-answers.ts";
import { cancelledByCaller, type ProviderFailure } from "../../core/wire/failure.ts";
import { advance } from "../../engine.ts";
import { checkSpending, encodeCall, type StartedCall } from "../turn/steps.ts";
import { answerTools, withoutSecrets } from "../turn/answer-tools.ts";

export interface RecordOptions {
  /** Called with each part of a stream as it is read. */
  readonly onPart?: (part: StreamPart) => void;
  /** A message to the agent, sent with the next call or in one more call. */
  readonly steer?: string;
}

export interface NextStep {
  /** Tool uses to run. Pass their results to `prepare`. */
  readonly toolUses: readonly ToolUseBlock[];
  /** Null while the turn goes on: `prepare` gives the next call, even without tool uses. */
  readonly run: TurnResult | null;
}

export interface RecordedCall extends NextStep {
  /** The ledger's entry: usage, cost, cache result. */
  readonly entry: CallEntry;
  /** The error that `onPart` threw. It was not called again; the reply is booked. */
  readonly partProblem?: unknown;
}

/** A turn that occupies its session until it is settled. */
export interface BegunTurn {
  readonly handle: TurnHandle;
  readonly signal: AbortSignal;
  /** Runs the work with the turn. An error of the work ends the turn for the session. */
  with<Value>(work: (turn: SessionTurn) => Promise<Value>): Promise<Value>;
  settle(run: TurnResult): void;
  fail(error: unknown): void;
}

/** The provider bills what it sent before an abort: an aborted turn waits this long for it. */
const patienceMs = 500;

export class OwnTurn {
  readonly #begun: BegunTurn;
  /** Aborted when the turn stops waiting. */
  readonly #patience = new AbortController();
  #place: Place | null = null;
  #isBusy = false;

  /** `outer`: the application's own signal. Its SDK may use the same one. */
  constructor(begun: BegunTurn, outer: AbortSignal | undefined) {
    this.#begun = begun;
    followAbort(begun, outer, () => this.giveUp());
  }

  /** Runs to its first stop. */
  start(): Promise<Stop> {
    return this.#alone(async () => {
      try {
        return await this.#begun.with((turn) => this.#proceed(turn));
      } catch (error) {
        await this.#end(() => this.#begun.fail(error));
        throw error;
      }
    });
  }

  /** Continues with the tool results. */
  async answer(given: readonly ToolAnswer[]): Promise<Stop> {
    const { turn, stop } = this.#need();
    return this.#alone(async () => {
      if (stop.kind === "tools") await giveAnswers(turn, stop, given);
      else toToolMessages(given, []);
      return stop.kind === "tools" ? this.#proceed(turn) : stop;
    });
  }

  async record(call: OwnCall, reply: unknown, options: RecordOptions): Promise<RecordedCall> {
    const { turn, stop } = this.#need();
    if (stop.kind !== "call" || stop.call !== call) throw notWaiting(call);
    return this.#alone(async () => {
      const listener = toListener(options.onPart);
      const outcome = await readReply(reply, {
        protocol: turn.running.turn.session.protocol,
        nowMs: turn.deps.now,
        until: this.#patience.signal,
        onPart: listener.onPart,
      });
      if (options.steer !== undefined) this.#begun.handle.steer(options.steer);
      giveReply(turn, stop, outcome);
      const next = await this.#proceed(turn);
      const entry = turn.running.turn.calls.find(({ number }) => number === call.number);
      assert(entry !== undefined, "a call that was answered is recorded");
      return { entry, ...toStep(next), ...listener.problem() };
    });
  }

  /** Ends the turn if it waits; running work ends it itself. */
  async giveUp(): Promise<void> {
    this.#patience.abort();
    if (this.#isBusy || this.#place === null) return;
    const { turn, stop } = this.#place;
    await this.#alone(async () => {
      await giveNothing(turn, stop);
      await this.#proceed(turn);
    });
  }

  async release(): Promise<void> {
    const { turn } = this.#need();
    this.#place = null;
    await release(turn.running);
    await this.#end(() => this.#begun.fail(released()));
  }

  /** Two at once would overwrite each other's state. */
  async #alone<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }

  #need(): Place {
    if (this.#isBusy || this.#place === null) throw busy(this.#begun.handle.turnId);
    return this.#place;
  }

  /** Runs until the application has something to do again. */
  async #proceed(turn: SessionTurn): Promise<Stop> {
    this.#place = null;
    try {
      const stop = await goOn(turn);
      if (stop.kind === "over") await this.#end(() => this.#begun.settle(stop.run));
      else this.#place = { turn, stop };
      return stop;
    } catch (error) {
      await this.#end(() => this.#begun.fail(error));
      throw error;
    }
  }

  /** After this the session accepts the next turn. */
  async #end(settle: () => void): Promise<void> {
    settle();
    await this.#begun.handle.result.catch(() => {});
  }
}

/** If the application aborted its SDK too, the turn waits a moment for the partial reply. */
function followAbort(
  { signal, handle }: BegunTurn,
  outer: AbortSignal | undefined,
  giveUp: () => Promise<void>,
): void {
  let timer: NodeJS.Timeout | undefined;
  // The session reports a turn that fails here.
  const end = (): void => void giveUp().catch(() => {});
  const onAbort = (): void => {
    if (outer?.aborted === true) timer = setTimeout(end, patienceMs);
    else end();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  const stopFollowing = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  handle.result.then(stopFollowing, stopFollowing);
}

/** An error of the listener does not affect the reply. */
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

export function toStep(stop: Stop): NextStep {
  return {
    toolUses: stop.kind === "tools" ? stop.uses : [],
    run: stop.kind === "over" ? stop.run : null,
  };
}

function notWaiting(call: OwnCall): StrataError {
  const { turnId, number } = fieldsOf(call);
  const what = typeof number === "number" ? `call ${number} of turn ${String(turnId)}` : "this";
  return new StrataError(
    "conflict",
    `${what} is not expected: it is already recorded, its turn is over, or it is no call`,
    "record each call once, and only the last prepared one",
  );
}

function released(): StrataError {
  return new StrataError(
    "conflict",
    "the turn was released",
    "continue it with `prepareUnfinished`, here or in another process",
  );
}

function busy(id: string): StrataError {
  return new StrataError(
    "conflict",
    `a call of turn ${id} is being prepared or recorded`,
    "wait for that first",
  );
}

/** What the turn waits for, or its end. */
export type Stop =
  | { readonly kind: "call"; readonly call: OwnCall; readonly started: StartedCall }
  | { readonly kind: "tools"; readonly uses: readonly ToolUseBlock[]; readonly startMs: number }
  | { readonly kind: "over"; readonly run: TurnResult };

/** Runs until the application has something to do. An aborted turn asks for nothing more. */
async function goOn(turn: SessionTurn): Promise<Stop> {
  for (;;) {
    const stop = await nextStop(turn);
    if (stop.kind === "over" || turn.deps.signal?.aborted !== true) return stop;
    await giveNothing(turn, stop);
  }
}

async function nextStop(turn: SessionTurn): Promise<Stop> {
  const { running, deps } = turn;
  const step = await advance(running, deps);
  switch (step.do) {
    case "send": {
      const refused = await checkSpending(step, running, deps);
      if (refused !== null) {
        apply(running, refused);
        return nextStop(turn);
      }
      const started = encodeCall(step, running, deps);
      const call = toOwnCall(running, step, started.request, deps);
      return { kind: "call", call, started };
    }
    case "run tools":
      deps.onPhase?.("running tools");
      return { kind: "tools", uses: step.uses, startMs: deps.now() };
    case "close":
      return { kind: "over", run: await closeTurn(running, step.how, deps) };
  }
}

type Waiting = Exclude<Stop, { readonly kind: "over" }>;

/** A turn that waits for the application. */
interface Place {
  readonly turn: SessionTurn;
  readonly stop: Waiting;
}

/** Ends the wait of a turn that will get no answer. */
async function giveNothing(turn: SessionTurn, stop: Waiting): Promise<void> {
  if (stop.kind === "call") giveReply(turn, stop, cancelledByCaller);
  else await giveAnswers(turn, stop, []);
}

/** The number of the application's attempts is unknown here. */
function giveReply(
  { running, deps }: SessionTurn,
  { started }: Extract<Stop, { readonly kind: "call" }>,
  outcome: Reply | ProviderFailure,
): void {
  const sent = { outcome, attempts: [] };
  apply(running, { did: "send", sent, ...started, endMs: deps.now() });
}

/** Throws and changes nothing if an answer is not for one of these uses. */
async function giveAnswers(
  { running, deps }: SessionTurn,
  { uses, startMs }: Extract<Stop, { readonly kind: "tools" }>,
  given: readonly ToolAnswer[],
): Promise<void> {
  const messages = toToolMessages(given, uses);
  const run = withoutSecrets(() => Promise.resolve(messages), deps.redact);
  const answers = await answerTools(uses, run, running.tools);
  const times = { startMs, endMs: deps.now() };
  const callNumber = callCountOf(running.turn);
  apply(running, {
    did: "run tools",
    answers,
    runs: uses
      .filter(({ id }) => given.some(({ toolUseId }) => toolUseId === id))
      .map(({ id, name }) => ({ toolUseId: id, name, callNumber, ...times })),
  });
}
