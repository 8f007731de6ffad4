// The models that a key may call: two spellings of one model are the same, and a name we do not know is only itself.
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { factsOf } from "../observe/rewriting.ts";

export interface ModelList {
  allows(model: string, upstream: string): boolean;
}

/** An empty list allows all. */
export function createModelList(names: readonly string[], catalogue: Catalogue): ModelList {
  const spellings = new Set(names.map((name) => name.toLowerCase()));
  const ids = new Set(names.flatMap((name) => findModel(name, catalogue)?.facts.id ?? []));
  return {
    allows: (model, upstream) => {
      if (names.length === 0 || spellings.has(model.toLowerCase())) return true;
      const facts = factsOf(model, upstream, catalogue);
      return facts !== null && ids.has(facts.id);
    },
  };
}
