// Finds a model by any name that people use.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel, resolveModel } from "../../core/models/resolve-model.ts";
import { nameOf } from "../../core/session/session.ts";

export interface Naming {
  /** Resolves an alias; by default names stay as they are. */
  readonly nameModel?: (name: string) => string;
  readonly catalogue?: Catalogue;
}

/** The `Session.modelName` of a name: aliases are resolved, and all spellings of a model give the same result. */
export function spell(name: string, { nameModel, catalogue }: Naming): string {
  const given = nameModel?.(name) ?? name;
  const facts = findModel(given, catalogue)?.facts;
  if (facts === undefined) return given;
  const plain = nameOf(facts);
  return findModel(plain, catalogue)?.facts === facts ? plain : given;
}

/** Throws for an unknown name, with the nearest known names. */
export function findNamed(name: string, naming: Naming): ModelFacts {
  return resolveModel(spell(name, naming), naming.catalogue).facts;
}

/** Finds the model that a session was recorded with. */
export function findRecorded(
  { model, name }: { readonly model: string; readonly name?: string | undefined },
  { catalogue }: Naming,
): ModelFacts {
  const spelled = name === undefined ? null : findModel(name, catalogue);
  return (spelled ?? resolveModel(model, catalogue)).facts;
}
