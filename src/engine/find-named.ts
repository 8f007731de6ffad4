// A model by whatever name people give it.
import type { Catalogue } from "../core/models/catalogue.ts";
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
