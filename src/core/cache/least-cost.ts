// Places markers by expected cost: their cost now against what the next call saves, given this agent's pauses.
import type { Lifetime } from "../message/usage.ts";
import type { MarkerRules } from "../models/marker-rules.ts";
import { termsOf, type Terms } from "./cost-terms.ts";
import { isRefuted } from "./evidence.ts";
import { lastEndings, sharesPosition } from "./find-hit.ts";
import { carrierAt, type Candidate } from "./fit-markers.ts";
import { findPlaces, type CostQuestion, type Places } from "./marker-places.ts";

export interface CheapestMarkers {
  readonly candidates: readonly Candidate[];
  readonly mode: "implicit" | "explicit";
}

/** The markers with the least expected cost over this call and the next. */
export function cheapestMarkers(question: CostQuestion): CheapestMarkers {
  const { rules, ruler } = question;
  const places = findPlaces(question);
  const terms = termsOf(question);
  if (places === null || terms === null || ruler(places.tail) < (rules.minimumTokens ?? 0)) {
    return { candidates: [], mode: "implicit" };
  }
  const choice = cheapest(places, terms);
  const isNothing = choice.tail === null && choice.head === null && places.hit === null;
  if (isNothing) return { candidates: [], mode: "explicit" };
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
    const reason = "the last call's prefix is out of sight of every marker after it";
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
  const guard = guardOf(places, question);
  if (choice.tail !== null && guard !== -1) {
    const reason = "read if the last block comes back changed";
    add("guard", guard, terms.short.lifetime, reason);
  }
  return { candidates, mode: "implicit" };
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
        // On a tie the later choice wins: a free marker may help later.
        if (cost <= least) [best, least] = [choice, cost];
      }
    }
  }
  return best;
}

/** In input tokens: the cost of this call, minus what it saves the next call and other sessions. */
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
  // At or before the hit nothing new is written; existing entries only live longer.
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

/** Whether no marker after the hit can reach it, or the lookback is unreliable. */
function needsPreviousTail(
  { hit, tail, step }: Places,
  choice: Choice,
  { blocks, rules, state }: CostQuestion,
): boolean {
  if (hit === null || rules.markers?.lookback.kind !== "positions") return false;
  const { lookback } = rules.markers;
  const reaches =
    !isRefuted(state.evidence, "writes are kept") && !isRefuted(state.evidence, "lookback finds");
  const isAlone = choice.tail === null && !choice.step;
  if (!reaches || isAlone) return true;
  const first = choice.step && step !== null ? step : tail;
  let positions = 1;
  for (let block = first - 1; block >= hit.block; block -= 1) {
    if (!sharesPosition(blocks, block, lookback)) positions += 1;
    if (positions > lookback.positions) return true;
  }
  return false;
}

/** Text that comes back changed is usually short, in one or several blocks. */
const guardedTokens = 100;

/** A block far enough before the tail to survive a change of the last few. */
function guardOf(
  { tail, tailTokens, hit }: Places,
  { blocks, rules, ruler }: CostQuestion,
): number {
  if (rules.markers === null) return -1;
  let guard = carrierAt(blocks, tail - 1, rules.markers);
  while (guard > (hit?.block ?? -1) && tailTokens - ruler(guard) < guardedTokens) {
    guard = carrierAt(blocks, guard - 1, rules.markers);
  }
  return guard > (hit?.block ?? -1) ? guard : -1;
}

/** The provider marks the end of the latest message itself. Ours mark what it does not. */
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
