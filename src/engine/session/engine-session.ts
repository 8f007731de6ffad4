/// <reference lib="esnext.disposable" preserve="true" />
// A session that is open in this process: runs turns, one at a time, and knows how it stands.
import { randomUUID } from "node:crypto";
import type { AgentEvent } from "../../core/layers/event.ts";
import type { CompactionOutcome } from "../../core/turn/compaction/compacting.ts";
import type { Session } from "../../core/session/session.ts";
import type { TurnEnding } from "../../core/turn/turn.ts";
import {
  compactSession,
  planCompaction,
  type CompactionPlan,
} from "../compaction/compact-session.ts";
import { emitEnded } from "../events/session-events.ts";
import { createOwnLoop, type LoopOf, type OwnLoop } from "../own-loop/own-loop.ts";
import type { TurnResult } from "../../core/turn/turn-result.ts";
import {
  createTurnHandle,
  type HandleParts,
  type RunOptions,
  type TurnHandle,
} from "../turn/turn-handle.ts";
import { changeModel, type ModelChange } from "./change-model.ts";
import { WarmKeeper, type WarmStatus } from "../warm/keep-warm.ts";
import { StoredKeeper, type StoredStatus } from "../stored/keep-stored.ts";
import { prewarm, type Prewarmed, type PrewarmOptions } from "../warm/prewarm.ts";
import { checkEvent, checkMode, checkName, checkOptions } from "./check-input.ts";
import type { EngineContext } from "./engine-deps.ts";
import type { World } from "../world/world.ts";
import { LiveSession, type OpenedSession } from "./live-session.ts";
import { SessionQueue } from "./queue/session-queue.ts";

export interface EngineSession extends OwnLoop {
  readonly id: string;
  /** How it stands: a value, replaced by every turn. */
  readonly session: Session;
  /**
   * Handles an event, or a message of a person. A session runs one turn at a time: if it is busy, here or in another
   * process, the message waits in its queue, and `mode` says what becomes of it.
   */
  run(event: AgentEvent | string, options?: RunOptions): TurnHandle;
  /** Runs the messages that wait in its queue, such as those of a process that died. Their handles, oldest first. */
  runWaiting(): Promise<readonly TurnHandle[]>;
  /** Continues a turn that a process left open. */
  resume(options?: RunOptions): TurnHandle;
  /** Shortens its history now. */
  compact(options?: CompactOptions): Promise<CompactionOutcome>;
  /** Changes the model from the next turn on, and returns what that does to the cache. */
  useModel(name: string): Promise<ModelChange>;
  /** What `compact` would do. */
  planCompaction(): Promise<CompactionPlan>;
  /** Has the provider cache what the next call repeats: tools, system text, the conversation so far. */
  prewarm(options?: PrewarmOptions): Promise<Prewarmed>;
  /** When its cache is refreshed next while it waits, or why not. */
  readonly keepWarm: WarmStatus;
  /** What the provider keeps of its prompt under a name, or why nothing. */
  readonly storedPrefix: StoredStatus;
  /** Ends running work as soon as possible. A closed session refuses new work. */
  close(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface CompactOptions {
  /** The subject that the summary should focus on. */
  readonly focus?: string;
  readonly signal?: AbortSignal;
}

export function createEngineSession(
  context: EngineContext,
  opened: OpenedSession,
  onClosed: () => void = () => {},
): EngineSession {
  const { world } = opened;
  const { id } = opened.session;
  const live = new LiveSession(context, opened, {
    // The cache of a session that waits again may be kept warm, and the beginning of its prompt stored.
    afterTurn: () => {
      keeper.schedule();
      stored.schedule();
    },
    prefixes: {
      current: (session) => stored.current(session),
      lost: (lostId, detail) => stored.lost(lostId, detail),
    },
  });
  const queue = new SessionQueue(context, live);
  const keeper = new WarmKeeper(context, live);
  const stored = new StoredKeeper(context, live);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    await keeper.close();
    const [, how] = await Promise.all([queue.close(), live.close()]);
    await stored.close();
    onClosed();
    const disposition = how === "aborted" ? "abandoned" : dispositionOf(live.lastEnd);
    await emitEnded(context.deps, live.session, disposition);
    await world.close?.();
  };
  return {
    id,
    get session() {
      return live.session;
    },
    ...createTurns(id, live, queue),
    ...createChanges(context, live, world),
    get keepWarm() {
      return keeper.status;
    },
    get storedPrefix() {
      return stored.status;
    },
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

type Turns = Pick<EngineSession, "run" | "runWaiting" | "resume" | keyof OwnLoop>;

/** Turns that the engine sends, and those whose calls the application sends. */
function createTurns(id: string, live: LiveSession, queue: SessionQueue): Turns {
  /** Gives a turn its handle and the session. A resumed turn has no id yet. */
  const occupy = (
    turnId: string | null,
    { signal }: RunOptions,
    run: (parts: HandleParts) => Promise<TurnResult>,
  ): HandleParts => {
    live.requireIdle();
    const parts = createTurnHandle(turnId, signal);
    const abort = (reason: string): void => parts.handle.abort(reason);
    parts.follow(live.occupy(() => run(parts), abort));
    return parts;
  };
  /** The session is occupied until the application's turn is settled. */
  const begin: LoopOf["begin"] = (event, options) => {
    const { promise, resolve, reject } = Promise.withResolvers<TurnResult>();
    const parts = occupy(event === null ? null : idOf(options), options, () => promise);
    const asked = event === null ? null : { event, model: options.model ?? null };
    return {
      handle: parts.handle,
      signal: parts.signal,
      with: (work) => live.turn(parts, asked, work, { isSentOutside: true }),
      settle: (run) => resolve(live.ended(run)),
      fail: (error) => void live.failed(error).then(reject),
    };
  };
  return {
    run: (given, options = {}) => {
      const event = checkEvent(given);
      const { model = null, mode, signal } = checkRun(options);
      const parts = createTurnHandle(idOf(options), signal);
      queue.run(parts, { event, model, mode });
      return parts.handle;
    },
    runWaiting: () => queue.runWaiting(),
    resume: (options = {}) => occupy(null, checkRun(options), (parts) => live.resume(parts)).handle,
    ...createOwnLoop({ sessionId: id, begin }),
  };
}

type Changes = Pick<EngineSession, "compact" | "useModel" | "planCompaction" | "prewarm">;

/** Work between turns. */
function createChanges(context: EngineContext, live: LiveSession, world: World): Changes {
  return {
    compact: async (given = {}) => {
      checkOptions(given, ["focus"]);
      const { signal, ...options } = given;
      return live.change(async ({ session, reached }, deps) => {
        const value = await compactSession(session, options, await deps());
        return { value, session: value.session, reached };
      }, signal);
    },
    useModel: async (name) => {
      checkName(name, "the model");
      return live.change(async (now) => {
        const { change: value, ...changed } = await changeModel(context, now, world, name);
        return { value, ...changed };
      });
    },
    planCompaction: async () => planCompaction(live.session, await live.deps()),
    prewarm: async (given = {}) => {
      checkOptions(given, ["lifetime"]);
      const { signal, ...options } = given;
      return live.change(async ({ session, reached }, deps) => {
        const { value, session: after } = await prewarm(session, options, await deps());
        return { value, session: after, reached };
      }, signal);
    },
  };
}

function dispositionOf(last: TurnEnding): "completed" | "error" {
  return last === "done" || last === "cancelled" ? "completed" : "error";
}

function idOf({ id = randomUUID() }: RunOptions): string {
  return id;
}

/** Checks a run before anything is recorded. */
function checkRun(options: RunOptions): RunOptions {
  checkOptions(options, ["id", "model"]);
  checkMode(options.mode);
  return options;
}
