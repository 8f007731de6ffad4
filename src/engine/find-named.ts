// A model by whatever name people give it.
import { builtInCatalogue, type Catalogue } from "../core/models/catalogue.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { resolveModel } from "../core/models/resolve-model.ts";

export interface Naming {
  /** What a short name stands for; names are as they are by default. */
  readonly nameModel?: (name: string) => string;
  readonly catalogue?: Catalogue;
}

/** An unknown one is an error with the nearest known names. */
export function findNamed(name: string, { nameModel, catalogue }: Naming): ModelFacts {
  return resolveModel(nameModel?.(name) ?? name, catalogue).facts;
}

/** As a session was recorded with it. */
export function findRecorded(
  { model, route }: { readonly model: string; readonly route?: string | undefined },
  { catalogue = builtInCatalogue }: Naming,
): ModelFacts {
  const { facts } = resolveModel(model, catalogue);
  const isKnown = route !== undefined && catalogue.routesOf(facts.id).includes(route);
  return isKnown ? catalogue.factsOf(facts.id, { route }) : facts;
}
