// A cache plan in both OpenAI protocols: markers on parts, and options for the whole request.
import type { SealedBlock } from "../../assembly/sealed-block.ts";
import { assert } from "../../assert.ts";
import type { CachePlan } from "../../cache/cache-plan.ts";
import type { Lifetime } from "../../message/usage.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import type { EncodeNote } from "../encoded-request.ts";
import type { MarkWords } from "../foreign/foreign-reader.ts";
import { ignored, setting, type Member, type PlacedMarkers } from "./body.ts";
import type { CallToEncode } from "../protocol.ts";
import type { Insertion } from "../splice.ts";

/** Routes to other vendors' models take their markers, too. */
export const markerNames: readonly string[] = ["prompt_cache_breakpoint", "cache_control"];

export const cacheSettings: readonly string[] = ["prompt_cache_options", "prompt_cache_retention"];

export interface EncodedCache {
  readonly markers: PlacedMarkers;
  readonly members: readonly Member[];
  readonly notes: readonly EncodeNote[];
}

export interface OfferedCache {
  /** The lifetimes that a protocol can ask for; the first is its default. */
  readonly lifetimes: readonly [Lifetime, ...Lifetime[]];
  readonly takesCacheKey: boolean;
  /** Asks for no reply: the prompt is only cached. */
  readonly isPrewarm?: boolean;
}

export function encodeCachePlan(
  { assembly, plan, model, diagnose, previousReplyId }: CallToEncode,
  { lifetimes: offered, takesCacheKey, isPrewarm = false }: OfferedCache,
): EncodedCache {
  const hasKey = plan.cacheKey !== null && takesCacheKey;
  const key = hasKey ? [setting("prompt_cache_key", text(plan.cacheKey))] : [];
  const keyNotes =
    plan.cacheKey === null || hasKey
      ? []
      : [ignored(`the cache key: servers of the route ${model.route} take none`)];
  if (model.cache.markers === null) {
    const retention = keepsDay(model) && plan.requestMarker === "24h";
    return {
      markers: { system: [], messages: [], volatile: [] },
      members: retention ? [...key, setting("prompt_cache_retention", '"24h"')] : key,
      notes: [...strippedNotes(plan, retention, model), ...keyNotes],
    };
  }
  const compared = diagnose === true ? (previousReplyId ?? null) : null;
  const isForeign = model.cache.markers.spelledAs === "cache_control";
  const asking = { isPrewarm, compared };
  const options = isForeign ? noOptions : requestOptions(plan, offered, asking);
  const toMarker = markerWriter(isForeign, offered, options.lifetime);
  const placed = plan.markers.map((marker) => {
    const [name, json] = toMarker(marker.lifetime);
    const block = carrierOf(assembly.sealed.at(marker.block));
    return { block, json: `,"${name}":${json}` };
  });
  const within = (region: SealedBlock["region"]): readonly Insertion[] =>
    placed
      .filter(({ block }) => block.region === region)
      .map(({ block, json }) => ({ at: block.markerAt, json }));
  return {
    markers: {
      system: within("system"),
      messages: within("messages"),
      volatile: within("volatile"),
    },
    members: [...key, ...options.members],
    notes: [...(isForeign ? [] : unofferedNotes(plan, offered)), ...keyNotes],
  };
}

/** The same plan for a body that another client built. */
export function markWords(
  plan: CachePlan,
  model: ModelFacts,
  { lifetimes: offered, takesCacheKey }: OfferedCache,
): MarkWords {
  const key: MarkWords["members"] =
    plan.cacheKey === null || !takesCacheKey ? [] : [["prompt_cache_key", text(plan.cacheKey)]];
  const isForeign = model.cache.markers?.spelledAs === "cache_control";
  const isOwn = model.cache.markers !== null && !isForeign;
  const options = isOwn ? requestOptions(plan, offered, asksNothing) : noOptions;
  const isKept = model.cache.markers === null && keepsDay(model) && plan.requestMarker === "24h";
  const members = isKept ? [setting("prompt_cache_retention", '"24h"')] : options.members;
  return {
    toMarker: markerWriter(isForeign, offered, options.lifetime),
    members: [...key, ...members.map(({ name, value }) => [name, value.join("")] as const)],
  };
}

function markerWriter(
  isForeign: boolean,
  offered: readonly Lifetime[],
  ofRequest: Lifetime | undefined,
): MarkWords["toMarker"] {
  return (lifetime) =>
    isForeign
      ? ["cache_control", cacheControlJson(lifetime)]
      : ["prompt_cache_breakpoint", markerJson(lifetime, offered, ofRequest)];
}

const asksNothing: Asked = { isPrewarm: false, compared: null };

const noOptions: ReturnType<typeof requestOptions> = { members: [], lifetime: undefined };

/** Markers for another vendor's models behind this protocol; five minutes is the default. */
function cacheControlJson(lifetime: Lifetime): string {
  const ttl = lifetime === "5m" ? "" : `,"ttl":"${lifetime}"`;
  return `{"type":"ephemeral"${ttl}}`;
}

/** Checks again: a marker in the wrong place would make the body unreadable. */
function carrierOf(block: SealedBlock | undefined): {
  readonly region: SealedBlock["region"];
  readonly markerAt: number;
} {
  assert(block !== undefined, "a marker stands outside the assembly");
  const { region, markerAt } = block;
  assert(markerAt !== null && region !== "tools", "a marker stands on what cannot carry one");
  return { region, markerAt };
}

/** A marker without its own lifetime takes that of the request. */
function markerJson(
  lifetime: Lifetime,
  offered: readonly Lifetime[],
  ofRequest: Lifetime | undefined,
): string {
  const own = offered.includes(lifetime) ? lifetime : offered[0];
  const isSaid = own !== offered[0] || ofRequest !== undefined;
  const ttl = isSaid ? `,"ttl":"${own}"` : "";
  return `{"mode":"explicit"${ttl}}`;
}

/**
 * Implicit with the default lifetime is the provider's default. A longer one for the whole
 * request also applies to the provider's automatic markers, so only the request may ask for it there.
 */
/** What a request asks for besides a reply. */
interface Asked {
  readonly isPrewarm: boolean;
  /** The reply to compare the cache with; null to ask for no diagnosis. */
  readonly compared: string | null;
}

function requestOptions(
  { mode, markers, requestMarker }: CachePlan,
  offered: readonly Lifetime[],
  { isPrewarm, compared }: Asked,
): { readonly members: readonly Member[]; readonly lifetime: Lifetime | undefined } {
  if (mode === null) return { members: [], lifetime: undefined };
  const ofMarkers = mode === "explicit" ? markers.map((marker) => marker.lifetime) : [];
  const asked = [requestMarker, ...ofMarkers];
  const lifetime = offered.slice(1).find((each) => asked.includes(each));
  const isUsual = mode === "implicit" && lifetime === undefined && !isPrewarm;
  if (isUsual && compared === null) return { members: [], lifetime };
  const ttl = lifetime === undefined ? "" : `,"ttl":"${lifetime}"`;
  const only = isPrewarm ? ',"prewarm":true' : "";
  const question = compared === null ? "" : `,"comparison_response_id":${text(compared)}`;
  const json = `{"mode":"${mode}"${ttl}${only}${question}}`;
  return { members: [setting("prompt_cache_options", json)], lifetime };
}

function keepsDay({ cache }: ModelFacts): boolean {
  return (
    cache.automatic?.boundary === "every step" &&
    cache.lifetimes.some(({ lifetime }) => lifetime === "24h")
  );
}

function strippedNotes(plan: CachePlan, retention: boolean, { id }: ModelFacts): EncodeNote[] {
  const { markers, requestMarker } = plan;
  const notes: EncodeNote[] = [];
  const strip = (what: string): void => {
    notes.push({ kind: "markers-stripped", detail: `${what}: ${id} takes no markers` });
  };
  if (markers.length > 0) strip(`${markers.length} ${markers.length === 1 ? "marker" : "markers"}`);
  if (requestMarker !== null && !retention) strip(`the marker of the request (${requestMarker})`);
  return notes;
}

function unofferedNotes(plan: CachePlan, offered: readonly Lifetime[]): EncodeNote[] {
  const asked: readonly (Lifetime | null)[] = [
    plan.requestMarker,
    ...plan.markers.map(({ lifetime }) => lifetime),
  ];
  const missing = new Set(asked.filter((each) => each !== null && !offered.includes(each)));
  return [...missing].map((lifetime) =>
    ignored(`a lifetime of ${lifetime}: this protocol offers ${offered.join(" and ")}`),
  );
}

function text(value: string): string {
  return JSON.stringify(value);
}
