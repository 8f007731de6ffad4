// Model facts: as configured, and with the cache lifetimes that the configuration allows.
import { toCatalogueChanges } from "../../core/config/check-whole.ts";
import { describeProblem, hasErrors } from "../../core/config/config-problem.ts";
import type { Environment } from "../../core/config/environment.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import {
  builtInCatalogue,
  createCatalogue,
  type Catalogue,
  type CatalogueChanges,
} from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { onlyWritesOf } from "../../core/models/prices.ts";
import { findVendor } from "../../core/wire/protocols.ts";
import { perSource } from "../../engine/world/per-source.ts";
import { loadConfig } from "../../edge/config/load-config.ts";
import { findConfigPlaces } from "./read-config-once.ts";

/** A catalogue that always answers from the current configuration. */
export function createLiveCatalogue(config: () => StrataConfig): Catalogue {
  const now = perSource(config, toCatalogue);
  return {
    get ids() {
      return now().ids;
    },
    get names() {
      return now().names;
    },
    get vendors() {
      return now().vendors;
    },
    get routes() {
      return now().routes;
    },
    routesOf: (id) => now().routesOf(id),
    factsOf: (id, choice) => now().factsOf(id, choice),
    openFactsOf: (id) => now().openFactsOf(id),
  };
}

export function toCatalogue(config: StrataConfig): Catalogue {
  const catalogue = atConfiguredPlaces(withConfiguredModels(config), config);
  const { longTtlProviders } = config.promptCache;
  // The same facts give the same object, so that callers may keep and compare it.
  const limited = new Map<ModelFacts, ModelFacts>();
  return {
    ...catalogue,
    factsOf: (id, choice) => {
      const facts = catalogue.factsOf(id, choice);
      const { provider, route } = facts;
      if (longTtlProviders.includes(provider) || longTtlProviders.includes(route)) return facts;
      const short = limited.get(facts) ?? withShortestLifetime(facts);
      limited.set(facts, short);
      return short;
    },
  };
}

/** Where a route's address has a location, requests go there and are billed there, also for a name with another location. */
export function atConfiguredPlaces(
  catalogue: Catalogue,
  { providers }: Pick<StrataConfig, "providers">,
): Catalogue {
  return {
    ...catalogue,
    factsOf: (id, choice = {}) => {
      const route = choice.route ?? catalogue.routesOf(id)[0] ?? "";
      const place = findVendor(route)?.listed?.hosts?.place ?? "";
      const location = providers.get(route)?.places.get(place);
      if (location === undefined) return catalogue.factsOf(id, choice);
      const endpoint = catalogue.routes.get(route)?.regions.get(location) ?? "regional";
      return catalogue.factsOf(id, { ...choice, endpoint });
    },
  };
}

function withShortestLifetime(facts: ModelFacts): ModelFacts {
  const { cache, prices } = facts;
  if (cache.lifetimes.length < 2) return facts;
  const lifetimes = cache.lifetimes.slice(0, 1);
  return { ...facts, cache: { ...cache, lifetimes }, prices: onlyWritesOf(prices, lifetimes) };
}

function withConfiguredModels(config: StrataConfig): Catalogue {
  return withChanges(toCatalogueChanges(config));
}

export function withChanges(changes: CatalogueChanges | null): Catalogue {
  return changes === null ? builtInCatalogue : createCatalogue(changes);
}

/** The configured models at their full prices, so that savings are priced as costs were. */
export async function readConfiguredCatalogue(
  env: Environment,
  onProblem: (problem: string) => void,
): Promise<Catalogue> {
  return withChanges(await readConfiguredChanges(env, onProblem));
}

/**
 * What is configured besides the built-in models; null for nothing. A broken configuration is reported to `onProblem`, and
 * then read again without the files of the workspace.
 */
export async function readConfiguredChanges(
  env: Environment,
  onProblem: (problem: string) => void,
): Promise<CatalogueChanges | null> {
  const files = findConfigPlaces({ env });
  const { config, problems } = await loadConfig({ files, env });
  if (config !== null) return toCatalogueChanges(config);
  const problem = problems.find((each) => hasErrors([each]));
  const why = problem === undefined ? "" : `: ${describeProblem(problem)}`;
  onProblem(`prices that are configured here are not used${why}`);
  const own = await loadConfig({ files: files.filter(({ isFound }) => !isFound), env });
  return own.config === null ? null : toCatalogueChanges(own.config);
}
