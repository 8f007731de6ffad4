// A session in this process, and the only owner of what changes while it is open. It does one thing at a time: it
// settles what earlier work left, then it runs.
import { randomUUID } from "node:crypto";
import { finish } from "../../engine.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { Section } from "../../core/layers/section.ts";
import type { Session } from "../../core/session/session.ts";
import { messageOf, StrataError, toStrataError } from "../../core/strata-error.ts";
import {
  isMemoryFlushDue,
  memoryFlushEvent,
  withMemoryFlushed,
} from "../../core/turn/compaction/memory-flush.ts";
import type { TurnEnding } from "../../core/turn/turn.ts";
import { beginTurn, loadTurn } from "../turn/begin-turn.ts";
import type { TurnResult } from "../../core/turn/turn-result.ts";
import type { Deps } from "../turn/deps.ts";
import { release, type RunningTurn } from "../turn/running-turn.ts";
import type { HeldPrefixes } from "../stored/keep-stored.ts";
import { createTurnHandle, type HandleParts } from "../turn/turn-handle.ts";
import type { World } from "../world/world.ts";
import { compactionOf } from "./engine-config.ts";
import type { EngineContext, Reached } from "./engine-deps.ts";
import { loadSession } from "./open-session.ts";
import { routeTurn, toRoutePart, type AskedTurn, type ReachedSession } from "./route-turn.ts";
import { forgetPending } from "./spending.ts";
import { requireRoom, settingsOfTurn, toDeps, type WorkInSession } from "./turn-deps.ts";

/** What the first run does with a turn that a process left open: finish it and show its parts, or abandon it. */
export type Unfinished = "finish" | "abandon";

export interface OpenedSession extends ReachedSession {
  readonly world: World;
  /** What a run does first with a turn that was left open; by default it refuses. */
  readonly unfinished?: Unfinished;
  /** Whether a process left a turn open. */
  readonly hasOpenTurn?: boolean;
}

export interface SessionTurn {
  readonly running: RunningTurn;
  readonly deps: Deps;
}

/** What looks after a session's caches. */
export interface SessionWatchers {
  /** Called when a turn that this engine sent has ended. */
  readonly afterTurn: () => void;
  readonly prefixes: HeldPrefixes;
}

interface GivenTurn extends Pick<WorkInSession, "isSentOutside"> {
  readonly parts: HandleParts;
}

/** What earlier work left in the ledger. After work that failed it is `unknown`, and the session is read again first. */
type Leftover = "nothing" | "open turn" | "unknown";

export class LiveSession {
  readonly #context: EngineContext;
  readonly #afterTurn: () => void;
  readonly #prefixes: HeldPrefixes;
  readonly #world: World;
  readonly #unfinished: Unfinished | null;
  #now: ReachedSession;
  /** The session before the work that runs. */
  #before: ReachedSession;
  /** The session as the next call of the running turn sees it. */
  #atNextCall: Session;
  /** The turn that runs, or that failed last. */
  #turn: RunningTurn | null = null;
  #leftover: Leftover;
  #lastEnd: TurnEnding = "done";
  #work: { readonly over: Promise<unknown>; readonly abort: (reason: string) => void } | null =
    null;
  #isClosed = false;
  /** The handle of the running turn. */
  #handle: HandleParts | null = null;
  #isSettling = false;

  constructor(
    context: EngineContext,
    opened: OpenedSession,
    { afterTurn, prefixes }: SessionWatchers,
  ) {
    const { session, reached, world, unfinished = null, hasOpenTurn = false } = opened;
    this.#context = context;
    this.#afterTurn = afterTurn;
    this.#prefixes = prefixes;
    this.#world = world;
    this.#unfinished = unfinished;
    this.#now = { session, reached };
    this.#before = this.#now;
    this.#atNextCall = session;
    this.#leftover = hasOpenTurn ? "open turn" : "nothing";
  }

  get session(): Session {
    return this.#now.session;
  }

  get reached(): Reached {
    return this.#now.reached;
  }

  get lastEnd(): TurnEnding {
    return this.#lastEnd;
  }

  get isBusy(): boolean {
    return this.#work !== null;
  }

  /** The turn that can be steered: not one that is only finished before it. */
  get running(): HandleParts | null {
    return this.#isSettling ? null : this.#handle;
  }

  /** Whether a run takes care of a turn that was left open. */
  get settlesTurns(): boolean {
    return this.#unfinished !== null;
  }

  requireOpen(): void {
    if (this.#isClosed) throw closed(this.session.id);
  }

  /** The session after a refresh of its cache, unless other work began meanwhile. */
  refreshed(before: Session, after: Session): void {
    if (this.isBusy || this.session !== before) return;
    this.#now = { ...this.#now, session: after };
  }

  requireIdle(): void {
    this.requireOpen();
    if (this.isBusy) throw busy(this.session.id);
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    while (this.#work !== null) await this.#work.over.catch(() => {});
  }

  /** Aborts what runs. A turn that begins is open first, so that its message is not lost. */
  async interrupt(reason: string): Promise<void> {
    const work = this.#work;
    await Promise.race([this.#handle?.steering.opened, this.idle()]);
    if (this.#work === work) work?.abort(reason);
  }

  /** Another process went on with the session: it is read again before it does anything else. */
  setStale(): void {
    this.#leftover = "unknown";
  }

  /** Runs work that nothing else may run beside. `abort` ends it early. */
  async occupy<Value>(work: () => Promise<Value>, abort: (reason: string) => void): Promise<Value> {
    this.requireIdle();
    const over = work();
    this.#work = { over, abort };
    try {
      return await over;
    } finally {
      this.#work = null;
      this.#handle = null;
    }
  }

  /** Aborts and awaits what runs, and refuses everything new. */
  async close(): Promise<"idle" | "aborted"> {
    this.#isClosed = true;
    if (!this.isBusy) return "idle";
    this.#work?.abort("the session is closed");
    await this.idle();
    return "aborted";
  }

  /** Work between turns that gives the session after it. */
  async change<Value>(
    work: (now: ReachedSession, deps: () => Promise<Deps>) => Promise<Changed<Value>>,
    outer?: AbortSignal,
  ): Promise<Value> {
    const controller = new AbortController();
    const { signal: own } = controller;
    const signal = outer === undefined ? own : AbortSignal.any([own, outer]);
    return this.occupy(
      () =>
        this.#attempt("the change", async () => {
          const { value, session, reached } = await work(this.#now, () => this.deps({ signal }));
          this.#now = { session, reached };
          return value;
        }),
      (reason) => controller.abort(new Error(reason)),
    );
  }

  /** Settles what was left, then runs the turn that was asked for. */
  async run(parts: HandleParts, asked: AskedTurn): Promise<TurnResult> {
    this.#handle = parts;
    this.#isSettling = true;
    try {
      await this.#settle(parts);
      await this.#attempt("the turn", () => this.#flushMemory(parts));
    } finally {
      this.#isSettling = false;
    }
    return this.turn(parts, asked, (turn) => this.#finish(turn));
  }

  /** Continues the turn that a process left open. */
  async resume(parts: HandleParts): Promise<TurnResult> {
    return this.turn(parts, null, (turn) => this.#finish(turn));
  }

  /** Works on a new turn, or for null on the one that was left open. */
  async turn<Value>(
    parts: HandleParts,
    asked: AskedTurn | null,
    work: (turn: SessionTurn) => Promise<Value>,
    how: Pick<WorkInSession, "isSentOutside"> = {},
  ): Promise<Value> {
    return this.#attempt("the turn", async () => {
      this.#handle = parts;
      const given = { parts, ...how };
      const turn = await (asked === null ? this.#load(given) : this.#begin(given, asked));
      this.#turn = turn.running;
      return work(turn);
    });
  }

  /** The session continues from the end of the turn. */
  ended(run: TurnResult): TurnResult {
    this.#now = { ...this.#now, session: run.session };
    this.#turn = null;
    this.#lastEnd = run.end;
    return run;
  }

  /** Nothing of failed work stays in memory: if the ledger has something of it, the session is read again. */
  async failed(error: unknown, what = "the turn"): Promise<StrataError> {
    const { id, headTurnId, isRecorded, openedMs } = this.session;
    forgetPending(this.#context.deps.ledger, id);
    const find = async (): Promise<SessionRecord | null> =>
      this.#context.deps.ledger.findSession(id);
    const record = await find().catch(() => undefined);
    const isUnchanged = record?.openTurnId === null && record.headTurnId === headTurnId;
    if (record === null || isUnchanged) {
      const { session, reached } = this.#before;
      this.#now = { session: { ...session, isRecorded, headTurnId, openedMs }, reached };
      this.#leftover = "nothing";
    } else this.#leftover = "unknown";
    return toStrataError(error, `${what} of session ${id}`);
  }

  deps(more: Pick<WorkInSession, "parts" | "signal" | "isSentOutside"> = {}): Promise<Deps> {
    return toDeps(this.#context, {
      ...this.#now,
      world: this.#world,
      prefixes: this.#prefixes,
      onRecorded: (session) => {
        this.#now = { ...this.#now, session };
      },
      onSwitched: (now) => {
        this.#now = now;
      },
      onRefreshed: (session) => {
        this.#atNextCall = session;
      },
      ...more,
    });
  }

  async #settle(parts: HandleParts): Promise<void> {
    await this.#readAgain();
    if (this.#leftover === "nothing" || this.#unfinished === null) return;
    if (this.#unfinished === "finish") {
      parts.emit({ type: "ended", run: await this.resume(parts) });
    } else await this.#context.deps.ledger.abandonTurn(this.session.id);
    this.#leftover = "nothing";
  }

  /** A turn with a handle of its own, so that its words are not shown. If it fails, the turn that was asked for runs all the same. */
  async #flushMemory({ signal }: HandleParts): Promise<void> {
    const { deps, readConfig } = this.#context;
    const compaction = compactionOf(await readConfig());
    const { now = Date.now, onNotice } = deps;
    if (!isMemoryFlushDue(this.session, compaction, now())) return;
    this.#now = { ...this.#now, session: withMemoryFlushed(this.session) };
    const quiet = createTurnHandle(randomUUID(), signal);
    const asked = { event: memoryFlushEvent, model: null, mayCompact: false };
    try {
      await this.turn(quiet, asked, (turn) => this.#finish(turn));
    } catch (error) {
      onNotice?.(`memory was not saved before a compaction: ${messageOf(error)}`);
    }
  }

  async #readAgain(): Promise<void> {
    if (this.#leftover !== "unknown") return;
    // The ledger may have failed when the turn was released.
    if (this.#turn !== null) await release(this.#turn);
    const { session, reached, hasOpenTurn } = await loadSession(this.#context, this.session.id);
    this.#now = { session, reached };
    this.#turn = null;
    this.#leftover = hasOpenTurn ? "open turn" : "nothing";
  }

  async #attempt<Value>(what: string, work: () => Promise<Value>): Promise<Value> {
    await this.#readAgain();
    this.#before = this.#now;
    try {
      return await work();
    } catch (error) {
      throw await this.failed(error, what);
    }
  }

  async #begin(given: GivenTurn, asked: AskedTurn): Promise<SessionTurn> {
    const { parts } = given;
    parts.started(parts.handle.turnId);
    const { moment, ...settings } = await settingsOfTurn(this.#context, () => this.#volatile());
    const { route, ...routed } = await routeTurn(this.#context, this.#now, this.#world, asked);
    this.#now = routed;
    requireRoom(this.session, this.#context.deps);
    parts.emit(toRoutePart(this.session, route));
    const deps = await this.deps(given);
    const event = { ...moment, ...asked.event };
    const { mayCompact = true } = asked;
    const turn = { id: parts.handle.turnId, event, route, mayCompact, ...settings };
    return { running: await beginTurn(this.session, turn, deps), deps };
  }

  async #load(given: GivenTurn): Promise<SessionTurn> {
    const { parts } = given;
    const settings = await settingsOfTurn(this.#context, () => this.#volatile());
    const record = await this.#context.deps.ledger.findSession(this.session.id);
    parts.started(record?.openTurnId ?? "");
    const deps = await this.deps(given);
    const running = await loadTurn(this.session, settings, deps);
    this.#leftover = "nothing";
    if (!this.#isSettling) parts.steering.queue.onOpened();
    return { running, deps };
  }

  async #finish({ running, deps }: SessionTurn): Promise<TurnResult> {
    try {
      return this.ended(await finish(running, deps));
    } finally {
      this.#afterTurn();
    }
  }

  async #volatile(): Promise<readonly Section[]> {
    return this.#world.volatile?.(this.#atNextCall) ?? [];
  }
}

interface Changed<Value> extends ReachedSession {
  readonly value: Value;
}

function busy(id: string): StrataError {
  return new StrataError(
    "conflict",
    `a turn runs in session ${id}, or the session is being changed`,
    "wait for its result, steer it, or abort it",
  );
}

function closed(id: string): StrataError {
  return new StrataError("conflict", `session ${id} is closed`, "resume it with the engine");
}
