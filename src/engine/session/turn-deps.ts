// The deps of a session's turns and compactions, with the settings and limits of the moment.
import type { EventMoment } from "../../core/layers/event.ts";
import type { Section } from "../../core/layers/section.ts";
import type { AgentRole } from "../../core/message/assembled-context.ts";
import { builtInCatalogue, type Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { askedRoleOf } from "../../core/session/session-role.ts";
import type { Session } from "../../core/session/session.ts";
import { joinSizes, noSizes } from "../../core/tokens/learned-sizes.ts";
import { StrataError } from "../../core/strata-error.ts";
import { watchTools, withoutSecrets } from "../turn/answer-tools.ts";
import type { HeldPrefixes } from "../stored/keep-stored.ts";
import type { Compaction, Deps } from "../turn/deps.ts";
import type { HandleParts } from "../turn/turn-handle.ts";
import { foundationOf, type World } from "../world/world.ts";
import {
  compactionOf,
  optionsOf,
  policyOf,
  routingVersionOf,
  type EngineConfig,
} from "./engine-config.ts";
import type { EngineContext, EngineDeps } from "./engine-deps.ts";
import { createSpendingGuard } from "./spending.ts";
import { fallBack } from "./fall-back.ts";
import { toRoutePart, type ReachedSession } from "./route-turn.ts";

export interface WorkInSession extends ReachedSession {
  readonly world: World;
  /** The session with the settings of its next call. */
  readonly onRefreshed: (session: Session) => void;
  readonly onRecorded: (session: Session) => void;
  /** The session with another model, after the provider of its own failed. */
  readonly onSwitched: (now: ReachedSession) => void;
  /** What the provider keeps for the session under a name. */
  readonly prefixes: HeldPrefixes;
  /** Whether the application sends the calls itself: then it chooses who is asked. */
  readonly isSentOutside?: boolean;
  /** The handle of the turn; absent for work between turns. */
  readonly parts?: HandleParts;
  /** For work between turns. */
  readonly signal?: AbortSignal;
}

export async function toDeps(context: EngineContext, work: WorkInSession): Promise<Deps> {
  const { deps, readConfig, sizes } = context;
  const { session, reached, world, parts, signal, onRecorded, onRefreshed, prefixes } = work;
  let now: ReachedSession = { session, reached };
  let config = await readConfig();
  const summariser = (await deps.summariser?.()) ?? null;
  const switchModel: Deps["switchModel"] = async (turn, step) => {
    const fallen = await fallBack(context, { now, world }, turn, step);
    if (fallen === null) return null;
    now = { session: fallen.moved.before, reached: fallen.reached };
    work.onSwitched(now);
    parts?.emit(toRoutePart(now.session, fallen.moved.route));
    return fallen.moved;
  };
  const { redact } = deps;
  const runTools = withoutSecrets(
    (uses, call) => world.tools?.runAll(uses, call) ?? Promise.resolve([]),
    redact,
  );
  return {
    get provider() {
      return now.reached.provider;
    },
    get counter() {
      return now.reached.counter;
    },
    switchModel: work.isSentOutside === true ? undefined : switchModel,
    ledger: deps.ledger,
    now: deps.now ?? Date.now,
    permissionsOf: (tool) => needsOf(world, session.role, tool),
    runTools: parts === undefined ? runTools : watchTools(runTools, parts.emit),
    get compaction() {
      return toCompaction(now.session, config, { deps, world, summariser });
    },
    spending: createSpendingGuard(session, deps.ledger, () => config),
    onRecorded,
    onPrefixLost: prefixes.lost,
    routingVersion: routingVersionOf(config),
    refresh: async (before) => {
      config = await readConfig();
      const shared = shareSizes(withSettings(before, config, deps), sizes);
      const refreshed = work.isSentOutside === true ? shared : withHeld(shared, prefixes);
      onRefreshed(refreshed);
      return refreshed;
    },
    ...(redact === undefined ? {} : { redact }),
    ...(deps.events === undefined ? {} : { events: deps.events }),
    ...(signal === undefined ? {} : { signal }),
    ...(parts === undefined ? {} : depsOfHandle(parts)),
  };
}

interface CompactionParts {
  readonly deps: EngineDeps;
  readonly world: World;
  readonly summariser: Compaction["summariser"] | null;
}

/** As configured now, for the model that the session has now. */
function toCompaction(
  session: Session,
  config: EngineConfig,
  { deps, world, summariser }: CompactionParts,
): Compaction {
  const { model, protocol, policy } = session;
  const { compactionHooks, onNotice = () => {} } = deps;
  const role = askedRoleOf(session);
  return {
    ...compactionOf(config),
    refresh: async () => ({ ...(await foundationOf(world, role)), model, protocol, policy }),
    ...(summariser ? { summariser } : {}),
    ...(compactionHooks === undefined ? {} : { hooks: { all: compactionHooks, onNotice } }),
    ...(world.skills === undefined ? {} : { skills: world.skills }),
  };
}

function needsOf({ tools }: World, role: AgentRole, tool: string): readonly string[] {
  const offered = tools?.toolsFor(role).tools ?? [];
  return offered.find(({ definition }) => definition.name === tool)?.needs ?? [];
}

function depsOfHandle(parts: HandleParts): Partial<Deps> {
  const { signal, onPart, onPhase, emit, steering } = parts;
  const { takeSteered, queue } = steering;
  const onMiss: Deps["onMiss"] = (callNumber, miss) => emit({ type: "miss", callNumber, miss });
  return { signal, onPart, onPhase, onMiss, takeSteered, queue };
}

/** Sessions of one agent learn a model's factor together, because their content is alike; its limit is the same for all. */
function shareSizes(session: Session, known: EngineContext["sizes"]): Session {
  const { agent, modelName } = session;
  const ofAgent = `${modelName} ${agent}`;
  const own = joinSizes(session.sizes, known?.get(ofAgent) ?? noSizes);
  const sizes = joinSizes(own, known?.get(modelName) ?? noSizes);
  known?.set(ofAgent, sizes);
  known?.set(modelName, { ...noSizes, promptTokensMax: sizes.promptTokensMax });
  return { ...session, sizes };
}

/** Refreshes markers, prices and limits, which change no sent byte. Layout and protocol would, so they stay. */
function withSettings(
  before: Session,
  config: EngineConfig,
  { catalogue }: Pick<EngineDeps, "catalogue">,
): Session {
  const { layout } = before.policy;
  const model = withLimits(before, catalogue);
  const { outputTokensMax } = optionsOf(config, model);
  const isSame = before.options.outputTokensMax === outputTokensMax;
  return {
    ...before,
    model,
    // Unchanged options stay the same object, so that the diagnosis need not read them again.
    options: isSame ? before.options : { ...before.options, outputTokensMax },
    policy: { ...policyOf(config), layout },
  };
}

function withHeld({ stored: _before, ...session }: Session, prefixes: HeldPrefixes): Session {
  const stored = prefixes.current(session);
  return stored === null ? session : { ...session, stored };
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

/** A window that tools and system text fill by themselves holds no conversation. */
export function requireRoom(session: Session, { catalogue }: Pick<EngineDeps, "catalogue">): void {
  const { tokens } = session.thread.foundation.end;
  const model = withLimits(session, catalogue);
  const tokensMax = Math.min(model.windowTokens, model.inputTokensMax);
  // 0: the window is not known.
  if (tokensMax === 0 || tokens < tokensMax) return;
  throw new StrataError(
    "config-invalid",
    `tools and system text have about ${tokens} tokens, and the window of ${model.id} has ${tokensMax}`,
    `correct models.override.${model.id}.window, choose a model with a larger window, or shorten the documents of the workspace`,
  );
}

export interface TurnSettings {
  readonly volatile: () => Promise<readonly Section[]>;
  readonly callsMax?: number;
  /** Who writes and where, for events that do not say it. */
  readonly moment?: EventMoment;
}

export async function settingsOfTurn(
  { readConfig }: EngineContext,
  volatile: TurnSettings["volatile"],
): Promise<TurnSettings> {
  const { callsMax, moment } = await readConfig();
  const settings = { volatile, ...(moment === undefined ? {} : { moment }) };
  if (callsMax === undefined) return settings;
  if (Number.isSafeInteger(callsMax) && callsMax >= 1) return { ...settings, callsMax };
  throw new StrataError(
    "input-invalid",
    `callsMax is ${String(callsMax)}, and a turn needs at least one call`,
    "give a whole number from 1, or leave it out",
  );
}
