// The configured providers of a host, real or simulated. The two never mix.
import type { StrataConfig } from "../../core/config/schema.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { PlanBetas } from "../../edge/providers/reach-calls.ts";
import {
  reachProviders,
  type Providers,
  type ReachedModel,
} from "../../edge/providers/reach-providers.ts";
import type { SimulatorOptions } from "../../simulator/index.ts";
import { isSimulatedModel } from "../config/choose-model.ts";
import type { FollowedConfig } from "../config/follow-config.ts";

export interface ProvidersOptions {
  readonly config: FollowedConfig;
  readonly catalogue: Catalogue;
  /** Name or alias. Decides whether all models here are real or simulated. */
  readonly firstModel: string;
  readonly onNotice: (notice: string) => void;
  readonly simulator: SimulatorOptions | undefined;
}

export interface HostProviders extends Providers {
  /** Whether the simulator plays the models: all of them or none. */
  readonly isSimulated: boolean;
  /** False for a model of the other kind, and for one whose provider is not configured. */
  canReach(model: ModelFacts): boolean;
}

export function openProviders(options: ProvidersOptions): HostProviders {
  const { config, catalogue, firstModel, onNotice, simulator } = options;
  const isSimulated = isSimulatedModel(config.now(), firstModel);
  const all = reachProviders({
    providers: () => config.now().providers,
    catalogue,
    betas: () => toBetas(config.now()),
    onNotice,
    ...(simulator === undefined ? {} : { simulator }),
  });
  return keepApart(all, isSimulated);
}

export function toBetas({ promptCache }: StrataConfig): PlanBetas {
  return { any: promptCache.betas, long: promptCache.longTtlBetas };
}

/**
 * A model stays real or simulated after its first use, even if a file changes its provider meanwhile.
 * Otherwise a simulated model would get the tools and the folder of a real one, and its dollars would be booked as money.
 */
function keepApart(providers: Providers, isSimulated: boolean): HostProviders {
  const reached = new Map<string, ReachedModel>();
  const isSameKind = (model: ModelFacts): boolean =>
    (providers.choose(model).kind === "simulated") === isSimulated;
  return {
    ...providers,
    isSimulated,
    canReach: (model) => falseIfRefused(() => isSameKind(model) || reached.has(keyOf(model))),
    reach: async (model) => {
      if (!isSameKind(model)) return reached.get(keyOf(model)) ?? refuse(model, isSimulated);
      const found = await providers.reach(model);
      reached.set(keyOf(model), found);
      return found;
    },
  };
}

function keyOf({ id, provider, route }: ModelFacts): string {
  return JSON.stringify([id, provider, route]);
}

/** The lookup throws for a model whose provider is missing while others are configured. */
function falseIfRefused(find: () => boolean): boolean {
  try {
    return find();
  } catch (error) {
    if (error instanceof StrataError) return false;
    throw error;
  }
}

function refuse({ id }: ModelFacts, isSimulated: boolean): never {
  throw new StrataError(
    "input-invalid",
    isSimulated
      ? `${id} is real, but this host runs simulated models`
      : `${id} would be simulated, and what runs here is real`,
    "the two do not mix: begin a session of its own with it",
  );
}
