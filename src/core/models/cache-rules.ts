// How a provider caches, as declared properties: shared code asks for one of these, never for a provider's name.
import { lifetimes, type Lifetime } from "../message/usage.ts";
import type { Capabilities } from "./capabilities.ts";
import { parseInvalidation, type InvalidationRule } from "./invalidation.ts";
import { parseMarkers, type MarkerRules } from "./marker-rules.ts";
import type { Prices } from "./prices.ts";
import {
  readBoolean,
  readCount,
  readFields,
  readMultiplier,
  readOneOf,
  readOptional,
  readText,
} from "./read-fields.ts";

export interface CacheRules {
  /** Who decides what is kept: the client by markers, the provider by itself, both, or nobody. */
  readonly marking: "explicit" | "automatic" | "both" | "none";
  /** What a client may mark; null where markers are not taken. */
  readonly markers: MarkerRules | null;
  /** What the provider keeps unasked; null where nothing is. */
  readonly automatic: AutomaticRules | null;
  /** A shorter prefix is silently not kept; null where none is published. */
  readonly minimumTokens: number | null;
  /** A read's share of the input price, of the newest price; null where there is none. */
  readonly readMultiplier: number | null;
  /** Shortest first; empty where the provider names none. */
  readonly lifetimes: readonly LifetimeRules[];
  /** What a lifetime is counted from. */
  readonly clock: (typeof clocks)[number];
  /** Whether a read starts the lifetime anew, free of charge. */
  readonly refreshedByRead: boolean;
  /** From when on another request can read what this one writes. */
  readonly readableWhen: (typeof readableWhens)[number];
  /** Who shares what was written. */
  readonly isolation: (typeof isolations)[number];
  /** How to write without generating; null where there is no way. */
  readonly prewarm: string | null;
  /** Whether replies can say why the cache missed. */
  readonly diagnostics: boolean;
  readonly invalidation: readonly InvalidationRule[];
  readonly note: string | null;
}

export interface AutomaticRules {
  readonly boundary: (typeof boundaries)[number];
  /** Prefixes are kept in multiples of this; null where the boundary is exact or unpublished. */
  readonly stepTokens: number | null;
  /** Reads are reported in multiples of this; null where they are exact. */
  readonly reportedInSteps: number | null;
  /** Whether it uses up one of the request's markers. */
  readonly takesMarkerSlot: boolean;
  /** Whether a repeated prefix may still miss. */
  readonly bestEffort: boolean;
  readonly keptSecondsMin: number | null;
  readonly keptSecondsMax: number | null;
}

export interface LifetimeRules {
  readonly lifetime: Lifetime;
  readonly seconds: number;
  /** On the input price; 1 where writing costs nothing extra, null where it is not published. */
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

/** Rules as a file names them, for a model that can do this and that at these prices. */
export function parseCacheRules(
  value: unknown,
  { can, prices }: { readonly can: Capabilities; readonly prices: Prices },
  place: string,
): CacheRules {
  const rules = readFields(value, place, knownFields);
  const markers = readOptional(rules["markers"], `${place}.markers`, parseMarkers);
  const automatic = readOptional(rules["automatic"], `${place}.automatic`, parseAutomatic);
  return {
    marking: markingOf(markers !== null, automatic !== null),
    markers,
    automatic,
    minimumTokens: readOptional(rules["minimum"], `${place}.minimum`, readCount),
    readMultiplier: readMultiplierOf(prices),
    lifetimes: readOptional(rules["lifetimes"], `${place}.lifetimes`, parseLifetimes) ?? [],
    clock: readOneOf(rules["clock"] ?? "unpublished", clocks, `${place}.clock`),
    refreshedByRead: readBoolean(rules["refreshedByRead"] ?? false, `${place}.refreshedByRead`),
    readableWhen: readOneOf(
      rules["readableWhen"] ?? "unpublished",
      readableWhens,
      `${place}.readableWhen`,
    ),
    isolation: readOneOf(rules["isolation"] ?? "unpublished", isolations, `${place}.isolation`),
    prewarm: readOptional(rules["prewarm"], `${place}.prewarm`, readText),
    diagnostics: readBoolean(rules["diagnostics"] ?? false, `${place}.diagnostics`),
    invalidation: parseInvalidation(rules["invalidation"] ?? [], can, `${place}.invalidation`),
    note: readOptional(rules["note"], `${place}.note`, readText),
  };
}

const knownFields = [
  "rules",
  "minimum",
  "markers",
  "automatic",
  "lifetimes",
  "clock",
  "refreshedByRead",
  "readableWhen",
  "isolation",
  "prewarm",
  "diagnostics",
  "invalidation",
  "note",
];

function readMultiplierOf(prices: Prices): number | null {
  const rates = prices.kind === "priced" ? prices.rows.at(-1)?.rates : undefined;
  if (rates === undefined || rates.readPicoUsd === null) return null;
  return Number(rates.readPicoUsd) / Number(rates.inputPicoUsd);
}

function markingOf(explicit: boolean, automatic: boolean): CacheRules["marking"] {
  if (explicit) return automatic ? "both" : "explicit";
  return automatic ? "automatic" : "none";
}

function parseAutomatic(value: unknown, place: string): AutomaticRules {
  const known = [
    "boundary",
    "stepTokens",
    "reportedInSteps",
    "takesMarkerSlot",
    "bestEffort",
    "keptSecondsMin",
    "keptSecondsMax",
  ];
  const automatic = readFields(value, place, known);
  const count = (key: string): number | null =>
    readOptional(automatic[key], `${place}.${key}`, readCount);
  return {
    boundary: readOneOf(automatic["boundary"], boundaries, `${place}.boundary`),
    stepTokens: count("stepTokens"),
    reportedInSteps: count("reportedInSteps"),
    takesMarkerSlot: readBoolean(automatic["takesMarkerSlot"] ?? false, `${place}.takesMarkerSlot`),
    bestEffort: readBoolean(automatic["bestEffort"], `${place}.bestEffort`),
    keptSecondsMin: count("keptSecondsMin"),
    keptSecondsMax: count("keptSecondsMax"),
  };
}

function parseLifetimes(value: unknown, place: string): readonly LifetimeRules[] {
  const named = readFields(value, place, lifetimes);
  return lifetimes.flatMap((lifetime) => {
    if (named[lifetime] === undefined) return [];
    const at = `${place}.${lifetime}`;
    const rules = readFields(named[lifetime], at, ["seconds", "writeMultiplier"]);
    return {
      lifetime,
      seconds: readCount(rules["seconds"], `${at}.seconds`),
      writeMultiplier: readOptional(
        rules["writeMultiplier"],
        `${at}.writeMultiplier`,
        readMultiplier,
      ),
    };
  });
}
