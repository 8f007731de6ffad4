// Everything we know about one model on one route, and how it is read from a file.
import { parseCacheRules, type CacheRules } from "./cache-rules.ts";
import { parseCapabilities, type Capabilities } from "./capabilities.ts";
import { onlyWritesOf, parsePrices, timesPrices, type Prices } from "./prices.ts";
import * as read from "./read-fields.ts";
import type { Fields } from "../message/fields.ts";
import type { WireRules } from "./wire-rules.ts";

export interface ModelFacts {
  readonly id: string;
  readonly provider: string;
  /** Rules, minimum and prices differ between routes. */
  readonly route: string;
  readonly aliases: readonly string[];
  readonly windowTokens: number;
  /** Equals the window if the provider sets no separate limit on the prompt. */
  readonly inputTokensMax: number;
  readonly outputTokensMax: number | null;
  readonly lifecycle: Lifecycle;
  readonly tokenizer: Tokenizer;
  readonly capabilities: Capabilities;
  readonly imageMediaTypes: readonly string[];
  /** Tokens the provider adds to a prompt with tools, for free and for forced choice. */
  readonly toolPromptTokens: { readonly auto: number; readonly forced: number } | null;
  readonly prices: Prices;
  readonly cache: CacheRules;
  /** What servers of this route take. Only Chat Completions asks for it. */
  readonly wire: WireRules;
  readonly source: string;
  readonly checkedOn: string;
  /** Doubts and conflicts between sources. */
  readonly notes: readonly string[];
}

export interface Lifecycle {
  readonly status: "active" | "legacy" | "retired";
  readonly releasedOn: string | null;
  readonly retiresOn: string | null;
}

/**
 * Models of one generation split text alike. `claude-new` is Opus 4.7 and later, `claude-old` is
 * everything before; `other` is for tokenizers we know nothing about.
 */
export type Tokenizer = (typeof tokenizers)[number];

export const tokenizers = ["claude-old", "claude-new", "o200k", "cl100k", "other"] as const;
const statuses = ["active", "legacy", "retired"] as const;

/** Where a model's fields stand, and what its file and route add. */
export interface ModelOrigin {
  readonly id: string;
  readonly provider: string;
  readonly route: string;
  readonly routeNote: string | null;
  /** Why the route's prices differ from those of the model's own provider. */
  readonly unpriced: string | null;
  /** The cache rules the model refers to, with the route's changes. */
  readonly cache: Fields;
  /** Multiplies the prices of models that cost more in a region. */
  readonly priceMultiplier: number;
  readonly wire: WireRules;
  /** Whether the larger window was requested and the model has one. */
  readonly longWindow: boolean;
  /** Where a user changed our facts. */
  readonly changedIn: string | null;
  readonly place: string;
}

/** Reads the merged fields of one model. */
export function parseModel(value: Fields, origin: ModelOrigin): ModelFacts {
  const { place } = origin;
  const model = read.fields(value, place, knownFields);
  const count = (key: string): number | null =>
    read.optional(model[key], `${place}.${key}`, read.count);
  const capabilities = parseCapabilities(model["can"], `${place}.can`);
  const costsMoreInRegions = read.flag(
    model["costsMoreInRegions"] ?? true,
    `${place}.costsMoreInRegions`,
  );
  const prices: Prices =
    origin.unpriced === null
      ? timesPrices(
          parsePrices(model, place),
          costsMoreInRegions ? origin.priceMultiplier : 1,
          place,
        )
      : { kind: "unpriced", reason: origin.unpriced };
  const cache = parseCacheRules(origin.cache, { can: capabilities, prices }, `${place}.cache`);
  const windowTokens =
    (origin.longWindow ? count("longWindow") : null) ??
    read.count(model["window"], `${place}.window`);
  const note = read.optional(model["note"], `${place}.note`, read.text);
  const source = read.text(model["source"], `${place}.source`);
  return {
    id: origin.id,
    provider: origin.provider,
    route: origin.route,
    aliases: read.list(model["aliases"] ?? [], `${place}.aliases`, read.text),
    windowTokens,
    inputTokensMax: count("maxInput") ?? windowTokens,
    outputTokensMax: count("maxOutput"),
    lifecycle: {
      status: read.oneOf(model["status"], statuses, `${place}.status`),
      releasedOn: read.optional(model["releasedOn"], `${place}.releasedOn`, read.day),
      retiresOn: read.optional(model["retiresOn"], `${place}.retiresOn`, read.day),
    },
    tokenizer: read.oneOf(model["tokenizer"], tokenizers, `${place}.tokenizer`),
    capabilities,
    imageMediaTypes: read.list(
      model["imageMediaTypes"] ?? [],
      `${place}.imageMediaTypes`,
      read.text,
    ),
    toolPromptTokens: read.optional(model["toolPrompt"], `${place}.toolPrompt`, parseToolPrompt),
    prices: onlyWritesOf(prices, cache.lifetimes),
    cache,
    wire: origin.wire,
    source: origin.changedIn === null ? source : `${source}; changed in ${origin.changedIn}`,
    checkedOn: read.day(model["checkedOn"], `${place}.checkedOn`),
    notes: [note, cache.note, origin.routeNote].filter((each) => each !== null),
  };
}

const knownFields = [
  "use",
  "provider",
  "aliases",
  "window",
  "longWindow",
  "maxInput",
  "maxOutput",
  "status",
  "releasedOn",
  "retiresOn",
  "tokenizer",
  "can",
  "imageMediaTypes",
  "toolPrompt",
  "prices",
  "tiers",
  "unpriced",
  "costsMoreInRegions",
  "cache",
  "source",
  "checkedOn",
  "note",
];

function parseToolPrompt(value: unknown, place: string): { auto: number; forced: number } {
  const tokens = read.fields(value, place, ["auto", "forced"]);
  return {
    auto: read.count(tokens["auto"], `${place}.auto`),
    forced: read.count(tokens["forced"], `${place}.forced`),
  };
}
