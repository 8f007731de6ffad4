/// <reference lib="esnext.disposable" preserve="true" />
// A session that is open in this process: runs turns, one at a time, and knows how it stands.
import { randomUUID } from "node:crypto";
import type { AgentEvent } from "../../core/layers/event.ts";
import { finish } from "../../engine.ts";
import type { TurnEnding } from "../../core/turn/turn.ts";
import type { TurnRun } from "../turn/deps.ts";
import {
  compactSession,
  planCompaction,
  type CompactionPlan,
} from "../compaction/compact-session.ts";
import type { EngineContext, Reached } from "./engine-deps.ts";
import type { CompactionOutcome } from "../../core/turn/compaction/compacting.ts";
import { createOwnLoop, type LoopOf, type OwnLoop } from "../own-loop/own-loop.ts";
import type { Session } from "../../core/session/session.ts";
import { changeModel, type ModelChange } from "./change-model.ts";
import { checkEvent, checkName, checkOptions } from "./check-input.ts";
import {
  readAgainIfStale,
  recover,
  settleTurn,
  withTurn,
  type TurnWish,
  toDeps,
  type OpenState,
} from "./session-turn.ts";
import { emitEnded } from "../events/session-events.ts";
import { followTurn } from "../turn/follow-turn.ts";
import {
  createTurnHandle,
  type HandleParts,
  type RunOptions,
  type TurnHandle,
} from "../turn/turn-handle.ts";
import { createWork } from "./work.ts";
import type { World } from "../world/world.ts";

export interface EngineSession extends OwnLoop {
  readonly id: string;
  /** How it stands: a value, replaced by every turn. */
  readonly session: Session;
  /** Handles an event, or a message of a person. A session runs one turn at a time. */
  run(event: AgentEvent | string, options?: RunOptions): TurnHandle;
  /** Continues a turn that a process left open. */
  resume(options?: RunOptions): TurnHandle;
  /** Shortens its history now. */
  compact(options?: CompactOptions): Promise<CompactionOutcome>;
  /** Changes the model from the next turn on, and returns what that does to the cache. */
  useModel(name: string): Promise<ModelChange>;
  /** What `compact` would do. */
  planCompaction(): Promise<CompactionPlan>;
  /** Ends running work as soon as possible. A closed session refuses new work. */
  close(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the first run does with a turn that a process left open: finish it and show its parts, or abandon it. */
export type Unfinished = "finish" | "abandon";

export interface CompactOptions {
  /** The subject that the summary should focus on. */
  readonly focus?: string;
  readonly signal?: AbortSignal;
}

export interface OpenedSession {
  readonly session: Session;
  readonly world: World;
  readonly reached: Reached;
  /** What a run does first with a turn that was left open; by default it refuses. */
  readonly unfinished?: Unfinished;
  /** Whether a process left a turn open. */
  readonly hasOpenTurn?: boolean;
  /** Called once it is closed. */
  readonly onClosed?: () => void;
}

export function createEngineSession(
  context: EngineContext,
  { session: opened, world, reached, unfinished, hasOpenTurn = false, onClosed }: OpenedSession,
): EngineSession {
  const open: OpenState = {
    session: opened,
    reached,
    world,
    calling: opened,
    lastEnd: "done",
    running: null,
    isStale: false,
  };
  const work = createWork(opened.id);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    const how = await work.end();
    onClosed?.();
    const disposition = how === "aborted" ? "abandoned" : dispositionOf(open.lastEnd);
    await emitEnded(context.deps, open.session, disposition);
    await world.close?.();
  };
  /** Gives a turn its handle and the session. */
  const occupy = (
    said: AgentEvent | null,
    { id = randomUUID(), signal }: RunOptions,
    run: (parts: HandleParts) => Promise<TurnRun>,
  ): HandleParts => {
    work.requireIdle();
    const parts = createTurnHandle(said === null ? null : id, signal);
    const abort = (reason: string): void => parts.handle.abort(reason);
    parts.settle(work.begin(() => run(parts), abort));
    return parts;
  };
  const start = (said: AgentEvent | null, options: RunOptions): TurnHandle => {
    const parts = occupy(said, options, (own) =>
      withTurn(context, open, own, toWish(said, options), async ({ running, deps }) =>
        settleTurn(open, await finish(running, deps)),
      ),
    );
    return parts.handle;
  };
  let left = hasOpenTurn && unfinished !== undefined ? unfinished : null;
  const abandonLeft = (): Promise<void> => context.deps.ledger.abandonTurn(opened.id);
  const readAgain = async (): Promise<void> => {
    const isLeft = await readAgainIfStale(context, open);
    if (isLeft && unfinished !== undefined) left = unfinished;
  };
  /** Takes care of a turn that a process, or a failed run, left open, then starts. */
  const startAfter = (said: AgentEvent, options: RunOptions): TurnHandle => {
    if (left === null && !open.isStale) return start(said, options);
    work.requireIdle();
    const { id: turnId = randomUUID(), signal } = options;
    if (open.isStale) {
      const first = work.runAlone(readAgain);
      return followTurn({
        turnId,
        first,
        begin: () => startAfter(said, { ...options, id: turnId }),
      });
    }
    const how = signal === undefined ? {} : { signal };
    return followTurn({
      turnId,
      first: left === "finish" ? start(null, how) : work.runAlone(abandonLeft),
      begin: () => {
        left = null;
        return start(said, { ...options, id: turnId });
      },
    });
  };
  const runAlone = <Value>(
    run: (signal: AbortSignal) => Promise<Value>,
    outer?: AbortSignal,
  ): Promise<Value> =>
    work.runAlone(async (signal) => {
      await readAgainIfStale(context, open);
      const before = { session: open.session, reached: open.reached };
      try {
        return await run(signal);
      } catch (error) {
        throw await recover(context, open, before, error, "the change");
      }
    }, outer);
  /** A turn whose calls the application sends: the session is occupied until it is settled. */
  const begin: LoopOf["begin"] = (said, options) => {
    const { promise, resolve, reject } = Promise.withResolvers<TurnRun>();
    const parts = occupy(said, options, () => promise);
    if (said === null) left = null;
    const { handle, signal } = parts;
    const before = { session: open.session, reached: open.reached };
    return {
      handle,
      signal,
      with: (run) => withTurn(context, open, parts, toWish(said, options), run),
      settle: (run) => resolve(settleTurn(open, run)),
      fail: (error) => void recover(context, open, before, error).then(reject),
    };
  };
  return {
    id: opened.id,
    get session() {
      return open.session;
    },
    run: (said, options = {}) => startAfter(checkEvent(said), checkRun(options)),
    resume: (options = {}) => {
      checkRun(options);
      left = null;
      return start(null, options);
    },
    ...createOwnLoop({ sessionId: opened.id, begin }),
    compact: async (given = {}) => {
      checkOptions(given, ["focus"]);
      const { signal, ...options } = given;
      return runAlone(async (within) => {
        const deps = await toDeps(context, open, { signal: within });
        const run = await compactSession(open.session, options, deps);
        open.session = run.session;
        return run;
      }, signal);
    },
    useModel: async (name) => {
      checkName(name, "the model");
      return runAlone(async () => {
        const { change, ...changed } = await changeModel(context, open, world, name);
        Object.assign(open, changed);
        return change;
      });
    },
    planCompaction: async () => planCompaction(open.session, await toDeps(context, open)),
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

function dispositionOf(last: TurnEnding): "completed" | "error" {
  return last === "done" || last === "cancelled" ? "completed" : "error";
}

function toWish(event: AgentEvent | null, { model }: RunOptions): TurnWish {
  return { event, model: model ?? null };
}

/** Checks a run before anything is recorded. */
function checkRun(options: RunOptions): RunOptions {
  checkOptions(options, ["id", "model"]);
  return options;
}
