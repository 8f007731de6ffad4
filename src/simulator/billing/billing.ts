// Bills block lists: what a request reads, writes and pays in tokens. Times are arguments.
import type { MarkerRules } from "../../core/models/marker-rules.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { Bill, BilledMarker, Billing, EntryView, MarkerOutcome, OpenBill } from "./bill.ts";
import type { BillableMarker, BillableRequest, Lifetime } from "./billable-request.ts";
import { createEntryStore, isLive, touchedMs, type Entry } from "./entry-store.ts";
import * as hits from "./find-hit.ts";
import { keyedPromptOf } from "./growing-prompt.ts";
import { stingyBilling, type BillingOptions } from "./options.ts";
import { createSlotBilling } from "./slot-billing.ts";
import { createStoredPrefixes } from "./stored-prefixes.ts";
import { createStepBilling, keepsAnyPrefix } from "./step-billing.ts";

/** For models without markers. The lookback is that of the provider's models that take markers. */
const implicitOnly: MarkerRules = {
  markersMax: 1,
  excess: "the latest count",
  requestLevel: false,
  lookback: { kind: "boundaries", explicitFirst: 0, explicitLatest: 0, implicitEarlier: 20 },
  carriers: [],
  never: [],
  lifetimeOrder: "any",
  spelledAs: "prompt_cache_breakpoint",
};

export function createBilling(options: Partial<BillingOptions> = {}): Billing {
  const readings: BillingOptions = { ...stingyBilling, ...options };
  const store = createEntryStore(readings);
  const books: hits.Books = { store, pending: new Map(), options: readings };
  const steps = createStepBilling(readings);
  const stored = createStoredPrefixes(readings);
  const slots = createSlotBilling(readings);
  return {
    stored,
    open: (request) => {
      if (request.stored !== undefined) return stored.open(request, request.stored);
      const { markers, automatic } = request.model.cache;
      // Markers or automatic caching, never both in one request.
      if (request.keeping !== undefined && request.markers.length === 0) {
        return (request.keeping.boundary === "slots" ? slots : steps).open(request);
      }
      if (markers !== null) return openMarked(request, markers, books);
      if (automatic?.takesMarkerSlot === true) return openMarked(request, implicitOnly, books);
      if (automatic !== null && keepsAnyPrefix(automatic, readings)) return steps.open(request);
      return openMarked({ ...request, markers: [], mode: "explicit" }, implicitOnly, books);
    },
    entries: (nowMs) => [
      ...[...store.all()].map((entry) =>
        toView(entry, isLive(entry, nowMs, readings) ? "live" : "expired", readings),
      ),
      ...[...books.pending.values()].map((entry) => toView(entry, "not readable yet", readings)),
      ...steps.entries(nowMs),
      ...slots.entries(nowMs),
    ],
    clear: () => {
      store.clear();
      books.pending.clear();
      steps.clear();
      stored.clear();
      slots.clear();
    },
  };
}

function toView(entry: Entry, state: EntryView["state"], options: BillingOptions): EntryView {
  const { key, lifetime, tokens, writtenBy, lifetimeMs } = entry;
  const expiresMs = touchedMs(entry) + lifetimeMs + options.graceMs;
  return { key, lifetime, tokens, writtenBy, expiresMs, state };
}

function openMarked(request: BillableRequest, rules: MarkerRules, books: hits.Books): OpenBill {
  const { store, pending, options } = books;
  const { examined, marked } = examine(request, rules, options);
  const { lookback } = rules;
  const hit =
    lookback.kind === "positions"
      ? hits.findByPositions(examined, lookback, books)
      : hits.findByBoundaries(examined, lookback, books);
  const touched = [...(hit?.entries ?? [])];
  const marking: Marking = { examined, hit, books, touched, written: [] };
  const markers = marked.map((marker): BilledMarker => ({
    ...marker,
    tokens: examined.cumulative[marker.block] ?? 0,
    position: examined.positions[marker.block] ?? marker.block,
    outcome: markerOutcome(marker, marking),
  }));
  const reason = hits.explainMiss(examined, hit, markers, books);
  const { written } = marking;
  for (const entry of touched) {
    entry.open.push(request);
    store.use(entry);
  }
  for (const { entry } of written) pending.set(entry.key, entry);
  const close = (): void => {
    for (const { open } of touched) {
      const place = open.indexOf(request);
      if (place !== -1) open.splice(place, 1);
    }
    for (const { entry } of written)
      if (pending.get(entry.key) === entry) pending.delete(entry.key);
  };
  const settle = (atMs: number): void => {
    for (const entry of touched) entry.settledMs = Math.max(entry.settledMs, atMs);
  };
  return {
    bill: { ...billTokens(examined, hit, written), markers, reason },
    begin: () => {
      close();
      settle(request.startMs);
      for (const { entry } of written) addOnce(touched, store.put(entry));
    },
    end: (atMs) => {
      if (options.clock !== "response end") return;
      settle(atMs);
      // The store drops an entry that expired long ago, though the response that wrote it still runs.
      for (const entry of touched) if (!store.at(entry.key).includes(entry)) store.put(entry);
    },
    abandon: close,
  };
}

function billTokens(
  { request, cumulative }: hits.Examined,
  hit: hits.Hit | null,
  written: readonly Write[],
): Omit<Bill, "markers" | "reason"> {
  const totalTokens = cumulative.at(-1) ?? 0;
  const readTokens = hit === null ? 0 : (cumulative[hit.block] ?? 0);
  const writeTokens = writtenSpans(written, readTokens);
  const writtenTokens = Object.values(writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  return {
    requestId: request.id,
    totalTokens,
    readTokens,
    writeTokens,
    uncachedTokens: totalTokens - readTokens - writtenTokens,
    hitBlock: hit?.block ?? null,
  };
}

/** Computes keys and lengths once, and lists every place where a prefix is to be kept. */
function examine(
  request: BillableRequest,
  rules: MarkerRules,
  options: BillingOptions,
): { readonly examined: hits.Examined; readonly marked: readonly BillableMarker[] } {
  const minimum = request.model.cache.minimumTokens ?? 0;
  const prompt = keyedPromptOf(request, options);
  const isLong = ({ block }: BillableMarker): boolean => (prompt.cumulative[block] ?? 0) >= minimum;
  const implicit = implicitMarker(request);
  const counted = [...countedMarkers(request, rules, implicit), ...implicit];
  if (implicit.length === 0) {
    const usable = counted.filter(isLong);
    return { examined: { ...prompt, request, usable }, marked: request.markers };
  }
  // A counted marker on the provider's own boundary replaces it.
  const own = implicit.filter(({ block }) => !counted.some((each) => isExplicitAt(each, block)));
  const marked = [...request.markers, ...own].toSorted((left, right) => left.block - right.block);
  const usable = marked.filter((marker) => counted.includes(marker) && isLong(marker));
  return { examined: { ...prompt, request, usable }, marked };
}

/** The marker that the provider places itself: none or one. */
function implicitMarker(request: BillableRequest): BillableMarker[] {
  const { automatic, lifetimes } = request.model.cache;
  if (request.mode === "explicit" || automatic?.takesMarkerSlot !== true) return [];
  const block = request.blocks.findLastIndex(({ boundary }) => boundary === "eligible message");
  const lifetime = request.implicitLifetime ?? lifetimes[0]?.lifetime;
  return block === -1 || lifetime === undefined ? [] : [{ block, lifetime, origin: "automatic" }];
}

/** If the provider accepts more markers than it uses, the latest count. Its own marker takes a place too. */
function countedMarkers(
  { markers }: BillableRequest,
  { excess, markersMax }: MarkerRules,
  implicit: readonly BillableMarker[],
): readonly BillableMarker[] {
  if (excess === "rejected") return markers;
  return markers.slice(Math.max(0, markers.length - (markersMax - implicit.length)));
}

function isExplicitAt({ origin, block: at }: BillableMarker, block: number): boolean {
  return origin === "explicit" && at === block;
}

interface Marking {
  readonly examined: hits.Examined;
  readonly hit: hits.Hit | null;
  readonly books: hits.Books;
  /** Entries whose lifetime restarts. */
  readonly touched: Entry[];
  /** Entries that appear when the response begins. */
  readonly written: Write[];
}

interface Write {
  readonly entry: Entry;
  /** The marker's lifetime, which sets the price. */
  readonly billed: LifetimeRules;
}

type LifetimeRules = Pick<ModelFacts["cache"]["lifetimes"][number], "lifetime" | "seconds">;

/** A marker after the hit writes. At or before the hit it only restarts the lifetimes of live entries. */
function markerOutcome(marker: BillableMarker, marking: Marking): MarkerOutcome {
  const { examined, hit, books, touched, written } = marking;
  const { request, keys, cumulative, usable } = examined;
  const tokens = cumulative[marker.block] ?? 0;
  if (!usable.includes(marker)) {
    const minimum = request.model.cache.minimumTokens ?? 0;
    return tokens < minimum ? "below the minimum" : "over the limit";
  }
  const key = keys[marker.block] ?? "";
  const billed = lifetimeRules(marker.lifetime, request);
  const kept = keptLifetime(billed, marking);
  const write = (): void =>
    void written.push({ entry: newEntry(kept, key, tokens, request), billed });
  if (hit === null || marker.block > hit.block) {
    write();
    return "written";
  }
  const live = books.store.at(key).filter((entry) => isLive(entry, request.startMs, books.options));
  for (const entry of live) addOnce(touched, entry);
  const hasOwn = live.some(({ lifetime }) => lifetime === kept.lifetime);
  const isWritten = !hasOwn && books.options.markerBeforeHit === "writes";
  // It would cost nothing: the tokens up to the hit are billed as read.
  if (isWritten) write();
  if (marker.block === hit.block) return "hit";
  if (isWritten) return "written";
  return live.length > 0 ? "refreshed" : "nothing there to refresh";
}

function lifetimeRules(lifetime: Lifetime, { model }: BillableRequest): LifetimeRules {
  const rules = model.cache.lifetimes.find((each) => each.lifetime === lifetime);
  return rules ?? { lifetime, seconds: 0 };
}

/** How long a written entry lives. Within one request no part is written for less than a later marker asks. */
function keptLifetime(asked: LifetimeRules, { examined, hit, books }: Marking): LifetimeRules {
  const found = hit?.entries.at(-1);
  if (found === undefined || books.options.entryLives === "as its marker says") return asked;
  const before = lifetimeRules(found.lifetime, examined.request);
  return before.seconds < asked.seconds ? before : asked;
}

/** A request touches a few entries, so a list is enough. */
function addOnce(entries: Entry[], entry: Entry): void {
  if (!entries.includes(entry)) entries.push(entry);
}

function newEntry(
  { lifetime, seconds }: LifetimeRules,
  key: string,
  tokens: number,
  request: BillableRequest,
): Entry {
  return {
    key,
    lifetime,
    tokens,
    lifetimeMs: seconds * 1000,
    writtenBy: request.id,
    settledMs: request.startMs,
    open: [],
  };
}

/** Bills each span once, at the longest lifetime of the markers at or after its end. */
function writtenSpans(
  written: readonly Write[],
  readTokens: number,
): Readonly<Partial<Record<Lifetime, number>>> {
  const spans: Partial<Record<Lifetime, number>> = {};
  const ends = written
    .filter(({ entry }) => entry.tokens > readTokens)
    .toSorted((left, right) => left.entry.tokens - right.entry.tokens);
  let longest: LifetimeRules | undefined;
  for (let index = ends.length - 1; index >= 0; index -= 1) {
    const write = ends[index];
    if (write === undefined) continue;
    if (longest === undefined || write.billed.seconds > longest.seconds) longest = write.billed;
    const start = ends[index - 1]?.entry.tokens ?? readTokens;
    const { lifetime } = longest;
    spans[lifetime] = (spans[lifetime] ?? 0) + write.entry.tokens - start;
  }
  return spans;
}
