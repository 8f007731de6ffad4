// The engine of a host: one agent on the opened parts, with sub-agents, in its workspace.
import { modelOf } from "../core/config/resolve-agent.ts";
import { resolveProfile } from "../core/config/resolve-profile.ts";
import type { Redact } from "../core/events/redact-secrets.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { PaceKind } from "../core/cache/pace.ts";
import { onlyPresent } from "../core/message/fields.ts";
import type { AgentRole } from "../core/message/assembled-context.ts";
import type { Catalogue } from "../core/models/catalogue.ts";
import type { TextCounter } from "../core/tokens/o200k/counter.ts";
import type { CallOptions } from "../core/wire/protocol.ts";
import type { EventBus } from "../edge/events/event-bus.ts";
import type { Confirm } from "../edge/tools/dispatch/confirmation.ts";
import type { SettledUse } from "../edge/tools/dispatch/dispatch-options.ts";
import { checkFork, checkName } from "../engine/session/check-input.ts";
import { createEngine, type Engine } from "../engine/session/create-engine.ts";
import type { EngineDeps } from "../engine/session/engine-deps.ts";
import type { EngineConfig } from "../engine/session/engine-config.ts";
import { toDelegationOptions, toEngineConfig, toSummariserName } from "./config/from-config.ts";
import { withDelegation } from "../engine/sub-agents/sub-agent.ts";
import { openWorkspaceWorld } from "../engine/world/workspace-world.ts";
import { loadTools } from "./parts/load-tools.ts";
import type { McpParts } from "./parts/open-mcp.ts";
import { createFindSummariser } from "./parts/find-summariser.ts";
import { perSource } from "../engine/world/per-source.ts";
import type { FollowedConfig } from "./config/follow-config.ts";
import type { Counters } from "./parts/open-counters.ts";
import type { HostProviders } from "./parts/open-providers.ts";
import type { HostWorkspace } from "./parts/open-workspace.ts";
import { markSimulated, requireSameKind } from "./ledger/simulated-session.ts";
import { followWorldSettings } from "./config/world-settings.ts";

/** What the engine runs on. */
export interface EngineParts {
  readonly config: FollowedConfig;
  readonly catalogue: Catalogue;
  readonly ledger: Ledger;
  readonly events: EventBus;
  readonly providers: HostProviders;
  readonly textCounter: TextCounter;
  readonly counters: Counters;
  readonly workspace: HostWorkspace;
  readonly mcp: Pick<McpParts, "open" | "list">;
  /** Absolute paths that no tool may read or write. */
  readonly guardedFiles: () => readonly string[];
  /** Takes secrets out of what tools give back. */
  readonly redact: Redact;
}

/** What the program around an engine does for it. */
export interface AgentOptions {
  /** In place of the agent's configured one; its rules are part of the prompt. */
  readonly role?: AgentRole;
  /** Which of the agent's bindings holds; its default by default. */
  readonly binding?: string;
  /** In place of the agent's configured one: what usually causes the next call. */
  readonly pace?: PaceKind;
  /** Where the user's own configuration and skills are; the home folder by default. */
  readonly homeFolder?: string;
  /** Call options, such as the longest reply. */
  readonly callOptions?: Partial<CallOptions>;
  /** Called before tools that need a confirmation; without it they are refused. */
  readonly confirm?: Confirm;
  /** Called when a tool use ends. */
  readonly onSettled?: (settled: SettledUse) => void;
}

export interface EngineOwner extends AgentOptions {
  readonly agent: string;
  /** The agent's model where the configuration names none. */
  readonly usualModel: string;
  readonly onNotice: (notice: string) => void;
  /** Called with the agent of every session that is opened. */
  readonly onSession: (sessionId: string, agent: string) => void;
}

export function openHostEngine(parts: EngineParts, owner: EngineOwner): Engine {
  const { agent, binding, role, pace, usualModel, callOptions: options } = owner;
  const { config, workspace } = parts;
  const around = {
    binding,
    ...onlyPresent({ role, pace, options }),
    workspacePath: workspace.path,
    model: usualModel,
  };
  const readConfig = async (): Promise<EngineConfig> =>
    toEngineConfig(await config.current(), agent, around);
  const deps = toDeps(parts, owner, readConfig);
  const delegation = perSource(() => config.now(), toDelegationOptions);
  const engine = createEngine(readConfig, withDelegation(readConfig, deps, delegation));
  return ofOneKind(engine, parts);
}

function toDeps(
  parts: EngineParts,
  owner: EngineOwner,
  readConfig: () => Promise<EngineConfig>,
): EngineDeps {
  const { config, catalogue, ledger, events, providers, textCounter: counter, counters } = parts;
  const { onNotice, onSession } = owner;
  const openWorld = openHostWorld(parts, owner);
  const findSummariser = createFindSummariser({ catalogue, providers, counter, onNotice });
  return {
    ledger,
    events,
    redact: parts.redact,
    onNotice,
    catalogue,
    counter,
    reach: async (model) => {
      const reached = await providers.reach(model);
      return { ...reached, counter: counters.of(reached) };
    },
    nameModel: (name) => modelOf(config.now(), name),
    canReach: (model) => providers.canReach(model),
    world: (session) => {
      onSession(session.sessionId, session.agent);
      return openWorld(session);
    },
    summariser: async () => {
      const { model: own } = await readConfig();
      return findSummariser(toSummariserName(config.now()), own);
    },
  };
}

/** A world in the workspace. In a temporary folder the agent may only read. */
function openHostWorld(parts: EngineParts, owner: EngineOwner): NonNullable<EngineDeps["world"]> {
  const { config, ledger, events, providers, workspace, mcp, guardedFiles, redact } = parts;
  const { agent, binding, homeFolder, confirm, onSettled, onNotice } = owner;
  const { isSimulated } = providers;
  const { path, documents, isTemporary } = workspace;
  const open = openWorkspaceWorld({
    workspace: path,
    ledger,
    events,
    documents,
    settings: followWorldSettings(config, { agent, binding, isSimulated, homeFolder }),
    tools: async () => {
      const { toolModule } = resolveProfile(config.now(), agent, binding ?? null);
      await mcp.open();
      return toolModule === null ? [] : loadTools(toolModule, path);
    },
    serverTools: mcp.list,
    readOnly: isTemporary,
    guardedFiles,
    redact,
    onNotice,
    ...onlyPresent({ confirm, onSettled }),
  });
  if (!isSimulated) return open;
  return async (session) => markSimulated(await open(session), { isTemporary });
}

/** A real model does not continue a simulated session, nor the reverse. */
export function ofOneKind(
  engine: Engine,
  {
    ledger,
    providers: { isSimulated },
  }: Pick<EngineParts, "ledger"> & {
    readonly providers: Pick<HostProviders, "isSimulated">;
  },
): Engine {
  const checkKind = async (id: string): Promise<void> => {
    checkName(id, "the name of a session");
    const record = await ledger.findSession(id);
    if (record !== null) requireSameKind(record, isSimulated);
  };
  return {
    ...engine,
    session: async (id, options) => {
      await checkKind(id);
      return engine.session(id, options);
    },
    fork: async (from) => {
      const { sessionId } = checkFork(from);
      await checkKind(sessionId);
      return engine.fork(from);
    },
    resume: async (id) => {
      await checkKind(id);
      return engine.resume(id);
    },
  };
}
