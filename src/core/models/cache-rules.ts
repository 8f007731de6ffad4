// A provider's caching as declared properties. Shared code asks for a property, never for a provider's name.
import { lifetimes, secondsOf, type Lifetime } from "../message/usage.ts";
import type { Capabilities } from "./capabilities.ts";
import { parseInvalidation, type InvalidationRule } from "./invalidation.ts";
import { parseMarkers, type MarkerRules } from "./marker-rules.ts";
import type { Prices, Rates } from "./prices.ts";
import * as read from "./read-fields.ts";
import { parseStored, type StoredRules } from "./stored-rules.ts";

export interface CacheRules {
  /** Who decides what is kept: the client by markers, the provider, both, or neither. */
  readonly marking: "explicit" | "automatic" | "both" | "none";
  /** What a client may mark. Null if the provider takes no markers. */
  readonly markers: MarkerRules | null;
  /** What the provider keeps without being asked. Null if nothing. */
  readonly automatic: AutomaticRules | null;
  /** What a client may have kept under a name. Null if nothing. */
  readonly stored: StoredRules | null;
  /** The provider silently does not keep a shorter prefix. Null if it publishes no minimum. */
  readonly minimumTokens: number | null;
  /** The newest read price as a share of the input price. Null if there is none. */
  readonly readMultiplier: number | null;
  /** Shortest first. Empty if the provider names none. */
  readonly lifetimes: readonly LifetimeRules[];
  /** The start of a lifetime. */
  readonly clock: (typeof clocks)[number];
  /** Whether a read restarts the lifetime free of charge. Null if unpublished. */
  readonly refreshedByRead: boolean | null;
  /** When another request can first read what this one writes. */
  readonly readableWhen: (typeof readableWhens)[number];
  /** Who shares what was written. */
  readonly isolation: (typeof isolations)[number];
  /** How to write without generating. Null if there is no way. */
  readonly prewarm: string | null;
  /** Whether replies can explain a cache miss. */
  readonly diagnostics: boolean;
  readonly invalidation: readonly InvalidationRule[];
  readonly note: string | null;
}

export interface AutomaticRules {
  readonly boundary: (typeof boundaries)[number];
  /** Prefixes are kept in multiples of this. Null if the boundary is exact or unpublished. */
  readonly stepTokens: number | null;
  /** Reads are reported in multiples of this. Null if they are exact. */
  readonly reportedInSteps: number | null;
  /** Whether it uses one of the request's markers. */
  readonly takesMarkerSlot: boolean;
  /** Whether a repeated prefix may still miss. */
  readonly bestEffort: boolean;
  readonly keptSecondsMin: number | null;
  readonly keptSecondsMax: number | null;
}

export interface LifetimeRules {
  readonly lifetime: Lifetime;
  readonly seconds: number;
  /** The newest write price as a share of the input price. 1 if writing costs nothing extra, null if unpublished. */
  readonly writeMultiplier: number | null;
}

const clocks = ["request start", "unpublished"] as const;
const readableWhens = [
  "the first response begins",
  "the response is complete",
  "unpublished",
] as const;
const isolations = [
  "workspace",
  "organization",
  "organization and region",
  "project",
  "subscription",
  "account",
  "unpublished",
] as const;
const boundaries = [
  "end of the latest eligible message",
  "every step",
  "ends of messages",
  "prefix units",
  "unpublished",
] as const;

/** Whether the provider, by itself, keeps a prefix only where the whole input of a call ended. */
export function keepsOnlyInputs({
  markers,
  automatic,
}: Pick<CacheRules, "markers" | "automatic">): boolean {
  return markers === null && automatic?.boundary === "prefix units";
}

/** Reads a file's rules for a model with these capabilities and prices. */
export function parseCacheRules(
  value: unknown,
  { can, prices }: { readonly can: Capabilities; readonly prices: Prices },
  place: string,
): CacheRules {
  const {
    rules: _,
    minimum,
    ...rules
  } = read.shape(value, place, {
    rules: read.anything,
    minimum: read.nullable(read.count),
    markers: read.nullable(parseMarkers),
    automatic: read.nullable(parseAutomatic),
    stored: read.nullable(parseStored),
    lifetimes: read.orElse({}, (offered, at) => parseLifetimes(offered, prices, at)),
    clock: read.orElse("unpublished", read.choice(clocks)),
    refreshedByRead: read.nullable(read.flag),
    readableWhen: read.orElse("unpublished", read.choice(readableWhens)),
    isolation: read.orElse("unpublished", read.choice(isolations)),
    prewarm: read.nullable(read.text),
    diagnostics: read.orElse(false, read.flag),
    invalidation: read.orElse([], (list, at) => parseInvalidation(list, can, at)),
    note: read.nullable(read.text),
  });
  return {
    ...rules,
    marking: markingOf(rules.markers !== null, rules.automatic !== null),
    minimumTokens: minimum,
    readMultiplier: readMultiplierOf(prices),
  };
}

function readMultiplierOf(prices: Prices): number | null {
  const rates = newestRates(prices);
  return rates === null || rates.readPicoUsd === null
    ? null
    : shareOfInput(rates.readPicoUsd, rates);
}

function writeMultiplierOf(prices: Prices, lifetime: Lifetime): number | null {
  const rates = newestRates(prices);
  if (rates === null) return null;
  const write = rates.writePicoUsd[lifetime];
  if (write === undefined) return 1;
  return write === null ? null : shareOfInput(write, rates);
}

function newestRates(prices: Prices): Rates | null {
  return prices.kind === "priced" ? (prices.rows.at(-1)?.rates ?? null) : null;
}

/** Null if input is free: a share of nothing has no meaning. */
function shareOfInput(pico: bigint, { inputPicoUsd }: Rates): number | null {
  return inputPicoUsd === 0n ? null : Number(pico) / Number(inputPicoUsd);
}

function markingOf(explicit: boolean, automatic: boolean): CacheRules["marking"] {
  if (explicit) return automatic ? "both" : "explicit";
  return automatic ? "automatic" : "none";
}

function parseAutomatic(value: unknown, place: string): AutomaticRules {
  return read.shape(value, place, {
    boundary: read.choice(boundaries),
    stepTokens: read.nullable(read.count),
    reportedInSteps: read.nullable(read.count),
    takesMarkerSlot: read.orElse(false, read.flag),
    bestEffort: read.flag,
    keptSecondsMin: read.nullable(read.count),
    keptSecondsMax: read.nullable(read.count),
  });
}

/** Each lifetime is offered or not, so that a route can remove one. */
function parseLifetimes(value: unknown, prices: Prices, place: string): readonly LifetimeRules[] {
  const offered = read.fields(value, place, lifetimes);
  return lifetimes
    .filter((lifetime) => read.flag(offered[lifetime] ?? false, `${place}.${lifetime}`))
    .map((lifetime) => ({
      lifetime,
      seconds: secondsOf[lifetime],
      writeMultiplier: writeMultiplierOf(prices, lifetime),
    }));
}
