// A session that is open in this process: runs turns, one at a time, and knows how it stands.
import { randomUUID } from "node:crypto";
import type { AgentEvent } from "../core/layers/event.ts";
import type { Section } from "../core/layers/section.ts";
import { StrataError } from "../core/strata-error.ts";
import { resumeTurn, runTurn, type Edges, type TurnRun } from "../engine.ts";
import type { Compaction } from "./compaction.ts";
import { compactSession, planCompaction, type CompactionPlan } from "./compact-session.ts";
import type { EngineContext, Reached } from "./create-engine.ts";
import { policyOf, type EngineConfig } from "./engine-config.ts";
import type { FoldRun } from "./fold-session.ts";
import { createOwnLoop, type ChangeEdges, type OwnLoop, type StartTurn } from "./own-loop.ts";
import type { FoundationSetup } from "./session-foundation.ts";
import type { Session } from "./session.ts";
import { changeModel, type ModelChange } from "./change-model.ts";
import { routeTurn, toRoutePart } from "./route-turn.ts";
import { tellingTools } from "./tool-parts.ts";
import { createTurnHandle, type HandleParts, type TurnHandle } from "./turn-handle.ts";
import type { World } from "./world.ts";

export interface EngineSession extends OwnLoop {
  readonly id: string;
  /** How it stands: a value, replaced by every turn. */
  readonly session: Session;
  /** Handles an event, or what a person says. A session runs one turn at a time. */
  run(event: AgentEvent | string, options?: RunOptions): TurnHandle;
  /** Goes on with a turn that a process left open. */
  resume(options?: RunOptions): TurnHandle;
  /** Shortens its history now. */
  compact(options?: { readonly focus?: string }): Promise<FoldRun>;
  /** Goes on with another model from the next turn on, and says what that does to the cache. */
  useModel(name: string): Promise<ModelChange>;
  /** What `compact` would do. */
  planCompaction(): Promise<CompactionPlan>;
  close(): Promise<void>;
}

export interface RunOptions {
  /** Of the turn; made by default. */
  readonly id?: string;
  /** For this turn only, whatever the session stays with. Where it cannot take it, another one does, which is told. */
  readonly model?: string;
  readonly signal?: AbortSignal;
}

export interface OpenedSession {
  readonly session: Session;
  readonly world: World;
  readonly reached: Reached;
}

export function createEngineSession(
  context: EngineContext,
  { session: opened, world, reached: first }: OpenedSession,
): EngineSession {
  let session = opened;
  let reached = first;
  let running: TurnHandle | null = null;
  const requireIdle = (): void => {
    if (running !== null) throw busy(session.id);
  };
  const begin = (options: RunOptions, work: Work): TurnHandle => {
    requireIdle();
    const parts = createTurnHandle(options.id ?? randomUUID(), options.signal);
    running = parts.handle;
    parts.tell({ type: "stream_start", turnId: parts.handle.turnId });
    const run = async (): Promise<TurnRun> => {
      try {
        const made = await work(parts);
        ({ session } = made);
        return made;
      } finally {
        running = null;
      }
    };
    parts.settle(run());
    return parts.handle;
  };
  // Of a turn that runs, the session as its next call sees it.
  let calling = opened;
  const edgesFor = (parts: HandleParts | null): Promise<Edges> =>
    toEdges(context, { session, world, reached, onCalling: (each) => (calling = each) }, parts);
  const volatile = async (): Promise<readonly Section[]> => world.volatile?.(calling) ?? [];
  const start: StartTurn = (said, options, change) =>
    begin(options, async (parts) => {
      const more = { volatile, ...(await limitsOf(context)) };
      if (said === null) return resumeTurn(session, more, change(await edgesFor(parts)));
      const wish = { event: toEvent(said), model: options.model ?? null };
      const routed = await routeTurn(context, { session, reached }, world, wish);
      ({ session, reached } = routed);
      const { route } = routed;
      parts.tell(toRoutePart(session, route));
      const turn = { id: parts.handle.turnId, event: wish.event, route, ...more };
      return runTurn(session, turn, change(await edgesFor(parts)));
    });
  return {
    id: session.id,
    get session() {
      return session;
    },
    run: (said, options = {}) => start(said, options, asTheyAre),
    resume: (options = {}) => start(null, options, asTheyAre),
    ...createOwnLoop({ sessionId: session.id, start }),
    compact: async (options = {}) => {
      requireIdle();
      const run = await compactSession(session, options, await edgesFor(null));
      ({ session } = run);
      return run;
    },
    useModel: async (name) => {
      requireIdle();
      const change = await changeModel(context, { session, reached }, world, name);
      ({ session, reached } = change);
      return change.told;
    },
    planCompaction: async () => planCompaction(session, await edgesFor(null)),
    close: async () => {
      running?.abort("the session is closed");
      await running?.result.catch(() => {});
      await world.close?.();
    },
  };
}

const asTheyAre: ChangeEdges = (edges) => edges;

function toEvent(said: AgentEvent | string): AgentEvent {
  return typeof said === "string" ? { content: said, source: "human" } : said;
}

type Work = (parts: HandleParts) => Promise<TurnRun>;

function busy(id: string): StrataError {
  return new StrataError(
    "conflict",
    `a turn runs in session ${id}`,
    "wait for its result, steer it, or abort it",
  );
}

async function limitsOf({ readConfig }: EngineContext): Promise<{ readonly callsMax?: number }> {
  const { callsMax } = await readConfig();
  return callsMax === undefined ? {} : { callsMax };
}

interface SessionAtWork extends OpenedSession {
  readonly onCalling: (session: Session) => void;
}

/** What a turn needs of the world; what can change is brought up to date before every call. */
async function toEdges(
  { edges, readConfig }: EngineContext,
  { session, world, reached, onCalling }: SessionAtWork,
  parts: HandleParts | null,
): Promise<Edges> {
  let config = await readConfig();
  const summariser = (await edges.summariser?.()) ?? null;
  const runTools: Edges["runTools"] = (uses, call) =>
    world.tools?.runAll(uses, call) ?? Promise.resolve([]);
  return {
    provider: reached.provider,
    ledger: edges.ledger,
    now: edges.now ?? Date.now,
    runTools: parts === null ? runTools : tellingTools(runTools, parts.tell),
    get compaction(): Compaction {
      return {
        ...compactionOf(config),
        refresh: () => refresh(session, world),
        ...(summariser === null ? {} : { summariser }),
        ...(world.skills === undefined ? {} : { skills: world.skills }),
      };
    },
    beforeCall: async () => {
      config = await readConfig();
    },
    renew: (before) => {
      // Markers change no byte of what was sent; the layout would.
      const { layout } = before.policy;
      const renewed = { ...before, policy: { ...policyOf(config), layout } };
      onCalling(renewed);
      return renewed;
    },
    ...(edges.events === undefined ? {} : { events: edges.events }),
    ...(parts === null
      ? {}
      : {
          signal: parts.signal,
          onPart: parts.onPart,
          onPhase: parts.onPhase,
          takeSteered: parts.takeSteered,
        }),
  };
}

function compactionOf({ compaction, reserves }: EngineConfig): Compaction {
  return {
    ...(compaction === undefined ? {} : { settings: compaction }),
    ...(reserves === undefined ? {} : { reserves }),
  };
}

/** Documents, memory, skills and tools as they are now, in the same form. */
async function refresh(
  { model, protocol, policy, role }: Session,
  world: World,
): Promise<FoundationSetup> {
  const { parts, ...more } = await world.context();
  return {
    model,
    protocol,
    policy,
    context: { role, ...parts },
    ...world.tools?.toolsFor(role),
    ...more,
  };
}
