/// <reference lib="esnext.disposable" preserve="true" />
// A session that is open in this process: runs turns, one at a time, and knows how it stands.
import { randomUUID } from "node:crypto";
import type { AgentEvent } from "../../core/layers/event.ts";
import { StrataError } from "../../core/strata-error.ts";
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
import { settleTurn, withTurn, type TurnWish, toDeps, type OpenState } from "./session-turn.ts";
import { emitEnded } from "../events/session-events.ts";
import { followTurn } from "../turn/follow-turn.ts";
import { createTurnHandle, type RunOptions, type TurnHandle } from "../turn/turn-handle.ts";
import { createWork } from "./work.ts";
import type { World } from "../world/world.ts";

export interface EngineSession extends OwnLoop {
  readonly id: string;
  /** How it stands: a value, replaced by every turn. */
  readonly session: Session;
  /** Handles an event, or what a person says. A session runs one turn at a time. */
  run(event: AgentEvent | string, options?: RunOptions): TurnHandle;
  /** Goes on with a turn that a process left open. */
  resume(options?: RunOptions): TurnHandle;
  /** Shortens its history now. */
  compact(options?: CompactOptions): Promise<CompactionOutcome>;
  /** Goes on with another model from the next turn on, and says what that does to the cache. */
  useModel(name: string): Promise<ModelChange>;
  /** What `compact` would do. */
  planCompaction(): Promise<CompactionPlan>;
  /** Ends what runs, as soon as can be. A session that is closed does nothing more. */
  close(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the first run does with a turn that a process left open: finish it and show its parts, or give it up. */
export type Unfinished = "finish" | "abandon";

export interface CompactOptions {
  /** What the summary should dwell on. */
  readonly focus?: string;
  readonly signal?: AbortSignal;
}

export interface OpenedSession {
  readonly session: Session;
  readonly world: World;
  readonly reached: Reached;
  /** Where a turn is open that the first run takes care of. */
  readonly unfinished?: Unfinished;
  /** Told once it is closed. */
  readonly onClosed?: () => void;
}

export function createEngineSession(
  context: EngineContext,
  { session: opened, world, reached, unfinished, onClosed }: OpenedSession,
): EngineSession {
  const open: OpenState = { session: opened, reached, world, calling: opened, lastEnd: "done" };
  const work = createWork(opened.id);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    const how = await work.end();
    onClosed?.();
    const disposition = how === "aborted" ? "abandoned" : dispositionOf(open.lastEnd);
    await emitEnded(context.deps, open.session, disposition);
    await world.close?.();
  };
  const start = (said: AgentEvent | string | null, options: RunOptions): TurnHandle => {
    work.requireIdle();
    const parts = createTurnHandle(
      said === null ? null : (options.id ?? randomUUID()),
      options.signal,
    );
    const run = (): Promise<TurnRun> =>
      withTurn(context, open, parts, toWish(said, options), async ({ running, deps }) =>
        settleTurn(open, await finish(running, deps)),
      );
    parts.settle(work.begin(run, (reason) => parts.handle.abort(reason)));
    return parts.handle;
  };
  const abandonLeft = (): Promise<void> => context.deps.ledger.abandonTurn(opened.id);
  let left = unfinished ?? null;
  /** With what a process left open before it. */
  const startAfter = (said: AgentEvent | string, options: RunOptions): TurnHandle => {
    if (left === null) return start(said, options);
    work.requireIdle();
    const { id: turnId = randomUUID(), signal } = options;
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
  /** A turn whose calls the application sends: the session is taken until it is settled. */
  const begin: LoopOf["begin"] = (said, options) => {
    work.requireIdle();
    if (said === null) left = null;
    const parts = createTurnHandle(
      said === null ? null : (options.id ?? randomUUID()),
      options.signal,
    );
    const { promise, resolve, reject } = Promise.withResolvers<TurnRun>();
    parts.settle(
      work.begin(
        () => promise,
        (reason) => parts.handle.abort(reason),
      ),
    );
    return {
      handle: parts.handle,
      signal: parts.signal,
      with: (run) => withTurn(context, open, parts, toWish(said, options), run),
      settle: (run) => resolve(settleTurn(open, run)),
      fail: reject,
    };
  };
  return {
    id: opened.id,
    get session() {
      return open.session;
    },
    run: (said, options = {}) => startAfter(checkSaid(said), options),
    resume: (options = {}) => {
      left = null;
      return start(null, options);
    },
    ...createOwnLoop({ sessionId: opened.id, begin }),
    compact: ({ signal, ...options } = {}) =>
      work.runAlone(async (within) => {
        const deps = await toDeps(context, open, { signal: within });
        const run = await compactSession(open.session, options, deps);
        open.session = run.session;
        return run;
      }, signal),
    useModel: (name) =>
      work.runAlone(async () => {
        const { told, ...changed } = await changeModel(context, open, world, name);
        Object.assign(open, changed);
        return told;
      }),
    planCompaction: async () => planCompaction(open.session, await toDeps(context, open)),
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

function dispositionOf(last: TurnEnding): "completed" | "error" {
  return last === "done" || last === "cancelled" ? "completed" : "error";
}

function toWish(said: AgentEvent | string | null, { model }: RunOptions): TurnWish {
  return { event: said === null ? null : toEvent(said), model: model ?? null };
}

function toEvent(said: AgentEvent | string): AgentEvent {
  return typeof said === "string" ? { content: said, source: "human" } : said;
}

/** Whatever an application without types gives. */
function checkSaid(said: AgentEvent | string): AgentEvent | string {
  const given: unknown = said;
  if (typeof given === "string") return said;
  if (typeof given === "object" && given !== null && "content" in given) return said;
  throw new StrataError(
    "input-invalid",
    "a turn begins with what somebody says, or with an event",
    'give text, or { content: "…", source: "human" }',
  );
}
