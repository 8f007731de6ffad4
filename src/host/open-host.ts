// host: configuration → ledger, providers, events, engine; every program starts here.
import { resolve } from "node:path";
import type { Environment } from "../core/config/environment.ts";
import type { ConfigOption } from "../core/config/read-config.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { Catalogue } from "../core/models/catalogue.ts";
import { loadO200k, type TextCounter } from "../core/tokens/o200k/counter.ts";
import type { EventBus } from "../edge/events/event-bus.ts";
import { createMetrics, type Metrics } from "../edge/exporters/metrics.ts";
import { countTelemetry } from "../edge/exporters/otel/count-telemetry.ts";
import type { Providers } from "../edge/providers/reach-providers.ts";
import { createLiveCatalogue } from "./config/catalogue.ts";
import type { Engine } from "../engine/session/create-engine.ts";
import type { SimulatorOptions } from "../simulator/index.ts";
import { usualModel } from "./config/choose-model.ts";
import { openAll, type Closing, type Keep } from "./open-all.ts";
import { followConfig, type FollowedConfig } from "./config/follow-config.ts";
import { openCounters, type Counters } from "./parts/open-counters.ts";
import { openHostEngine, type AgentOptions } from "./host-engine.ts";
import { openEvents } from "./ledger/open-events.ts";
import { readStore } from "./config/environment.ts";
import { ledgerFiles, openLedger } from "../edge/stores/open-ledger.ts";
import { followSecrets } from "./tool-secrets.ts";
import { messageOf } from "../core/strata-error.ts";
import {
  followWithTelemetry,
  type HostTelemetry,
  type TelemetrySettings,
} from "./parts/open-telemetry.ts";
import { createMcpParts } from "./parts/open-mcp.ts";
import { openProviders } from "./parts/open-providers.ts";
import { openWorkspace } from "./parts/open-workspace.ts";
import { findModel } from "../core/models/resolve-model.ts";
import type { WorkspaceCache } from "../edge/files/workspace/workspace-cache.ts";

export interface HostOptions extends AgentOptions {
  /** The variables of the process. Nothing below reads them by itself. */
  readonly env: Environment;
  /** From `--config`; instead of the files that are looked for. */
  readonly configFile?: string;
  /** The content of `configFile` that the caller trusts, as `sha256:…`. A file in the workspace is used only with trusted content. */
  readonly trust?: string;
  /** Other options that were typed, as `--model`; stronger than files and variables. */
  readonly typed?: readonly ConfigOption[];
  /** From `--store`: a file or a connection string. */
  readonly store?: string;
  /** Used instead of any store. The caller closes it. */
  readonly ledger?: Ledger;
  /** The agent whose settings hold; `agent` by default. */
  readonly agent?: string;
  /** The model of the first session if it is not the agent's. Decides whether all models here are simulated. */
  readonly model?: string;
  /**
   * The folder to work in. By default a simulated agent gets an empty temporary folder in which it may only read, and
   * a real one works in the current folder.
   */
  readonly workspace?: string;
  /** Called with each notice for a person. Notices hold no keys. */
  readonly onNotice?: (notice: string) => void;
  /** The o200k vocabulary by default, which takes a moment to load. */
  readonly counter?: TextCounter;
  readonly simulator?: SimulatorOptions;
  /** OpenTelemetry spans and metrics; by default as configured. */
  readonly telemetry?: boolean | TelemetrySettings;
}

export interface Host extends Closing {
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
  /** Null if no OpenTelemetry spans and metrics are made. */
  readonly telemetry: HostTelemetry | null;
  readonly agent: string;
  readonly engine: Engine;
  /** Files that nothing in the workspace may be read from or written to: the configuration and the ledger. */
  readonly guardedFiles: () => readonly string[];
}

/** Opens everything for one agent, as configured. If a part fails, the earlier parts are closed again. */
export function openHost(options: HostOptions): Promise<Host> {
  return openAll((keep) => openParts(options, keep));
}

/** Each part needs the earlier ones. */
async function openParts(options: HostOptions, keep: Keep): Promise<Omit<Host, "close">> {
  const { env, store, configFile, trust, typed, homeFolder, simulator } = options;
  const { agent = "agent", onNotice = () => {} } = options;

  const folder = resolve(options.workspace ?? ".");
  const config = await followConfig({
    workspace: folder,
    configFile,
    trust,
    env,
    homeFolder,
    typed,
    onNotice,
  });
  const catalogue = createLiveCatalogue(() => config.now());

  const place = readStore(env, store, config.now().ledger.store).value;
  const { leaseMs } = config.now().ledger;
  const onProblem = (problem: unknown): void => onNotice(messageOf(problem));
  const ledger = options.ledger ?? keep(await openLedger(place, { leaseMs, onProblem }));
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
  const telemetry = await followWithTelemetry(events, {
    config: config.now().telemetry,
    asked: options.telemetry,
    agentOf: (sessionId) => agents.get(sessionId) ?? agent,
    onNotice,
  });
  if (telemetry !== null) {
    keep(telemetry);
    countTelemetry(metrics.registry, telemetry);
  }

  const ledgerPaths = options.ledger === undefined ? ledgerFiles(place) : [];
  const guardedFiles = (): readonly string[] => [...config.files, ...ledgerPaths];
  const redact = followSecrets({ now: () => config.now(), env, store: place, onNotice });
  const mcp = keep(createMcpParts(() => config.now().mcp, env, onNotice));
  const shared = { config, catalogue, ledger, events, providers, counters };
  const engine = keep(
    openHostEngine(
      { ...shared, textCounter, workspace, mcp, guardedFiles, redact },
      {
        ...options,
        agent,
        usualModel: usual,
        onNotice,
        onSession: (id, of) => void agents.set(id, of),
      },
    ),
  );
  return {
    ...shared,
    config: () => config.now(),
    metrics,
    telemetry,
    agent,
    engine,
    workspace: path,
    isTemporary,
    isSimulated,
    guardedFiles,
  };
}

interface SweepOptions {
  readonly ledger: Pick<Ledger, "sweepEvents">;
  readonly config: FollowedConfig;
  readonly onNotice: (notice: string) => void;
}

/** Sweeps now and then once a day. The timer keeps no process alive; `close` waits for a running sweep. */
function sweepOldEvents({ ledger, config, onNotice }: SweepOptions): {
  close(): Promise<void>;
} {
  let sweeping: Promise<unknown> = Promise.resolve();
  const sweep = (): void => {
    const days = config.now().ledger.eventsKeptDays;
    if (days === null) return;
    sweeping = ledger.sweepEvents(Date.now() - days * dayMs).catch((problem: unknown) => {
      const why = messageOf(problem);
      onNotice(`old events were not swept: ${why}`);
    });
  };
  sweep();
  const timer = setInterval(sweep, dayMs).unref();
  return {
    close: async () => {
      clearInterval(timer);
      await sweeping;
    },
  };
}

const dayMs = 86_400_000;

interface HostMetricsOptions {
  readonly events: EventBus;
  readonly catalogue: Catalogue;
  readonly documents: WorkspaceCache;
  /** By session. Events name sessions, metrics name agents. */
  readonly agents: ReadonlyMap<string, string>;
  /** The agent of a session that is not in `agents`. */
  readonly agent: string;
}

function createHostMetrics(options: HostMetricsOptions): Metrics {
  const { events, catalogue, documents, agents, agent } = options;
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
