// Markers by expected cost: what they cost now, against what the next call saves, under the gaps this agent has.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { Lifetime } from "../message/usage.ts";
import type { CacheRules, LifetimeRules } from "../models/cache-rules.ts";
import type { MarkerRules } from "../models/marker-rules.ts";
import { isLive, type CacheState, type KnownEntry, type Ruler } from "./cache-state.ts";
import { isRefuted, reliabilityOf } from "./evidence.ts";
import { tailOf } from "./expect-bill.ts";
import { lastEndings, sharesPosition } from "./find-hit.ts";
import { canCarry, carrierAt, type Candidate } from "./fit-markers.ts";
import { chanceWithin, siblingChanceWithin, type Pace } from "./pace.ts";

export interface CostQuestion {
  readonly blocks: BlockList;
  readonly rules: CacheRules;
  readonly state: CacheState;
  readonly pace: Pace;
  readonly ruler: Ruler;
  readonly nowMs: number;
}

export interface CheapestMarkers {
  /** In order of rank. */
  readonly candidates: readonly Candidate[];
  readonly mode: "implicit" | "explicit";
}

/** The markers with the least expected cost of this call and the next. */
export function cheapestMarkers(question: CostQuestion): CheapestMarkers {
  const { blocks, rules, ruler } = question;
  const places = findPlaces(question);
  const terms = termsOf(question);
  if (places === null || terms === null || ruler(places.tail) < (rules.minimumTokens ?? 0)) {
    return { candidates: [], mode: "implicit" };
  }
  const choice = cheapest(places, terms);
  if (choice.tail === null && choice.head === null) return { candidates: [], mode: "explicit" };
  if (rules.automatic?.takesMarkerSlot === true) {
    return { candidates: besidesOwn(places, choice, question), mode: "implicit" };
  }
  const candidates: Candidate[] = [];
  const add = (slot: Candidate["slot"], block: number, lifetime: Lifetime, reason: string): void =>
    void candidates.push({ block, lifetime, slot, reason });
  if (choice.tail !== null) {
    add("tail", places.tail, choice.tail, "the next call reads up to here");
  }
  const { hit, step, anchor, head } = places;
  if (hit !== null && needsPreviousTail(places, choice, question)) {
    const reason = "more was added than a marker looks back over";
    add("previous tail", hit.block, hit.lifetime ?? terms.short.lifetime, reason);
  }
  if (choice.step && step !== null && terms.long !== null) {
    const reason = `a pause of more than ${terms.short.lifetime} still reads up to here`;
    add("step", step, terms.long.lifetime, reason);
  } else if (anchor !== null && terms.long !== null && anchor.block !== hit?.block) {
    add("step", anchor.block, terms.long.lifetime, "keeps the long-lived prefix alive");
  }
  if (choice.head !== null && head !== null) {
    add("head", head, choice.head, "shared by every call and session on the same foundation");
  }
  const guard = guardOf(blocks, places, rules.markers);
  if (choice.tail !== null && guard !== -1) {
    const reason = "read if the last block comes back changed";
    add("guard", guard, terms.short.lifetime, reason);
  }
  return { candidates, mode: "implicit" };
}

interface Places {
  readonly tail: number;
  readonly tailTokens: number;
  /** End of the foundation, where it is long enough to be kept. */
  readonly head: number | null;
  readonly headTokens: number;
  /** The longest live entry of this prefix. */
  readonly hit: KnownEntry | null;
  readonly hitTokens: number;
  /** The first place after the hit that can be marked. */
  readonly step: number | null;
  readonly stepTokens: number;
  /** The longest live entry with a long lifetime. */
  readonly anchor: KnownEntry | null;
  readonly anchorTokens: number;
}

function findPlaces({ blocks, rules, state, ruler, nowMs }: CostQuestion): Places | null {
  const { markers } = rules;
  if (markers === null) return null;
  const last = tailOf(blocks);
  const own = rules.automatic?.takesMarkerSlot === true ? lastEndings(blocks, 1)[0] : undefined;
  const tail = own ?? carrierAt(blocks, last, markers);
  if (tail === -1) return null;
  const minimum = rules.minimumTokens ?? 0;
  const head = headOf(blocks, markers);
  const hasHead = head !== -1 && head < tail && ruler(head) >= minimum;
  const longest = rules.lifetimes.at(-1)?.lifetime;
  let hit: KnownEntry | null = null;
  let anchor: KnownEntry | null = null;
  for (const entry of state.entries) {
    const isFurther = entry.block > (hit?.block ?? -1);
    const isLonger = entry.lifetime === longest && entry.block > (anchor?.block ?? -1);
    if (entry.block > last || !(isFurther || isLonger) || !isLive(entry, nowMs)) continue;
    if (blocks.at(entry.block)?.key !== entry.key) continue;
    if (isFurther) hit = entry;
    if (isLonger) anchor = entry;
  }
  const step = stepOf(blocks, hit?.block ?? -1, tail, { minimum, ruler, markers });
  return {
    tail,
    tailTokens: ruler(tail),
    head: hasHead ? head : null,
    headTokens: hasHead ? ruler(head) : 0,
    hit,
    hitTokens: hit === null ? 0 : ruler(hit.block),
    step: step === -1 ? null : step,
    stepTokens: step === -1 ? 0 : ruler(step),
    anchor,
    anchorTokens: anchor === null ? 0 : ruler(anchor.block),
  };
}

/** The last block before the messages that can be marked; -1 for none. */
function headOf(blocks: BlockList, markers: MarkerRules): number {
  let head = -1;
  for (let block = 0; block < blocks.length; block += 1) {
    const at = blocks.at(block);
    if (at === undefined || (at.tier !== "T0" && at.tier !== "T1" && at.tier !== "T2")) break;
    if (canCarry(at, markers)) head = block;
  }
  return head;
}

function stepOf(
  blocks: BlockList,
  hit: number,
  tail: number,
  {
    minimum,
    ruler,
    markers,
  }: { readonly minimum: number; readonly ruler: Ruler; readonly markers: MarkerRules },
): number {
  for (let block = hit + 1; block < tail; block += 1) {
    const at = blocks.at(block);
    if (at !== undefined && canCarry(at, markers) && ruler(block) >= minimum) return block;
  }
  return -1;
}

/** Prices in shares of the input price, and how likely each kind of next call is. */
interface Terms {
  readonly short: LifetimeRules;
  readonly long: LifetimeRules | null;
  readonly read: number;
  readonly shortWrite: number;
  readonly longWrite: number;
  /** The next call comes while a short-lived entry is kept. */
  readonly soon: number;
  /** It comes later, while only a long-lived entry is kept. */
  readonly later: number;
  readonly siblingSoon: number;
  readonly siblingLater: number;
}

function termsOf({ rules, state, pace }: CostQuestion): Terms | null {
  const [short] = rules.lifetimes;
  if (short === undefined) return null;
  const { evidence } = state;
  const last = rules.lifetimes.at(-1);
  const isOffered = last !== undefined && last !== short && last.writeMultiplier !== null;
  const long = isOffered && !isRefuted(evidence, "long lifetimes last") ? last : null;
  const kept = reliabilityOf(evidence, "writes are kept");
  const lasts = kept * reliabilityOf(evidence, "long lifetimes last");
  const shortMs = short.seconds * 1000;
  const longMs = (long?.seconds ?? 0) * 1000;
  const soon = chanceWithin(pace, shortMs);
  const siblingSoon = siblingChanceWithin(pace, shortMs);
  return {
    short,
    long,
    read: rules.readMultiplier ?? 1,
    shortWrite: short.writeMultiplier ?? 1,
    longWrite: long?.writeMultiplier ?? 1,
    soon: soon * kept,
    later: Math.max(0, chanceWithin(pace, longMs) - soon) * lasts,
    siblingSoon: siblingSoon * kept,
    siblingLater: Math.max(0, siblingChanceWithin(pace, longMs) - siblingSoon) * lasts,
  };
}

interface Choice {
  readonly tail: Lifetime | null;
  readonly head: Lifetime | null;
  readonly step: boolean;
}

function cheapest(places: Places, terms: Terms): Choice {
  const { short, long } = terms;
  const lives: readonly (Lifetime | null)[] =
    long === null ? [null, short.lifetime] : [null, short.lifetime, long.lifetime];
  const steps = places.step !== null && long !== null ? [false, true] : [false];
  let best: Choice = { tail: null, head: null, step: false };
  let least = expectedCost(best, places, terms);
  for (const tail of lives) {
    for (const head of places.head === null ? [null] : lives) {
      for (const step of steps) {
        const choice = { tail, head, step };
        const cost = expectedCost(choice, places, terms);
        // Of equals the later one wins: a marker that costs nothing may help one day.
        if (cost <= least) [best, least] = [choice, cost];
      }
    }
  }
  return best;
}

/** In input tokens: this call, less what the next call and other sessions save by it. */
function expectedCost(choice: Choice, places: Places, terms: Terms): number {
  const { hitTokens, headTokens, stepTokens, tailTokens, anchorTokens } = places;
  const { long, read, shortWrite, longWrite } = terms;
  const isLong = (lifetime: Lifetime | null): boolean =>
    lifetime !== null && lifetime === long?.lifetime;
  const longEnd = Math.max(
    hitTokens,
    isLong(choice.head) ? headTokens : 0,
    choice.step ? stepTokens : 0,
    isLong(choice.tail) ? tailTokens : 0,
  );
  const end = Math.max(
    longEnd,
    choice.head === null ? 0 : headTokens,
    choice.tail === null ? 0 : tailTokens,
  );
  const now =
    read * hitTokens +
    longWrite * (longEnd - hitTokens) +
    shortWrite * (end - longEnd) +
    (tailTokens - end);
  // At or before the hit nothing new is made: only what is there lives on.
  const longRead = Math.max(anchorTokens, longEnd > hitTokens ? longEnd : 0);
  const saved = shortWrite - read;
  const headKept = choice.head === null ? 0 : headTokens;
  const headLong = isLong(choice.head) && headTokens > hitTokens ? headTokens : 0;
  return (
    now -
    saved * (terms.soon * end + terms.later * longRead) -
    saved * (terms.siblingSoon * headKept + terms.siblingLater * headLong)
  );
}

/** Whether the hit is out of sight from every marker after it, or sight is not to be relied on. */
function needsPreviousTail(
  { hit, tail, step }: Places,
  choice: Choice,
  { blocks, rules, state }: CostQuestion,
): boolean {
  if (hit === null || rules.markers?.lookback.kind !== "positions") return false;
  const { lookback } = rules.markers;
  const reaches =
    !isRefuted(state.evidence, "writes are kept") && !isRefuted(state.evidence, "lookback finds");
  if (!reaches) return true;
  const first = choice.step && step !== null ? step : tail;
  let positions = 1;
  for (let block = first - 1; block >= hit.block; block -= 1) {
    if (!sharesPosition(blocks, block, lookback)) positions += 1;
    if (positions > lookback.positions) return true;
  }
  return false;
}

function guardOf(blocks: BlockList, { tail, hit }: Places, markers: MarkerRules | null): number {
  if (markers === null) return -1;
  const guard = carrierAt(blocks, tail - 1, markers);
  return guard > (hit?.block ?? -1) ? guard : -1;
}

/** The provider marks the end of the latest message itself; ours are for what it does not see. */
function besidesOwn(
  { head, hit, hitTokens, headTokens }: Places,
  choice: Choice,
  { blocks, rules }: CostQuestion,
): Candidate[] {
  const { markers } = rules;
  const candidates: Candidate[] = [];
  if (markers === null) return candidates;
  const endings = lastEndings(blocks, earlierEndings(markers) + 1);
  if (hit !== null && !endings.includes(hit.block)) {
    const lifetime = hit.lifetime ?? rules.lifetimes[0]?.lifetime ?? "30m";
    const reason = "more messages were added than the provider looks back over";
    candidates.push({ block: hit.block, lifetime, slot: "previous tail", reason });
  }
  if (head !== null && choice.head !== null && headTokens !== hitTokens) {
    const reason = "shared by every call and session on the same foundation";
    candidates.push({ block: head, lifetime: choice.head, slot: "head", reason });
  }
  return candidates;
}

function earlierEndings({ lookback }: MarkerRules): number {
  return lookback.kind === "boundaries" ? lookback.implicitEarlier : 0;
}
