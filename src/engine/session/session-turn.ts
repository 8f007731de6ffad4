// A turn of an open session: begun or resumed, and the session after it.
import type { AgentEvent } from "../../core/layers/event.ts";
import type { Section } from "../../core/layers/section.ts";
import type { Session } from "../../core/session/session.ts";
import { StrataError, toStrataError } from "../../core/strata-error.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { findModelSetup, needRecord } from "./recorded-setup.ts";
import { resumeSession } from "./stored-session.ts";
import type { EngineContext, EngineDeps, Reached } from "./engine-deps.ts";
import type { Deps, TurnRun } from "../turn/deps.ts";
import { routeTurn, toRoutePart, type ReachedSession } from "./route-turn.ts";
import { beginTurn, loadTurn } from "../turn/begin-turn.ts";
import { release, type RunningTurn } from "../turn/running-turn.ts";
import type { HandleParts } from "../turn/turn-handle.ts";
import { builtInCatalogue, type Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { TurnEnding } from "../../core/turn/turn.ts";
import type { Compaction } from "../turn/deps.ts";
import {
  compactionOf,
  optionsOf,
  policyOf,
  findRecorded,
  type EngineConfig,
} from "./engine-config.ts";
import { watchTools, withoutSecrets } from "../turn/answer-tools.ts";
import { foundationOf, type World } from "../world/world.ts";
import { askedRoleOf } from "../../core/session/session-role.ts";

export interface SessionTurn {
  readonly running: RunningTurn;
  readonly deps: Deps;
}

export interface TurnWish {
  /** Null continues the turn that a process left open. */
  readonly event: AgentEvent | null;
  /** For this turn only. */
  readonly model: string | null;
}

/** Chooses the model first. After an error the session is what the ledger has of it. */
export async function withTurn<Value>(
  context: EngineContext,
  open: OpenState,
  parts: HandleParts,
  wish: TurnWish,
  run: (turn: SessionTurn) => Promise<Value>,
): Promise<Value> {
  await readAgainIfStale(context, open);
  const before = { session: open.session, reached: open.reached };
  try {
    const turn = await beginInSession(context, open, parts, wish);
    open.running = turn.running;
    return await run(turn);
  } catch (error) {
    throw await recover(context, open, before, error);
  }
}

/** Nothing of a failed turn stays in memory: if the ledger has something of it, the session is read again. */
export async function recover(
  { deps }: EngineContext,
  open: OpenState,
  before: ReachedSession,
  error: unknown,
  what = "the turn",
): Promise<StrataError> {
  const { session } = open;
  const find = async (): Promise<SessionRecord | null> => deps.ledger.findSession(session.id);
  const record = await find().catch(() => undefined);
  const isUnchanged = record?.openTurnId === null && record.headTurnId === session.headTurnId;
  if (record === null || isUnchanged) Object.assign(open, withRecord(before, session));
  else open.isStale = true;
  return toStrataError(error, `${what} of session ${session.id}`);
}

/** Reads a session from the ledger that a failed turn left unsure. Returns whether a turn is open there. */
export async function readAgainIfStale(context: EngineContext, open: OpenState): Promise<boolean> {
  if (!open.isStale) return false;
  // The ledger may have failed when the turn was released.
  if (open.running !== null) await release(open.running);
  const { session, reached, hasOpenTurn } = await loadSession(context, open.session.id);
  Object.assign(open, { session, reached, running: null, isStale: false });
  return hasOpenTurn;
}

export interface LoadedSession extends ReachedSession {
  readonly hasOpenTurn: boolean;
}

/** A session as the ledger has it, with the model of its next turn. */
export async function loadSession(context: EngineContext, id: string): Promise<LoadedSession> {
  const { deps } = context;
  const config = await context.readConfig();
  const record = await needRecord(deps.ledger, id);
  const recorded = await findModelSetup(deps.ledger, record);
  const habit = recorded?.setup?.calls;
  const model = findRecorded({ model: recorded?.model ?? record.model, name: habit?.name }, deps);
  const reached = await deps.reach(model);
  const session = await resumeSession(deps.ledger, id, {
    model,
    protocol: reached.protocol,
    policy: policyOf(config),
    counter: deps.counter,
    // Other options would change the cached prefix.
    options: habit?.options ?? optionsOf(config, model),
    ...(config.pace !== undefined && { pace: config.pace }),
  });
  // A session without a folder, such as an imported one, works in the engine's.
  const workspacePath = session.workspacePath ?? config.workspacePath ?? null;
  const hasOpenTurn = record.openTurnId !== null;
  return { session: { ...session, workspacePath }, reached, hasOpenTurn };
}

async function beginInSession(
  context: EngineContext,
  open: OpenState,
  parts: HandleParts,
  { event, model }: TurnWish,
): Promise<SessionTurn> {
  const { world } = open;
  const volatile = async (): Promise<readonly Section[]> => world.volatile?.(open.calling) ?? [];
  const more = { volatile, ...(await limitsOf(context)) };
  if (event === null) {
    const record = await context.deps.ledger.findSession(open.session.id);
    parts.identify(record?.openTurnId ?? "");
    const deps = await toDeps(context, open, { parts });
    return { running: await loadTurn(open.session, more, deps), deps };
  }
  const { route, ...routed } = await routeTurn(context, open, world, { event, model });
  Object.assign(open, routed);
  requireRoom(open.session, withLimits(open.session, context.deps.catalogue));
  parts.emit(toRoutePart(open.session, route));
  const deps = await toDeps(context, open, { parts });
  const turn = { id: parts.handle.turnId, event, route, ...more };
  return { running: await beginTurn(open.session, turn, deps), deps };
}

/** A window that tools and system text fill by themselves holds no conversation. */
function requireRoom({ thread }: Session, model: ModelFacts): void {
  const { tokens } = thread.foundation.end;
  const tokensMax = Math.min(model.windowTokens, model.inputTokensMax);
  // 0: the window is not known.
  if (tokensMax === 0 || tokens < tokensMax) return;
  throw new StrataError(
    "config-invalid",
    `tools and system text have about ${tokens} tokens, and the window of ${model.id} has ${tokensMax}`,
    `correct models.override.${model.id}.window, choose a model with a larger window, or shorten the documents of the workspace`,
  );
}

/** The session continues from the end of the turn. */
export function settleTurn(open: OpenState, run: TurnRun): TurnRun {
  open.session = run.session;
  open.running = null;
  open.lastEnd = run.end;
  return run;
}

function withRecord(
  before: ReachedSession,
  { isRecorded, headTurnId, openedMs }: Session,
): ReachedSession {
  return { ...before, session: { ...before.session, isRecorded, headTurnId, openedMs } };
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

/** The current state of an open session in this process. */
export interface OpenState {
  session: Session;
  reached: Reached;
  readonly world: World;
  /** The session in the running turn, as its next call sees it. */
  calling: Session;
  lastEnd: TurnEnding;
  /** The turn that runs, or that failed last. */
  running: RunningTurn | null;
  /** Whether a turn failed and left the session in doubt: it is read again before the next work. */
  isStale: boolean;
}

export interface DepsWish {
  readonly parts?: HandleParts;
  /** Used when no turn runs. */
  readonly signal?: AbortSignal;
}

export async function toDeps(
  { deps, readConfig }: EngineContext,
  open: OpenState,
  { parts, signal }: DepsWish = {},
): Promise<Deps> {
  const { session, world, reached } = open;
  const { model, protocol, policy } = session;
  const role = askedRoleOf(session);
  let config = await readConfig();
  const summariser = (await deps.summariser?.()) ?? null;
  const { redact } = deps;
  const runTools = withoutSecrets(
    (uses, call) => world.tools?.runAll(uses, call) ?? Promise.resolve([]),
    redact,
  );
  return {
    provider: reached.provider,
    ...(reached.counter === undefined ? {} : { counter: reached.counter }),
    ledger: deps.ledger,
    now: deps.now ?? Date.now,
    runTools: parts === undefined ? runTools : watchTools(runTools, parts.emit),
    get compaction(): Compaction {
      return {
        ...compactionOf(config),
        refresh: async () => ({ ...(await foundationOf(world, role)), model, protocol, policy }),
        ...(summariser === null ? {} : { summariser }),
        ...(world.skills === undefined ? {} : { skills: world.skills }),
      };
    },
    onRecorded: (recorded) => {
      open.session = recorded;
    },
    refresh: async (before) => {
      config = await readConfig();
      open.calling = renew(before, config, deps);
      return open.calling;
    },
    ...(redact === undefined ? {} : { redact }),
    ...(deps.events === undefined ? {} : { events: deps.events }),
    ...(signal === undefined ? {} : { signal }),
    ...(parts === undefined ? {} : partDeps(parts)),
  };
}

function partDeps({ signal, onPart, onPhase, takeSteered }: HandleParts): Partial<Deps> {
  return { signal, onPart, onPhase, takeSteered };
}

/** Refreshes markers, prices and limits, which change no sent byte. Layout and protocol would, so they stay. */
function renew(before: Session, config: EngineConfig, { catalogue }: EngineDeps): Session {
  const { layout } = before.policy;
  const model = withLimits(before, catalogue);
  const { outputTokensMax } = optionsOf(config, model);
  return {
    ...before,
    model,
    options: { ...before.options, outputTokensMax },
    policy: { ...policyOf(config), layout },
  };
}

/** A model that the catalogue no longer has stays unchanged. */
function withLimits(
  { model: before, modelName }: Session,
  catalogue: Catalogue = builtInCatalogue,
): ModelFacts {
  const now = findModel(modelName, catalogue)?.facts;
  if (now === undefined || now === before || now.id !== before.id) return before;
  const { windowTokens, inputTokensMax, outputTokensMax, prices, cache } = now;
  return { ...before, windowTokens, inputTokensMax, outputTokensMax, prices, cache };
}
