// host: configuration → ledger, providers, events, engine; every program starts here.
import { resolve } from "node:path";
import type { Environment } from "../core/config/environment.ts";
import type { ConfigOption } from "../core/config/read-config.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { AgentRole } from "../core/message/assembled-context.ts";
import type { Catalogue } from "../core/models/catalogue.ts";
import { loadO200k, type TextCounter } from "../core/tokens/o200k/counter.ts";
import type { CallOptions } from "../core/wire/protocol.ts";
import type { EventBus } from "../edge/events/event-bus.ts";
import type { Metrics } from "../edge/exporters/metrics.ts";
import type { Providers } from "../edge/providers/reach-providers.ts";
import type { Confirm } from "../edge/tools/dispatch/confirmation.ts";
import type { SettledUse } from "../edge/tools/dispatch/dispatch-options.ts";
import { createLiveCatalogue } from "./config-catalogue.ts";
import type { Engine } from "../engine/session/create-engine.ts";
import type { SimulatorOptions } from "../simulator/index.ts";
import { usualModel } from "./choose-model.ts";
import { closeAll, type Closing } from "./close-all.ts";
import { followConfig } from "./follow-config.ts";
import { createHostMetrics } from "./host-metrics.ts";
import { openCounters, type Counters } from "./open-counters.ts";
import { openHostEngine } from "./host-engine.ts";
import { openEvents } from "./open-events.ts";
import { openConfiguredLedger } from "./open-ledger.ts";
import { openProviders } from "./open-providers.ts";
import { openWorkspace } from "./open-workspace.ts";
import { sweepOldEvents } from "./sweep-events.ts";

export interface HostOptions {
  /** The variables of the process. Nothing below reads them by itself. */
  readonly env: Environment;
  /** From `--config`; instead of the files that are looked for. */
  readonly configFile?: string;
  /** Other options that were typed, as `--model`; stronger than files and variables. */
  readonly typed?: readonly ConfigOption[];
  /** Where the user's own configuration and skills are; the home folder by default. */
  readonly homeFolder?: string;
  /** From `--store`: a file or a connection string. */
  readonly store?: string;
  /** Used instead of any store. The caller closes it. */
  readonly ledger?: Ledger;
  /** The agent whose settings hold; `agent` by default. */
  readonly agent?: string;
  /** In place of the agent's configured one; its rules are part of the prompt. */
  readonly role?: AgentRole;
  /** The model of the first session if it is not the agent's. Decides whether all models here are simulated. */
  readonly model?: string;
  /**
   * The folder to work in. By default a simulated agent gets an empty temporary folder in which it may only read, and
   * a real one works in the current folder.
   */
  readonly workspace?: string;
  /** Called before tools that need a confirmation; without it they are refused. */
  readonly confirm?: Confirm;
  /** Called when a tool use ends. */
  readonly onSettled?: (settled: SettledUse) => void;
  /** Called with each notice for a person. Notices hold no keys. */
  readonly onNotice?: (notice: string) => void;
  /** The o200k vocabulary by default, which takes a moment to load. */
  readonly counter?: TextCounter;
  /** Call options, such as the longest reply. */
  readonly callOptions?: Partial<CallOptions>;
  readonly simulator?: SimulatorOptions;
}

export interface Host {
  /** The configuration at the last check, which happens before every call. It holds keys: print `settings`, which are masked. */
  readonly config: () => StrataConfig;
  readonly catalogue: Catalogue;
  readonly ledger: Ledger;
  readonly events: EventBus;
  readonly providers: Providers;
  /** Whether the simulator plays the models: all of them or none. A model of the other kind is refused. */
  readonly isSimulated: boolean;
  readonly counters: Counters;
  /** The path of the folder. */
  readonly workspace: string;
  /** Whether the folder was made for this host; `close` removes it. */
  readonly isTemporary: boolean;
  readonly metrics: Metrics;
  readonly agent: string;
  readonly engine: Engine;
  close(): Promise<void>;
}

/** Opens everything for one agent, as configured. If a part fails, the earlier parts are closed again. */
export async function openHost(options: HostOptions): Promise<Host> {
  const opened: Closing[] = [];
  const keep: Keep = (part) => {
    opened.push(part);
    return part;
  };
  try {
    const parts = await openParts(options, keep);
    return { ...parts, close: () => closeAll(opened) };
  } catch (error) {
    await closeAll(opened).catch(() => {});
    throw error;
  }
}

/** Each part needs the earlier ones. `keep` is called at once with a part that must be closed. */
async function openParts(options: HostOptions, keep: Keep): Promise<Omit<Host, "close">> {
  const { env, store, configFile, typed, homeFolder, simulator } = options;
  const { agent = "agent", onNotice = () => {} } = options;

  const folder = resolve(options.workspace ?? ".");
  const where = { workspace: folder, configFile, env, homeFolder, typed, onNotice };
  const config = await followConfig(where);
  const catalogue = createLiveCatalogue(() => config.now());

  const ledger =
    options.ledger ?? keep(await openConfiguredLedger(config.now(), { env, store, onNotice }));
  keep(sweepOldEvents({ ledger, config, onNotice }));
  const events = keep(openEvents({ ledger, onNotice }));

  const usual = usualModel(config.now(), agent);
  const firstModel = options.model ?? usual;
  const providers = keep(openProviders({ config, catalogue, firstModel, onNotice, simulator }));
  const { isSimulated } = providers;
  const textCounter = options.counter ?? (await loadO200k());
  const counters = keep(openCounters({ config, agent, textCounter, onNotice }));

  const workspace = keep(await openWorkspace(config, options.workspace, isSimulated));
  const { path, isTemporary, documents } = workspace;
  const agents = new Map<string, string>();
  const metrics = createHostMetrics({ events, catalogue, documents, agents, agent });

  const parts = { config, catalogue, ledger, events, providers, textCounter, counters, workspace };
  const onSession = (id: string, of: string): void => void agents.set(id, of);
  const owner = { ...options, agent, usualModel: usual, onNotice, onSession };
  const engine = keep(openHostEngine(parts, owner));

  const opened = { catalogue, ledger, events, providers, counters, metrics, agent, engine };
  const place = { workspace: path, isTemporary, isSimulated };
  return { ...opened, ...place, config: () => config.now() };
}

type Keep = <Part extends Closing>(part: Part) => Part;
