// prompt_cache_options: who sets breakpoints, their lifetime, and whether to generate a reply.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import { unknownParameter, unsupportedParameter } from "../api-error.ts";
import { fields, find, pathOf, type Place } from "./fields.ts";
import type { Item, Part } from "./items.ts";

export interface CacheOptions {
  readonly mode: "implicit" | "explicit";
  readonly lifetime: "30m" | "12h";
  readonly prewarm: boolean;
  /** Asks for diagnostics against this response. */
  readonly comparisonId: string | null;
}

const defaults: CacheOptions = {
  mode: "implicit",
  lifetime: "30m",
  prewarm: false,
  comparisonId: null,
};

export function readCacheOptions(
  body: Place,
  endpoint: "chat" | "responses" | "compact",
  facts: ModelFacts,
): CacheOptions {
  const options = fields.findPlace(body, "prompt_cache_options");
  if (options === null) return defaults;
  if (facts.cache.markers === null) throw unsupportedParameter(options.path);
  const isCreate = endpoint === "responses";
  for (const key of isCreate ? [] : ["prewarm", "comparison_response_id"]) {
    if (find(options, key) !== null) throw unknownParameter(pathOf(options, key));
  }
  return {
    mode: fields.findOneOf(options, "mode", ["implicit", "explicit"]) ?? defaults.mode,
    lifetime:
      fields.findOneOf(options, "ttl", isCreate ? ["30m", "12h"] : ["30m"]) ?? defaults.lifetime,
    prewarm: fields.findFlag(options, "prewarm") ?? false,
    comparisonId: fields.findText(options, "comparison_response_id"),
  };
}

/** Models without breakpoints refuse them. The wording is unverified. */
export function checkMarkers(items: readonly Item[], facts: ModelFacts): void {
  if (facts.cache.markers !== null) return;
  const marked = items.flatMap(partsOf).find(({ marker }) => marker !== null)?.marker;
  if (marked !== null && marked !== undefined) throw unsupportedParameter(marked.path);
}

function partsOf(item: Item): readonly Part[] {
  return item.kind === "message" || item.kind === "tool output" ? item.parts : [];
}
