// What an engine for one agent stands on, opened in order: configuration, ledger, events, providers, folder.
import { resolve } from "node:path";
import { modelOf, resolveAgent } from "../core/config/resolve-agent.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { Catalogue } from "../core/models/catalogue.ts";
import { resolveModel } from "../core/models/resolve-model.ts";
import { createEventBus, type EventBus } from "../edge/events/event-bus.ts";
import type { PlanBetas } from "../edge/providers/reach-betas.ts";
import { reachProviders } from "../edge/providers/reach-providers.ts";
import { openLedger } from "../edge/stores/open-ledger.ts";
import {
  createWorkspaceCache,
  type WorkspaceCache,
} from "../edge/files/workspace/workspace-cache.ts";
import { createLiveCatalogue } from "../engine/config-catalogue.ts";
import { toEngineConfig } from "../engine/from-config.ts";
import type { OpenEngineOptions } from "./open-engine.ts";
import { keepToSide, type SidedProviders } from "./open-engine-side.ts";
import {
  describeBusProblem,
  followConfig,
  makeWorkspace,
  usualModel,
  type FollowedConfig,
} from "./open-engine-parts.ts";
import { keepSweeping } from "./open-engine-sweep.ts";
import { readStore } from "./read-config.ts";

export interface EngineBase {
  readonly agent: string;
  readonly config: FollowedConfig;
  readonly catalogue: Catalogue;
  readonly ledger: Ledger;
  readonly events: EventBus;
  readonly providers: SidedProviders;
  readonly documents: WorkspaceCache;
  /** The agent's model where nobody chooses one. */
  readonly usual: string;
  /** Whether models are played by the simulator, all of them or none. */
  readonly isSimulated: boolean;
  readonly workspace: string;
  /** Whether the folder was made for it, and goes with it. */
  readonly isTemporary: boolean;
}

export interface Closing {
  close(): Promise<void> | void;
}

/** What is opened is added to `opened` at once, whatever fails later. */
export async function openBase(options: OpenEngineOptions, opened: Closing[]): Promise<EngineBase> {
  const { agent = "agent", env, configFile, typed, homeFolder, onNotice = () => {} } = options;
  const workspace = resolve(options.workspace ?? process.cwd());
  const where = { workspace, configFile, env, homeFolder, typed, onNotice };
  const config = await followConfig(where);
  const catalogue = createLiveCatalogue(() => config.now());
  const ledger = options.ledger ?? (await openOwnLedger(options, config.now(), opened));
  const onProblem = (problem: Parameters<typeof describeBusProblem>[0]): void => {
    const text = describeBusProblem(problem);
    if (text !== null) onNotice(text);
  };
  opened.push(
    keepSweeping({
      ledger,
      keptDays: () => config.now().ledger.eventsKeptDays,
      onProblem: (problem) => onNotice(`old events were not swept: ${messageOf(problem)}`),
    }),
  );
  const events = createEventBus({ store: ledger, onProblem });
  opened.push(events);
  const all = reachProviders({
    providers: () => config.now().providers,
    catalogue,
    betas: () => toBetas(config.now()),
    onNotice,
    ...(options.simulator === undefined ? {} : { simulator: options.simulator }),
  });
  opened.push(all);
  const usual = resolveAgent(config.now(), agent).model ?? usualModel(config.now().providers);
  const chosen = options.model === undefined ? null : modelOf(config.now(), options.model);
  const model = chosen ?? toEngineConfig(config.now(), agent, { model: usual }).model;
  const isSimulated = all.choose(resolveModel(model, catalogue).facts).kind === "simulated";
  const providers = keepToSide(all, isSimulated);
  const place = await placeOf(options.workspace, isSimulated, opened);
  const documents = openDocuments(config, opened);
  const about = { agent, config, catalogue, usual, isSimulated };
  return { ...about, ledger, events, providers, documents, ...place };
}

async function openOwnLedger(
  { env, store, onNotice }: OpenEngineOptions,
  { ledger: { store: configured, leaseMs } }: StrataConfig,
  opened: Closing[],
): Promise<Ledger> {
  const { value } = readStore(env, store, configured);
  const onProblem = (problem: unknown): void => onNotice?.(messageOf(problem));
  const ledger = await openLedger(value, { leaseMs, onProblem });
  opened.push(ledger);
  return ledger;
}

function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

function toBetas({ promptCache }: StrataConfig): PlanBetas {
  return { any: promptCache.betas, long: promptCache.longTtlBetas };
}

async function placeOf(
  given: string | undefined,
  isSimulated: boolean,
  opened: Closing[],
): Promise<Pick<EngineBase, "workspace" | "isTemporary">> {
  if (given !== undefined || !isSimulated) {
    return { workspace: resolve(given ?? process.cwd()), isTemporary: false };
  }
  const { path, remove } = await makeWorkspace();
  opened.push({ close: remove });
  return { workspace: path, isTemporary: true };
}

function openDocuments(config: FollowedConfig, opened: Closing[]): WorkspaceCache {
  const documents = createWorkspaceCache({ times: () => config.now().workspaceCache });
  opened.push(documents);
  return documents;
}
