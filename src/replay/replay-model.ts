// Chooses the model whose rules and prices a recorded request is replayed with.
import { builtInCatalogue, type Catalogue } from "../core/models/catalogue.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { findModel, resolveModel } from "../core/models/resolve-model.ts";
import type { RecordedRequest, RecordedSession } from "./recording.ts";

/** Used if a recording names no model, or one without a price. */
export const standInModel = "claude-sonnet-4-6";

export interface ReplayModel {
  readonly facts: ModelFacts;
  /** The recorded model that `facts` replaces, or "no model"; null if nothing is replaced. */
  readonly standsInFor: string | null;
}

/** Looks up each recorded name once. */
export function createModelLookup(
  asked: string | null,
  catalogue: Catalogue = builtInCatalogue,
): (session: RecordedSession, request: RecordedRequest) => ReplayModel {
  const known = new Map<string, ReplayModel>();
  return ({ blocks }, { model }) => {
    const name = `${blocks} ${model ?? ""}`;
    const found = known.get(name) ?? withBlocks(lookUp(asked, model, catalogue), blocks);
    known.set(name, found);
    return found;
  };
}

function lookUp(asked: string | null, recorded: string | null, catalogue: Catalogue): ReplayModel {
  if (asked !== null) {
    const { facts } = resolveModel(asked, catalogue);
    return { facts, standsInFor: recorded === facts.id ? null : (recorded ?? "no model") };
  }
  const found = recorded === null ? null : findModel(recorded, catalogue);
  if (found !== null && found.facts.prices.kind === "priced") {
    return { facts: found.facts, standsInFor: null };
  }
  return { facts: resolveModel(standInModel).facts, standsInFor: recorded ?? "no model" };
}

/** Pieces of one size do not show the provider's blocks, so every piece can be marked, without minimum or lookback limit. */
function withBlocks(model: ReplayModel, blocks: RecordedSession["blocks"]): ReplayModel {
  const { cache } = model.facts;
  if (blocks !== "hashed pieces" || cache.markers === null) return model;
  const lookback = { kind: "positions", positions: Infinity, counting: "every block" } as const;
  const markers = { ...cache.markers, lookback };
  return { ...model, facts: { ...model.facts, cache: { ...cache, markers, minimumTokens: 0 } } };
}
