// A model by whatever name people give it.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel, resolveModel } from "../../core/models/resolve-model.ts";
import { nameOf } from "../../core/session/session.ts";

export interface Naming {
  /** What a short name stands for; names are as they are by default. */
  readonly nameModel?: (name: string) => string;
  readonly catalogue?: Catalogue;
}

/** As `Session.modelName`: what a short name stands for right now, the same for all spellings of the same. */
export function spell(name: string, { nameModel, catalogue }: Naming): string {
  const given = nameModel?.(name) ?? name;
  const facts = findModel(given, catalogue)?.facts;
  if (facts === undefined) return given;
  const plain = nameOf(facts);
  return findModel(plain, catalogue)?.facts === facts ? plain : given;
}

/** An unknown one is an error with the nearest known names. */
export function findNamed(name: string, naming: Naming): ModelFacts {
  return resolveModel(spell(name, naming), naming.catalogue).facts;
}

/** As a session was recorded with it. */
export function findRecorded(
  { model, name }: { readonly model: string; readonly name?: string | undefined },
  { catalogue }: Naming,
): ModelFacts {
  const spelled = name === undefined ? null : findModel(name, catalogue);
  return (spelled ?? resolveModel(model, catalogue)).facts;
}
