// A session that is open in this process: runs turns, one at a time, and knows how it stands.
import { randomUUID } from "node:crypto";
import type { AgentEvent } from "../core/layers/event.ts";
import type { Section } from "../core/layers/section.ts";
import { builtInCatalogue } from "../core/models/catalogue.ts";
import { StrataError } from "../core/strata-error.ts";
import { resumeTurn, runTurn, type Edges, type TurnEnding, type TurnRun } from "../engine.ts";
import type { Compaction } from "./compaction.ts";
import { compactSession, planCompaction, type CompactionPlan } from "./compact-session.ts";
import type { EngineContext, EngineEdges, Reached } from "./create-engine.ts";
import { optionsOf, policyOf, type EngineConfig } from "./engine-config.ts";
import type { FoldRun } from "./fold-session.ts";
import { createOwnLoop, type ChangeEdges, type OwnLoop, type StartTurn } from "./own-loop.ts";
import type { FoundationSetup } from "./session-foundation.ts";
import type { Session } from "./session.ts";
import { changeModel, type ModelChange } from "./change-model.ts";
import { routeTurn, toRoutePart } from "./route-turn.ts";
import { tellEnded } from "./tell-ended.ts";
import { tellingTools } from "./tool-parts.ts";
import { createTurnHandle, type HandleParts, type TurnHandle } from "./turn-handle.ts";
import { createWork } from "./work.ts";
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
  compact(options?: CompactOptions): Promise<FoldRun>;
  /** Goes on with another model from the next turn on, and says what that does to the cache. */
  useModel(name: string): Promise<ModelChange>;
  /** What `compact` would do. */
  planCompaction(): Promise<CompactionPlan>;
  /** Ends what runs, as soon as can be. A session that is closed does nothing more. */
  close(): Promise<void>;
}

export interface CompactOptions {
  /** What the summary should dwell on. */
  readonly focus?: string;
  readonly signal?: AbortSignal;
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
  /** Told once it is closed. */
  readonly onClosed?: () => void;
}

export function createEngineSession(
  context: EngineContext,
  { session: opened, world, reached: first, onClosed }: OpenedSession,
): EngineSession {
  let [session, reached] = [opened, first];
  const work = createWork(opened.id);
  let last: TurnEnding = "done";
  // Of a turn that runs, the session as its next call sees it.
  let calling = opened;
  const edgesFor = (parts: HandleParts | null, signal?: AbortSignal): Promise<Edges> => {
    const onCalling = (each: Session): void => void (calling = each);
    const onRecorded = (each: Session): void => void (session = each);
    const at = { session, world, reached, onCalling, onRecorded };
    return toEdges(context, at, parts, signal);
  };
  const volatile = async (): Promise<readonly Section[]> => world.volatile?.(calling) ?? [];
  const runOne = async (parts: HandleParts, begun: BegunTurn): Promise<TurnRun> => {
    const { said, options, change } = begun;
    const more = { volatile, ...(await limitsOf(context)) };
    if (said === null) {
      const record = await context.edges.ledger.findSession(session.id);
      parts.identify(record?.openTurnId ?? "");
      return resumeTurn(session, more, change(await edgesFor(parts)));
    }
    const wish = { event: toEvent(said), model: options.model ?? null };
    const routed = await routeTurn(context, { session, reached }, world, wish);
    ({ session, reached } = routed);
    const { route } = routed;
    parts.tell(toRoutePart(session, route));
    const turn = { id: parts.handle.turnId, event: wish.event, route, ...more };
    return runTurn(session, turn, change(await edgesFor(parts)));
  };
  const start: StartTurn = (said, options, change) => {
    work.requireIdle();
    const id = said === null ? null : (options.id ?? randomUUID());
    const parts = createTurnHandle(id, options.signal);
    const run = async (): Promise<TurnRun> => {
      const made = await runOne(parts, { said, options, change });
      ({ session } = made);
      last = made.end;
      return { ...made, unsaid: parts.takeSteered() };
    };
    parts.settle(work.begin(run, (reason) => parts.handle.abort(reason)));
    return parts.handle;
  };
  return {
    id: session.id,
    get session() {
      return session;
    },
    run: (said, options = {}) => start(checkSaid(said), options, asTheyAre),
    resume: (options = {}) => start(null, options, asTheyAre),
    ...createOwnLoop({ sessionId: session.id, start }),
    compact: ({ signal, ...options } = {}) =>
      work.runAlone(async (within) => {
        const run = await compactSession(session, options, await edgesFor(null, within));
        ({ session } = run);
        return run;
      }, signal),
    useModel: (name) =>
      work.runAlone(async () => {
        const change = await changeModel(context, { session, reached }, world, name);
        ({ session, reached } = change);
        return change.told;
      }),
    planCompaction: async () => planCompaction(session, await edgesFor(null)),
    close: async () => {
      const how = await work.end();
      if (how === null) return;
      onClosed?.();
      await tellEnded(
        context.edges,
        session,
        how === "aborted" ? "abandoned" : dispositionOf(last),
      );
      await world.close?.();
    },
  };
}

function dispositionOf(last: TurnEnding): "completed" | "error" {
  return last === "done" || last === "cancelled" ? "completed" : "error";
}

interface BegunTurn {
  readonly said: AgentEvent | string | null;
  readonly options: RunOptions;
  readonly change: ChangeEdges;
}

const asTheyAre: ChangeEdges = (edges) => edges;

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

async function limitsOf({ readConfig }: EngineContext): Promise<{ readonly callsMax?: number }> {
  const { callsMax } = await readConfig();
  if (callsMax === undefined) return {};
  if (Number.isSafeInteger(callsMax) && callsMax >= 1) return { callsMax };
  throw new StrataError(
    "input-invalid",
    `callsMax is ${String(callsMax)}, and a turn needs at least one call`,
    "give a whole number from 1, or leave it out",
  );
}

interface SessionAtWork extends Omit<OpenedSession, "onClosed"> {
  readonly onCalling: (session: Session) => void;
  readonly onRecorded: (session: Session) => void;
}

/** What a turn needs of the world; what can change is brought up to date before every call. */
async function toEdges(
  { edges, readConfig }: EngineContext,
  { session, world, reached, onCalling, onRecorded }: SessionAtWork,
  parts: HandleParts | null,
  signal?: AbortSignal,
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
    onRecorded,
    beforeCall: async () => {
      config = await readConfig();
    },
    renew: (before) => {
      const renewed = renew(before, config, edges);
      onCalling(renewed);
      return renewed;
    },
    ...(edges.events === undefined ? {} : { events: edges.events }),
    ...(parts === null
      ? { ...(signal === undefined ? {} : { signal }) }
      : {
          signal: parts.signal,
          onPart: parts.onPart,
          onPhase: parts.onPhase,
          takeSteered: parts.takeSteered,
        }),
  };
}

/** Markers, prices and limits change no byte of what was sent; the layout would, and how words are spelled. */
function renew(before: Session, config: EngineConfig, { catalogue }: EngineEdges): Session {
  const { layout } = before.policy;
  const { id, route } = before.model;
  const now = (catalogue ?? builtInCatalogue).factsOf(id, { route });
  const { windowTokens, inputTokensMax, outputTokensMax, prices, cache } = now;
  const limits = { windowTokens, inputTokensMax, outputTokensMax, prices, cache };
  const model = now === before.model ? now : { ...before.model, ...limits };
  const { outputTokensMax: replyTokensMax } = optionsOf(config, model);
  return {
    ...before,
    model,
    options: { ...before.options, outputTokensMax: replyTokensMax },
    policy: { ...policyOf(config), layout },
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
