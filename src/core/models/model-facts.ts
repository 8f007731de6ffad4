// Everything we know about one model on one route, and how it is read from a file.
import { parseCacheRules, type CacheRules } from "./cache-rules.ts";
import { parseCapabilities, type Capabilities } from "./capabilities.ts";
import { onlyWritesOf, parsePrices, timesPrices, type Prices } from "./prices.ts";
import * as read from "./read-fields.ts";
import { parseServiceTiers, type ServiceTiers } from "./service-tiers.ts";
import type { Fields } from "../message/fields.ts";
import type { WireRules } from "./wire-rules.ts";

export interface ModelFacts {
  readonly id: string;
  /** The name in requests on this route, if it is not the id. */
  readonly sentAs?: string;
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
  /** What other services than the usual one cost; empty if none is known. */
  readonly serviceTiers: ServiceTiers;
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
  readonly sentAs: string | null;
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
  const model = read.shape(value, place, modelFields);
  const multiplier = model.costsMoreInRegions ? origin.priceMultiplier : 1;
  const prices: Prices =
    origin.unpriced === null
      ? timesPrices(parsePrices(value, place), multiplier, place)
      : { kind: "unpriced", reason: origin.unpriced };
  const cache = parseCacheRules(origin.cache, { can: model.can, prices }, `${place}.cache`);
  const windowTokens =
    (origin.longWindow ? model.longWindow : null) ?? read.count(model.window, `${place}.window`);
  const { changedIn } = origin;
  return {
    id: origin.id,
    ...(origin.sentAs === null ? {} : { sentAs: origin.sentAs }),
    provider: origin.provider,
    route: origin.route,
    aliases: model.aliases,
    windowTokens,
    inputTokensMax: model.maxInput ?? windowTokens,
    outputTokensMax: model.maxOutput,
    lifecycle: {
      status: model.status,
      releasedOn: model.releasedOn,
      retiresOn: model.retiresOn,
    },
    tokenizer: model.tokenizer,
    capabilities: model.can,
    imageMediaTypes: model.imageMediaTypes,
    toolPromptTokens: model.toolPrompt,
    prices: onlyWritesOf(prices, cache.lifetimes),
    serviceTiers: model.serviceTiers,
    cache,
    wire: origin.wire,
    source: changedIn === null ? model.source : `${model.source}; changed in ${changedIn}`,
    checkedOn: model.checkedOn,
    notes: [model.note, cache.note, origin.routeNote].filter((each) => each !== null),
  };
}

const modelFields = {
  use: read.anything,
  provider: read.anything,
  aliases: read.orElse([], read.listOf(read.text)),
  window: read.anything,
  longWindow: read.nullable(read.count),
  maxInput: read.nullable(read.count),
  maxOutput: read.nullable(read.count),
  status: read.choice(statuses),
  releasedOn: read.nullable(read.day),
  retiresOn: read.nullable(read.day),
  tokenizer: read.choice(tokenizers),
  can: parseCapabilities,
  imageMediaTypes: read.orElse([], read.listOf(read.text)),
  toolPrompt: read.nullable(parseToolPrompt),
  prices: read.anything,
  tiers: read.anything,
  serviceTiers: read.orElse({}, parseServiceTiers),
  unpriced: read.anything,
  costsMoreInRegions: read.orElse(true, read.flag),
  cache: read.anything,
  source: read.text,
  checkedOn: read.day,
  note: read.nullable(read.text),
};

function parseToolPrompt(value: unknown, place: string): { auto: number; forced: number } {
  return read.shape(value, place, { auto: read.count, forced: read.count });
}
