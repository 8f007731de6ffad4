// A second, naive implementation of the cache rules: it keeps only a log and answers every question with a loop over
// the whole log. Written without looking at the simulator's billing.
import type {
  BillableMarker,
  BillableRequest,
  Lifetime,
} from "../../src/simulator/billing/billable-request.ts";
import { readStored, type StorageAct } from "./naive-storage.ts";
import type { BillingOptions } from "../../src/simulator/billing/options.ts";
import { decideByKeeping } from "./naive-keeping.ts";
import {
  isSamePrefix,
  toBill,
  tokensTo,
  type NaiveBill,
  type NaiveMarker,
  type Past,
  type Touch,
} from "./naive-log.ts";

export type { NaiveBill, Past } from "./naive-log.ts";

export interface NaiveOpenBill {
  readonly bill: NaiveBill;
  begin(): void;
  end(atMs: number): void;
  abandon(): void;
}

export interface NaiveBilling {
  /** With the log of stored prefixes, its only state. Mutable, so that a test can introduce errors. */
  readonly log: Past[];
  readonly acts: StorageAct[];
  open(request: BillableRequest): NaiveOpenBill;
  /** The readable entries, in no order. */
  live(nowMs: number): NaiveEntry[];
}

export interface NaiveEntry {
  readonly lifetime: Lifetime;
  readonly tokens: number;
  readonly expiresMs: number;
}

export function createNaiveBilling(options: BillingOptions): NaiveBilling {
  const log: Past[] = [];
  const acts: StorageAct[] = [];
  let events = 0;
  return {
    log,
    acts,
    open(request) {
      const { bill, touches } = decide({ request, log, acts, options });
      const past: Past = {
        request,
        touches,
        begun: false,
        abandoned: false,
        endedMs: null,
        openedAs: (events += 1),
        begunAs: null,
      };
      log.push(past);
      return {
        bill,
        begin() {
          past.begun = true;
          past.begunAs = events += 1;
        },
        end(atMs) {
          past.endedMs = atMs;
        },
        abandon() {
          past.abandoned = true;
        },
      };
    },
    live: (nowMs) => liveEntries({ log, acts, options, nowMs }),
  };
}

interface Question {
  readonly request: BillableRequest;
  readonly log: readonly Past[];
  readonly acts: readonly StorageAct[];
  readonly options: BillingOptions;
}

interface Decision {
  readonly bill: NaiveBill;
  readonly touches: readonly Touch[];
}

function decide(question: Question): Decision {
  const { markers, automatic } = question.request.model.cache;
  if (question.request.stored !== undefined) {
    const { tokens, lastBlock } = readStored(question.acts, question.request);
    return { bill: toBill(question.request, tokens, {}, lastBlock, []), touches: [] };
  }
  if (question.request.keeping !== undefined && question.request.markers.length === 0) {
    return { bill: decideByKeeping(question), touches: [] };
  }
  if (markers !== null) return decideByMarkers(question);
  const isOpen = automatic?.boundary === "unpublished";
  const isKept = isOpen && question.options.unpublishedBoundary === "any prefix";
  if (automatic?.boundary === "every step" || isKept) return decideBySteps(question);
  return { bill: toBill(question.request, 0, {}, null, []), touches: [] };
}

function decideByMarkers(question: Question): Decision {
  const { request } = question;
  const hit = findHit(question);
  const hitTokens = hit === null ? 0 : tokensTo(request, hit.block);
  const markers = placedMarkers(request);
  const written = markers.filter(
    (marker) => marker.counts && isUsable(request, marker) && marker.block > (hit?.block ?? -1),
  );
  const touches: Touch[] = [];
  for (const lifetime of hit?.lifetimes ?? []) {
    touches.push({ block: hit?.block ?? -1, lifetime, how: "refreshed" });
  }
  for (const { block, lifetime } of written) {
    touches.push({ block, lifetime: keptFor(question, lifetime, hit), how: "written" });
  }
  const billed = markers.map((marker): NaiveMarker => {
    const { block, lifetime, origin } = marker;
    const common = { block, lifetime, origin, tokens: tokensTo(request, block) };
    if (!isUsable(request, marker)) return { ...common, outcome: "below the minimum" };
    if (!marker.counts) return { ...common, outcome: "over the limit" };
    if (written.includes(marker)) return { ...common, outcome: "written" };
    const kept = keptFor(question, marker.lifetime, hit);
    const before = touchesBeforeHit(question, block, kept);
    touches.push(...before.touches);
    return { ...common, outcome: block === hit?.block ? "hit" : before.outcome };
  });
  const writeTokens = billSpans(request, hitTokens, written);
  return {
    bill: toBill(request, hitTokens, writeTokens, hit?.block ?? null, billed),
    touches,
  };
}

/** A marker at or before the hit restarts the lifetimes of live entries. It writes only by the generous reading. */
function touchesBeforeHit(
  question: Question,
  block: number,
  own: Lifetime,
): { readonly touches: Touch[]; readonly outcome: NaiveMarker["outcome"] } {
  const touches: Touch[] = [];
  let outcome: NaiveMarker["outcome"] = "nothing there to refresh";
  for (const lifetime of liveLifetimes(question, block)) {
    touches.push({ block, lifetime, how: "refreshed" });
    outcome = "refreshed";
  }
  if (question.options.markerBeforeHit === "writes" && !isLive(question, block, own)) {
    touches.push({ block, lifetime: own, how: "written" });
    outcome = "written";
  }
  return { touches, outcome };
}

/** By the stingy reading an entry lives no longer than the longest entry at the hit, which holds its first part. */
function keptFor({ request, options }: Question, asked: Lifetime, hit: Hit | null): Lifetime {
  if (options.entryLives !== "as its shortest part" || hit === null) return asked;
  const isLonger = (lifetime: Lifetime): boolean =>
    secondsOf(request, lifetime) >= secondsOf(request, asked);
  if (hit.lifetimes.some(isLonger)) return asked;
  return hit.lifetimes.reduce((longest, each) =>
    secondsOf(request, each) > secondsOf(request, longest) ? each : longest,
  );
}

/** Each span is billed once, at the longest lifetime of the markers that include it. */
function billSpans(
  request: BillableRequest,
  hitTokens: number,
  written: readonly BillableMarker[],
): Partial<Record<Lifetime, number>> {
  const writeTokens: Partial<Record<Lifetime, number>> = {};
  let from = hitTokens;
  for (const marker of written) {
    const to = tokensTo(request, marker.block);
    const later = written.filter((each) => each.block >= marker.block);
    let longest = marker.lifetime;
    for (const each of later) {
      if (secondsOf(request, each.lifetime) > secondsOf(request, longest)) longest = each.lifetime;
    }
    writeTokens[longest] = (writeTokens[longest] ?? 0) + (to - from);
    from = to;
  }
  return writeTokens;
}

interface Hit {
  readonly block: number;
  readonly lifetimes: readonly Lifetime[];
}

/** The first live entry: an earlier marker looks only if later ones found nothing. */
function findHit(question: Question): Hit | null {
  for (const { block, lifetime } of lookups(question)) {
    const lifetimes = foundLifetimes(question, block, lifetime);
    if (lifetimes.length > 0) return { block, lifetimes };
  }
  return null;
}

interface Lookup {
  readonly block: number;
  /** The lifetime of the marker that looks. */
  readonly lifetime: Lifetime;
}

/** In the provider's lookup order. */
function lookups(question: Question): Lookup[] {
  const { request, options } = question;
  const lookback = request.model.cache.markers?.lookback;
  if (lookback === undefined) return [];
  if (lookback.kind === "boundaries") return lookupsAtBoundaries(request, lookback);
  const positions = positionsOf(request, options);
  const found: Lookup[] = [];
  for (const marker of request.markers.toReversed()) {
    if (!isUsable(request, marker)) continue;
    const own = positions[marker.block] ?? 0;
    for (let block = marker.block; block >= 0; block -= 1) {
      const position = positions[block] ?? 0;
      if (own - position + 1 > lookback.positions) continue;
      const isInside = position === positions[block + 1] && block !== marker.block;
      if (isInside && options.entryInsideRun === "only at the run's end") continue;
      found.push({ block, lifetime: marker.lifetime });
    }
  }
  return found;
}

function lookupsAtBoundaries(
  request: BillableRequest,
  limits: { explicitFirst: number; explicitLatest: number; implicitEarlier: number },
): Lookup[] {
  const explicit = request.markers.filter((_, index, { length }) => {
    return index < limits.explicitFirst || index >= length - limits.explicitLatest;
  });
  if (request.mode === "explicit") return explicit.toReversed();
  const eligible = blocksWith(request, "eligible message").slice(-(limits.implicitEarlier + 1));
  const initial = blocksWith(request, "initial group").slice(-1);
  const lifetime = implicitLifetime(request);
  const implicit = [...eligible, ...initial].map((block) => ({ block, lifetime }));
  return [...explicit, ...implicit].toSorted((left, right) => right.block - left.block);
}

/** The number of each block's position; equal numbers are one position. */
function positionsOf(request: BillableRequest, options: BillingOptions): number[] {
  const lookback = request.model.cache.markers?.lookback;
  const collapses =
    lookback?.kind === "positions" &&
    lookback.counting !== "every block" &&
    options.toolRuns !== "every block";
  const positions: number[] = [];
  let position = 0;
  for (const [index, block] of request.blocks.entries()) {
    const before = request.blocks[index - 1];
    const sameRun = collapses && block.run !== null && block.run === before?.run;
    const sameTools =
      options.toolDefinitions === "one position" &&
      block.tier === "tools" &&
      before?.tier === "tools";
    if (!sameRun && !sameTools) position += 1;
    positions.push(position);
  }
  return positions;
}

type PlacedMarker = BillableMarker & { readonly counts: boolean };

/** The client's markers and the provider's own, in block order. Markers over the limit do not count. */
function placedMarkers(request: BillableRequest): PlacedMarker[] {
  const rules = request.model.cache.markers;
  const last = blocksWith(request, "eligible message").at(-1);
  const hasOwn =
    request.mode === "implicit" &&
    rules?.lookback.kind === "boundaries" &&
    request.model.cache.automatic?.takesMarkerSlot === true &&
    last !== undefined;
  const limited = rules?.excess === "the latest count";
  const slots = limited ? rules.markersMax - (hasOwn ? 1 : 0) : Infinity;
  const markers = request.markers.map((marker, index): PlacedMarker => {
    return { ...marker, counts: index >= request.markers.length - slots };
  });
  // A counted marker on the provider's own boundary replaces it.
  if (hasOwn && !markers.some((marker) => marker.counts && marker.block === last)) {
    const lifetime = implicitLifetime(request);
    markers.push({ block: last, lifetime, origin: "automatic", counts: true });
  }
  return markers.toSorted((left, right) => left.block - right.block);
}

function implicitLifetime(request: BillableRequest): Lifetime {
  const lifetime = request.implicitLifetime ?? request.model.cache.lifetimes[0]?.lifetime;
  if (lifetime === undefined) throw new Error(`${request.model.id} has no lifetimes`);
  return lifetime;
}

function blocksWith(request: BillableRequest, boundary: string): number[] {
  return request.blocks.flatMap((block, index) => (block.boundary === boundary ? [index] : []));
}

function isUsable(request: BillableRequest, marker: BillableMarker): boolean {
  return tokensTo(request, marker.block) >= (request.model.cache.minimumTokens ?? 0);
}

/** The live lifetimes at a block that a marker of lifetime `own` finds. */
function foundLifetimes(question: Question, block: number, own: Lifetime): Lifetime[] {
  const isFound = (lifetime: Lifetime): boolean =>
    question.options.crossLifetime === "found" || lifetime === own;
  return liveLifetimes(question, block).filter(isFound);
}

function liveLifetimes(question: Question, block: number): Lifetime[] {
  return question.request.model.cache.lifetimes
    .map(({ lifetime }) => lifetime)
    .filter((lifetime) => isLive(question, block, lifetime));
}

function isLive(question: Question, block: number, lifetime: Lifetime): boolean {
  const { request, options } = question;
  const touchedMs = lastTouchMs(question, block, lifetime);
  if (touchedMs === null) return false;
  return request.startMs <= touchedMs + secondsOf(request, lifetime) * 1000 + options.graceMs;
}

/** When an entry was last written or refreshed; null if it never existed. */
function lastTouchMs(
  { request, log, options }: Question,
  block: number,
  lifetime: Lifetime,
): number | null {
  let touchedMs: number | null = null;
  for (const past of log) {
    if (past.abandoned) continue;
    for (const touch of past.touches) {
      if (touch.lifetime !== lifetime || touch.block !== block) continue;
      if (touch.how !== "refreshed" && !past.begun) continue;
      if (!isSamePrefix(past.request, request, block)) continue;
      touchedMs = Math.max(touchedMs ?? -Infinity, touchMs(past, options));
    }
  }
  return touchedMs;
}

function touchMs({ request, endedMs }: Past, { clock }: BillingOptions): number {
  return clock === "response end" && endedMs !== null
    ? Math.max(request.startMs, endedMs)
    : request.startMs;
}

/** Without markers: any prefix sent recently is read, in whole steps. */
function decideBySteps({ request, log, options }: Question): Decision {
  const { automatic } = request.model.cache;
  const isOpen = automatic?.boundary === "unpublished";
  const leastTokens =
    request.model.cache.minimumTokens ?? (isOpen ? options.unpublishedMinimumTokens : 0);
  const stepTokens = automatic?.stepTokens ?? automatic?.reportedInSteps ?? 1;
  let sharedBlock = -1;
  for (const past of log) {
    // What a request reads by name is not kept for others.
    if (past.request.stored !== undefined) continue;
    const asked = past.request.implicitLifetime;
    const isKnown = request.model.cache.lifetimes.some(({ lifetime }) => lifetime === asked);
    const seconds =
      asked !== undefined && isKnown
        ? secondsOf(request, asked)
        : (automatic?.keptSecondsMin ?? (isOpen ? options.unpublishedSeconds : 0));
    const keptMs = seconds * 1000 + options.graceMs;
    if (!past.begun || request.startMs > past.request.startMs + keptMs) continue;
    for (let block = 0; block < request.blocks.length; block += 1) {
      if (!isSamePrefix(past.request, request, block)) continue;
      sharedBlock = Math.max(sharedBlock, block);
    }
  }
  const wholeTokens = Math.floor(tokensTo(request, sharedBlock) / stepTokens) * stepTokens;
  const readTokens = wholeTokens < leastTokens ? 0 : wholeTokens;
  const hitBlock = readTokens === 0 ? null : sharedBlock;
  return { bill: toBill(request, readTokens, {}, hitBlock, []), touches: [] };
}

function secondsOf(request: BillableRequest, lifetime: Lifetime): number {
  const rules = request.model.cache.lifetimes.find((each) => each.lifetime === lifetime);
  if (rules === undefined) throw new Error(`${request.model.id} has no lifetime ${lifetime}`);
  return rules.seconds;
}

function liveEntries({
  nowMs,
  ...moment
}: Omit<Question, "request"> & { nowMs: number }): NaiveEntry[] {
  const { log, options } = moment;
  const seen: { request: BillableRequest; touch: Touch }[] = [];
  for (const { request, touches } of log) {
    for (const touch of touches) {
      const isKnown = seen.some(
        (each) =>
          each.touch.block === touch.block &&
          each.touch.lifetime === touch.lifetime &&
          isSamePrefix(each.request, request, touch.block),
      );
      if (!isKnown) seen.push({ request, touch });
    }
  }
  return seen.flatMap(({ request, touch: { block, lifetime } }) => {
    const question: Question = { ...moment, request: { ...request, startMs: nowMs } };
    const touchedMs = lastTouchMs(question, block, lifetime);
    if (touchedMs === null || !isLive(question, block, lifetime)) return [];
    const expiresMs = touchedMs + secondsOf(request, lifetime) * 1000 + options.graceMs;
    return { lifetime, tokens: tokensTo(request, block), expiresMs };
  });
}
