// An engine on this machine for one agent: as configured, in a folder, on a ledger, with events and metrics.
import type { ConfigOption } from "../core/config/read-config.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { AgentRole } from "../core/message/assembled-context.ts";
import type { Catalogue } from "../core/models/catalogue.ts";
import { findModel } from "../core/models/resolve-model.ts";
import { modelOf } from "../core/config/resolve-agent.ts";
import { loadO200k, type TextCounter } from "../core/tokens/o200k/counter.ts";
import type { CallOptions } from "../core/wire/protocol.ts";
import type { EventBus } from "../edge/events/event-bus.ts";
import { createMetrics, type Metrics } from "../edge/exporters/metrics.ts";
import type { Providers } from "../edge/providers/reach-providers.ts";
import type { Confirm } from "../edge/tools/dispatch/confirmation.ts";
import type { SettledUse } from "../edge/tools/dispatch/dispatch-options.ts";
import { createEngine, type Engine, type EngineEdges } from "../engine/create-engine.ts";
import type { EngineConfig } from "../engine/engine-config.ts";
import {
  toCounterSettings,
  toEngineConfig,
  toSummariserName,
  toWorldSettings,
} from "../engine/from-config.ts";
import { unlessRefused } from "../engine/tell.ts";
import { withDelegation } from "../engine/sub-agent.ts";
import { toDelegationOptions } from "../engine/sub-agent-config.ts";
import type { WorldSettings } from "../engine/workspace-settings.ts";
import { openWorkspaceWorld } from "../engine/workspace-world.ts";
import type { SimulatorOptions } from "../simulator/index.ts";
import { createCounters, type Counters } from "./open-engine-counters.ts";
import { openBase, type Closing, type EngineBase } from "./open-engine-base.ts";
import { continueEvents, usualSkillsRoot, type FollowedConfig } from "./open-engine-parts.ts";
import { markSimulated, requireSide } from "./open-engine-side.ts";
import { createFindSummariser } from "./open-engine-summariser.ts";
import type { Environment } from "./read-config.ts";

export interface OpenEngineOptions {
  /**
   * The folder to work in. Without one, a simulated agent gets an empty folder of its own and may only look; any
   * other works in the folder of the process.
   */
  readonly workspace?: string;
  /** `agent` by default. */
  readonly agent?: string;
  /** What its first session is with, where that is not the agent's: decides whether everything here is simulated. */
  readonly model?: string;
  readonly role?: AgentRole;
  /** From `--config`. */
  readonly configFile?: string;
  readonly env: Environment;
  /** What else was typed, as `--model`; stronger than files and variables. */
  readonly typed?: readonly ConfigOption[];
  /** Where a person's own configuration and skills are; the user's home by default. */
  readonly homeFolder?: string;
  /** From `--store`: a file or a connection string. */
  readonly store?: string;
  /** Instead of any store; whoever gives it closes it. */
  readonly ledger?: Ledger;
  /** Told what a person should know, one notice at a time; no key is in any. */
  readonly onNotice?: (notice: string) => void;
  /** Asked before commands and the like; without it they are refused. */
  readonly confirm?: Confirm;
  /** Told how each use of a tool ended. */
  readonly onSettled?: (settled: SettledUse) => void;
  /** The o200k vocabulary by default, which takes a moment to load. */
  readonly counter?: TextCounter;
  /** How calls are made, such as the longest reply. */
  readonly callOptions?: Partial<CallOptions>;
  readonly simulator?: SimulatorOptions;
}

export interface OpenEngine {
  readonly engine: Engine;
  readonly agent: string;
  /** As it was last looked at, which is before every call. Holds keys: print settings, which are masked. */
  readonly config: () => StrataConfig;
  readonly ledger: Ledger;
  readonly events: EventBus;
  readonly metrics: Metrics;
  readonly providers: Providers;
  /** Where a simulated agent was given none, a temporary one. */
  readonly workspace: string;
  readonly isTemporary: boolean;
  readonly catalogue: Catalogue;
  /** Whether models are played by the simulator. All of them or none: a model of the other kind is refused. */
  readonly isSimulated: boolean;
  close(): Promise<void>;
}

export async function openEngineFor(options: OpenEngineOptions): Promise<OpenEngine> {
  const opened: Closing[] = [];
  try {
    const base = await openBase(options, opened);
    const { agent, config, usual, workspace, events, ledger } = base;
    const { role = "unified", callOptions } = options;
    const readConfig = async (): Promise<EngineConfig> => {
      const around = { role, workspacePath: workspace, model: usual };
      const read = toEngineConfig(await config.current(), agent, around);
      return callOptions === undefined ? read : { ...read, options: callOptions };
    };
    const counter = options.counter ?? (await loadO200k());
    const agents = new Map<string, string>();
    const metrics = openMetrics(base, agents);
    const counters = createCounters({
      settings: () => toCounterSettings(config.now(), agent),
      textCounter: counter,
      onNotice: options.onNotice ?? (() => {}),
    });
    opened.push(counters);
    const plain = toEdges(base, { ...options, counter, counters, agents, readConfig });
    const edges = withDelegation(readConfig, plain, perConfig(config, toDelegationOptions));
    const engine = continuing(createEngine(readConfig, edges), base);
    opened.push(engine);
    const { providers, catalogue, isTemporary, isSimulated } = base;
    return {
      engine,
      agent,
      config: () => config.now(),
      ledger,
      events,
      metrics,
      providers,
      catalogue,
      workspace,
      isTemporary,
      isSimulated,
      close: () => closeAll(opened),
    };
  } catch (error) {
    await closeAll(opened).catch(() => {});
    throw error;
  }
}

/** The latest first; what fails does not keep the others open. */
async function closeAll(opened: Closing[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of opened.splice(0).toReversed()) {
    try {
      await each.close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

function openMetrics(base: EngineBase, agents: ReadonlyMap<string, string>): Metrics {
  const { events, documents, agent, catalogue } = base;
  const metrics = createMetrics({
    agentOf: (sessionId) => agents.get(sessionId) ?? agent,
    priceOf: (model, provider) => {
      const found = findModel(model, catalogue)?.facts ?? null;
      return found?.provider === provider ? found : null;
    },
  });
  events.subscribe((event) => metrics.observe(event));
  metrics.addWorkspaceCache(documents);
  return metrics;
}

interface EdgesOf extends OpenEngineOptions {
  readonly counter: TextCounter;
  readonly counters: Counters;
  /** By session; told of each that is opened. */
  readonly agents: Map<string, string>;
  readonly readConfig: () => Promise<EngineConfig>;
}

function toEdges(base: EngineBase, of: EdgesOf): EngineEdges {
  const { workspace, isTemporary, isSimulated, ledger, events, documents } = base;
  const { providers, catalogue, config } = base;
  const { counter, agents, confirm, onSettled, onNotice = () => {} } = of;
  const makeWorld = openWorkspaceWorld({
    workspace,
    ledger,
    events,
    documents,
    settings: createSettings(base, usualSkillsRoot(of.homeFolder)),
    readOnly: isTemporary,
    onNotice,
    ...(confirm === undefined ? {} : { confirm }),
    ...(onSettled === undefined ? {} : { onSettled }),
  });
  const findSummariser = createFindSummariser({ catalogue, providers, counter, onNotice });
  return {
    ledger,
    events,
    catalogue,
    counter,
    reach: async (model) => {
      const reached = await providers.reach(model);
      return { ...reached, counter: of.counters.of(reached) };
    },
    nameModel: (name) => modelOf(config.now(), name),
    canReach: (model) => providers.canReach(model),
    world: async (owner) => {
      agents.set(owner.sessionId, owner.agent);
      const world = await makeWorld(owner);
      return isSimulated ? markSimulated(world, { isTemporary }) : world;
    },
    summariser: async () => {
      const { model: own } = await of.readConfig();
      return findSummariser(toSummariserName(config.now()), own);
    },
  };
}

/** A simulated agent never runs commands. */
function createSettings(
  { config, agent, isSimulated }: EngineBase,
  skillsRoot: string,
): () => WorldSettings {
  return perConfig(config, (from) => {
    const settings = toWorldSettings(from, agent, { skillsRoot });
    const tools = { ...settings.tools, ...(isSimulated ? { allowBash: false } : {}) };
    return { ...settings, tools };
  });
}

/** The same object as long as the configuration is. */
function perConfig<Value>(
  config: FollowedConfig,
  make: (from: StrataConfig) => Value,
): () => Value {
  let made: { readonly from: StrataConfig; readonly value: Value } | null = null;
  return () => {
    const from = config.now();
    if (made?.from !== from) made = { from, value: make(from) };
    return made.value;
  };
}

/** Events of a session that goes on come after those that are stored, and begin with that it does. */
function continuing(engine: Engine, { events, ledger, isSimulated }: EngineBase): Engine {
  const checkSide = async (id: string): Promise<void> => {
    const record = await ledger.findSession(id);
    if (record !== null) requireSide(record, isSimulated);
  };
  return {
    ...engine,
    fork: async (from) => {
      await checkSide(from.sessionId);
      return engine.fork(from);
    },
    resume: async (id) => {
      await checkSide(id);
      const last = await continueEvents(events, ledger, id);
      const resumed = await engine.resume(id);
      const { key } = resumed.session.thread.foundation;
      const payload = { workspace_hash: key, last_event_id_at_resume: last };
      const resuming = { type: "session.resumed", sessionId: id, payload } as const;
      unlessRefused(() => events.emit({ ...resuming, parentEventId: last }));
      return resumed;
    },
  };
}
