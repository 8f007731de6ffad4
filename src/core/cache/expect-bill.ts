// What the provider should read, write and keep alive for a request with these markers.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { Lifetime } from "../message/usage.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { ExpectedBill, PlannedPrefix } from "./cache-plan.ts";
import { keptMsOf, type KnownEntry, type Ruler } from "./cache-state.ts";
import {
  findHit,
  lastEndings,
  liveAt,
  type EntriesByBlock,
  type Hit,
  type WireMarker,
} from "./find-hit.ts";
import { carrierAt } from "./fit-markers.ts";

export interface BillQuestion {
  readonly blocks: BlockList;
  readonly markers: readonly WireMarker[];
  readonly requestMarker: Lifetime | null;
  readonly mode: "implicit" | "explicit";
  readonly rules: CacheRules;
  readonly entries: EntriesByBlock;
  readonly ruler: Ruler;
  readonly nowMs: number;
  /** The exact count of the whole prompt, if known. */
  readonly promptTokens?: number;
  /** The stored prefix that it begins with. */
  readonly stored?: PlannedPrefix;
}

export function expectBill(question: BillQuestion): ExpectedBill {
  const { blocks, rules, ruler, mode } = question;
  const total = question.promptTokens ?? ruler(blocks.length - 1);
  if (question.stored !== undefined) return readStored(question.stored, total);
  const usable = effectiveMarkers(question);
  const hit = findHit(question, usable, { rules, mode });
  const foundTokens = hit === null ? 0 : tokensOf(hit, ruler);
  const readTokens = keepsEveryPrefix(rules) ? wholeSteps(foundTokens, rules) : foundTokens;
  const written = usable.filter(({ block }) => block > (hit?.block ?? -1));
  const { writeTokens, spanEnds, writtenTokens } = writtenSpans(written, readTokens, rules, ruler);
  const entries = written.map((marker) => newEntry(marker, hit, question));
  const sightings = ownSightings(question);
  return {
    hit: readTokens === 0 ? null : hit,
    spanEnds,
    refreshed: hit === null ? [] : keptUpTo(hit, usable, question),
    written: sightings.length === 0 ? entries : [...entries, ...sightings],
    readTokens,
    writeTokens,
    uncachedTokens: total - readTokens - writtenTokens,
  };
}

/** It is read whole. Whether the provider keeps anything of the rest by itself is not known. */
function readStored({ tokens }: PlannedPrefix, total: number): ExpectedBill {
  return {
    hit: null,
    spanEnds: {},
    refreshed: [],
    written: [],
    readTokens: tokens,
    writeTokens: {},
    uncachedTokens: total - tokens,
  };
}

/** The provider's count, if it reported one. */
function tokensOf({ block, entries }: Hit, ruler: Ruler): number {
  return entries.find(({ tokens }) => tokens !== null)?.tokens ?? ruler(block);
}

/** A session knows at most about fifty. Then looking through them costs less than an index. */
const unindexedMax = 64;

/** Entries by their last block. Lookups ask by block, and most blocks have none. */
export function entriesByBlock(entries: readonly KnownEntry[]): EntriesByBlock {
  return entries.length <= unindexedMax ? unindexed(entries) : indexed(entries);
}

function unindexed(entries: readonly KnownEntry[]): EntriesByBlock {
  return {
    size: entries.length,
    get: (block) => {
      let found: KnownEntry[] | undefined;
      for (const entry of entries) {
        if (entry.block !== block) continue;
        if (found === undefined) found = [entry];
        else found.push(entry);
      }
      return found;
    },
    keys: () => entries.map(({ block }) => block),
  };
}

function indexed(entries: readonly KnownEntry[]): EntriesByBlock {
  const byBlock = new Map<number, KnownEntry[]>();
  for (const entry of entries) {
    const same = byBlock.get(entry.block);
    if (same === undefined) byBlock.set(entry.block, [entry]);
    else same.push(entry);
  }
  return byBlock;
}

/** Our markers, the request marker and the provider's own. Only those long enough, in block order. */
function effectiveMarkers({
  blocks,
  markers,
  requestMarker,
  mode,
  rules,
  ruler,
}: BillQuestion): readonly WireMarker[] {
  const own: WireMarker[] = [];
  const { markers: markerRules, automatic } = rules;
  if (requestMarker !== null && markerRules !== null) {
    const block = carrierAt(blocks, blocks.length - 1, markerRules);
    if (block !== -1) own.push({ block, lifetime: requestMarker });
  }
  if (automatic?.takesMarkerSlot === true && mode === "implicit") {
    const [block] = lastEndings(blocks, 1);
    const lifetime = rules.lifetimes[0]?.lifetime;
    if (block !== undefined && lifetime !== undefined) own.push({ block, lifetime });
  }
  const minimum = rules.minimumTokens ?? 0;
  const ours = markers.filter(({ block }) => ruler(block) >= minimum);
  // The planner's own are in block order already.
  if (own.length === 0 && isInOrder(ours)) return ours;
  const isFree = ({ block }: WireMarker): boolean =>
    ruler(block) >= minimum && !markers.some((each) => each.block === block);
  return [...ours, ...own.filter(isFree)].toSorted((left, right) => left.block - right.block);
}

function isInOrder(markers: readonly WireMarker[]): boolean {
  return markers.every(({ block }, at) => at === 0 || (markers[at - 1]?.block ?? -1) <= block);
}

/** Whether a provider finds every prefix it was sent, marked or not. */
export function keepsEveryPrefix({ markers, automatic }: CacheRules): boolean {
  return markers === null && automatic !== null && !automatic.takesMarkerSlot;
}

/** The readable part of a prefix on a provider that keeps whole steps. */
export function wholeSteps(tokens: number, { automatic, minimumTokens }: CacheRules): number {
  const step = automatic?.stepTokens ?? automatic?.reportedInSteps ?? 1;
  const kept = Math.floor(tokens / step) * step;
  return kept < (minimumTokens ?? 0) ? 0 : kept;
}

/** Each span is billed once, at the longest lifetime of any marker at or after its end. */
function writtenSpans(
  written: readonly WireMarker[],
  readTokens: number,
  rules: CacheRules,
  ruler: Ruler,
): Pick<ExpectedBill, "writeTokens" | "spanEnds"> & { readonly writtenTokens: number } {
  let writtenTokens = 0;
  const writeTokens: Partial<Record<Lifetime, number>> = {};
  const spanEnds: Partial<Record<Lifetime, number>> = {};
  let longest: WireMarker | undefined;
  for (let index = written.length - 1; index >= 0; index -= 1) {
    const marker = written[index];
    if (marker === undefined) continue;
    if (longest === undefined || isLonger(marker.lifetime, longest.lifetime, rules)) {
      longest = marker;
    }
    const { lifetime } = longest;
    const before = written[index - 1];
    const start = before === undefined ? readTokens : Math.max(readTokens, ruler(before.block));
    const tokens = Math.max(0, ruler(marker.block) - start);
    writeTokens[lifetime] = (writeTokens[lifetime] ?? 0) + tokens;
    writtenTokens += tokens;
    spanEnds[lifetime] ??= marker.block;
  }
  return { writeTokens, spanEnds, writtenTokens };
}

function isLonger(left: Lifetime, right: Lifetime, rules: CacheRules): boolean {
  return keptMsOf(left, rules) > keptMsOf(right, rules);
}

/** The hit's entries, and live ones at markers before it. Such a marker writes nothing: not a new entry, not an expired one. */
function keptUpTo(
  hit: Hit,
  usable: readonly WireMarker[],
  question: BillQuestion,
): readonly KnownEntry[] {
  let kept = hit.entries;
  for (const { block } of usable) {
    // Those at the hit's own place are the hit's.
    const live = block < hit.block ? liveAt(question, block) : null;
    if (live !== null) kept = [...kept, ...live.filter((entry) => !kept.includes(entry))];
  }
  return kept;
}

function newEntry(
  { block, lifetime }: WireMarker,
  hit: Hit | null,
  { blocks, rules, nowMs }: BillQuestion,
): KnownEntry {
  const key = blocks.at(block)?.key ?? "";
  const keptMs = keptMsOf(lifetime, rules);
  const times = { writtenMs: nowMs, touchedMs: nowMs };
  const entry: KnownEntry = { key, block, lifetime, keptMs, tokens: null, ...times };
  const isLong = keptMs > (rules.lifetimes[0]?.seconds ?? 0) * 1000;
  const isStep = isLong && hit !== null && !hit.entries.some((found) => isFirm(found, keptMs));
  return isStep ? { ...entry, isStep } : entry;
}

/** Whether every part of an entry was written for at least that long. */
export function isFirm({ keptMs, isStep }: KnownEntry, leastMs: number): boolean {
  return keptMs >= leastMs && isStep !== true;
}

/** For a provider that keeps everything it receives: the parts of this prompt that will be sent again. */
function ownSightings({ blocks, rules, nowMs, requestMarker }: BillQuestion): KnownEntry[] {
  const { automatic } = rules;
  if (automatic === null || !keepsEveryPrefix(rules)) return [];
  const asked = requestMarker === null ? 0 : keptMsOf(requestMarker, rules);
  const keptMs = Math.max((automatic.keptSecondsMin ?? 0) * 1000, asked);
  // Changing text may stand between the foundation and the messages.
  return [...new Set([foundationEnd(blocks), tailOf(blocks)])].flatMap((block) => {
    const key = block < 0 ? undefined : blocks.at(block)?.key;
    const times = { writtenMs: nowMs, touchedMs: nowMs };
    return key === undefined
      ? []
      : [{ key, block, lifetime: null, keptMs, tokens: null, ...times }];
  });
}

/** The last block of tools and stable system text, or -1. */
export function foundationEnd(blocks: BlockList): number {
  let block = 0;
  for (; block < blocks.length; block += 1) {
    const tier = blocks.at(block)?.tier;
    if (tier !== "T0" && tier !== "T1" && tier !== "T2") break;
  }
  return block - 1;
}

/** The last block that later calls repeat, or -1. */
export function tailOf(blocks: BlockList): number {
  let block = blocks.length - 1;
  while (block >= 0 && blocks.at(block)?.tier === "T5") block -= 1;
  return block;
}
