// What an engine for one agent stands on, opened in order: configuration, ledger, events, providers, folder.
import { resolve } from "node:path";
import { resolveAgent } from "../core/config/resolve-agent.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { Catalogue } from "../core/models/catalogue.ts";
import { resolveModel } from "../core/models/resolve-model.ts";
import { StrataError } from "../core/strata-error.ts";
import { createEventBus, type EventBus } from "../edge/events/event-bus.ts";
import type { PlanBetas } from "../edge/providers/reach-betas.ts";
import { reachProviders, type Providers } from "../edge/providers/reach-providers.ts";
import { openLedger } from "../edge/stores/open-ledger.ts";
import {
  createWorkspaceCache,
  type WorkspaceCache,
} from "../edge/stores/workspace/workspace-cache.ts";
import { createLiveCatalogue } from "../engine/config-catalogue.ts";
import { toEngineConfig } from "../engine/from-config.ts";
import type { OpenEngineOptions } from "./open-engine.ts";
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
  readonly providers: Providers;
  readonly documents: WorkspaceCache;
  /** The agent's model where nobody chooses one. */
  readonly usual: string;
  /** Whether its model, as it is chosen now, is played by the simulator. */
  readonly isSimulated: () => boolean;
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
  const onProblem = (problem: Parameters<typeof describeBusProblem>[0]): void =>
    onNotice(describeBusProblem(problem));
  opened.push(
    keepSweeping({
      ledger,
      keptDays: () => config.now().ledger.eventsKeptDays,
      onProblem: (problem) => onNotice(`old events were not swept: ${messageOf(problem)}`),
    }),
  );
  const events = createEventBus({ store: ledger, onProblem });
  opened.push(events);
  const providers = reachProviders({
    providers: () => config.now().providers,
    catalogue,
    betas: () => toBetas(config.now()),
    onNotice,
    ...(options.simulator === undefined ? {} : { simulator: options.simulator }),
  });
  opened.push(providers);
  const usual = resolveAgent(config.now(), agent).model ?? usualModel(config.now().providers);
  const findSimulated = (): boolean => {
    const { model } = toEngineConfig(config.now(), agent, { model: usual });
    return providers.choose(resolveModel(model, catalogue).facts).kind === "simulated";
  };
  const place = await placeOf(options.workspace, findSimulated(), opened);
  const documents = openDocuments(config, opened);
  const isSimulated = (): boolean => unlessUnfit(findSimulated);
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

/** A change that leaves no model to reach is told when one is asked. */
function unlessUnfit(find: () => boolean): boolean {
  try {
    return find();
  } catch (error) {
    if (error instanceof StrataError) return false;
    throw error;
  }
}
