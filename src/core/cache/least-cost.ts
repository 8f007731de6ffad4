// Places markers by expected cost: their cost now against what the next call saves, given this agent's pauses.
import type { Lifetime } from "../message/usage.ts";
import type { MarkerRules } from "../models/marker-rules.ts";
import { chooseLifetimes, type Choice } from "./choose-lifetimes.ts";
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
  const choice = chooseLifetimes(places, terms, question);
  const isNothing = choice.tail === null && choice.head === null && places.hit === null;
  if (isNothing) return { candidates: [], mode: "explicit" };
  if (rules.automatic?.takesMarkerSlot === true) {
    return { candidates: besidesOwn(places, choice, question), mode: "implicit" };
  }
  return { candidates: inOrderOfRank(places, choice, terms, question), mode: "implicit" };
}

/** If there are more than the provider accepts, earlier ones win. */
function inOrderOfRank(
  places: Places,
  choice: Choice,
  terms: Terms,
  question: CostQuestion,
): readonly Candidate[] {
  const candidates: Candidate[] = [];
  const add = (slot: Candidate["slot"], block: number, lifetime: Lifetime, reason: string): void =>
    void candidates.push({ block, lifetime, slot, reason });
  const { tail, hit, head, headEntry } = places;
  const { short } = terms;
  if (choice.tail !== null) {
    add("tail", tail, choice.tail, choice.reason ?? "the next call reads up to here");
  }
  if (hit !== null && needsPreviousTail(places, choice, question)) {
    const reason = "the last call's prefix is out of sight of every marker after it";
    add("previous tail", hit.block, hit.lifetime ?? short.lifetime, reason);
  }
  addStep(places, choice, terms, question, add);
  // At or before the hit a marker writes nothing: it keeps alive what is there.
  const isHeadSent = head !== null && hit !== null && head <= hit.block;
  if (choice.head !== null && head !== null && (!isHeadSent || headEntry !== null)) {
    const lifetime = isHeadSent ? (headEntry?.lifetime ?? short.lifetime) : choice.head;
    add("head", head, lifetime, "shared by every call and session on the same foundation");
  }
  if (choice.tail === null) return candidates;
  const guard = guardOf(places, question);
  if (guard !== -1)
    add("guard", guard, short.lifetime, "read if the last block comes back changed");
  const hasSlot = (): boolean => candidates.length < (question.rules.markers?.markersMax ?? 0);
  const earlier = hasSlot() ? earlierTail(guard === -1 ? tail : guard, places, question) : -1;
  if (earlier !== -1) {
    add(
      "guard",
      earlier,
      short.lifetime,
      "an earlier call ended here: read if what follows changes",
    );
  }
  const tools = hasSlot() ? toolsEnd(question) : -1;
  if (tools !== -1 && tools !== head) {
    add("head", tools, short.lifetime, "read if the system text after the tools changes");
  }
  if (hasSlot() && isHeadSent && headEntry === null) {
    const reason = "its entry expired: free, and read again if the provider brings it back";
    add("head", head, short.lifetime, reason);
  }
  return candidates;
}

/** A step that is not needed leaves its slot to others, and the anchor is kept alive before it expires. */
function addStep(
  { step, stepTokens, hit, hitTokens, anchor }: Places,
  choice: Choice,
  { short, long, longWrite, shortWrite, read, stepsLast }: Terms,
  { nowMs }: CostQuestion,
  add: (slot: Candidate["slot"], block: number, lifetime: Lifetime, reason: string) => void,
): void {
  if (long === null) return;
  if (choice.step && step !== null) {
    const reason = `a pause of more than ${short.lifetime} still reads up to here`;
    return add("step", step, long.lifetime, reason);
  }
  const extra = (longWrite - shortWrite) * (stepTokens - hitTokens);
  if (!stepsLast && step !== null && hit !== null && extra <= testShare * read * hitTokens) {
    const reason = "the provider has lost such a step before; a test that costs next to nothing";
    return add("step", step, long.lifetime, reason);
  }
  if (anchor === null || anchor.block === hit?.block) return;
  if (nowMs - anchor.touchedMs < anchor.keptMs * restingShare) return;
  add("step", anchor.block, long.lifetime, "keeps the long-lived prefix alive");
}

/** A step is tested again if it costs no more than this share of what the call reads. */
const testShare = 0.01;

/** A long-lived entry needs no marker during the first third of its life: twenty minutes of an hour. */
const restingShare = 1 / 3;

/** Where the latest of the earlier calls ended that is written again now, or -1. */
function earlierTail(
  before: number,
  { hit, head }: Places,
  { blocks, state }: CostQuestion,
): number {
  const after = Math.max(hit?.block ?? -1, head ?? -1);
  const tails = (state.accounts?.tails ?? []).filter(
    ({ block, key }) => block > after && block < before && blocks.at(block)?.key === key,
  );
  return Math.max(-1, ...tails.map(({ block }) => block));
}

/** The last tool definition, or -1 if the tools are too short to be kept. */
function toolsEnd({ blocks, rules, ruler }: CostQuestion): number {
  if (rules.markers === null) return -1;
  let block = 0;
  while (blocks.at(block)?.tier === "T0") block += 1;
  const last = carrierAt(blocks, block - 1, rules.markers);
  return last !== -1 && ruler(last) >= (rules.minimumTokens ?? 0) ? last : -1;
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

/** Text that comes back changed is usually short, in one or several blocks; after much new text it is longer. */
const guardedTokensMin = 100;
const guardedShare = 0.01;

/** A block far enough before the tail to survive a change of the last few; the last one before it if that is very far. */
function guardOf(
  { tail, tailTokens, hit, hitTokens }: Places,
  { blocks, rules, ruler }: CostQuestion,
): number {
  if (rules.markers === null) return -1;
  const after = hit?.block ?? -1;
  const guarded = Math.max(guardedTokensMin, guardedShare * (tailTokens - hitTokens));
  const nearest = carrierAt(blocks, tail - 1, rules.markers);
  let guard = nearest;
  while (guard > after && tailTokens - ruler(guard) < guarded) {
    guard = carrierAt(blocks, guard - 1, rules.markers);
  }
  const isFar = guard <= after || tailTokens - ruler(guard) > farGuards * guarded;
  const chosen = isFar ? nearest : guard;
  return chosen > after ? chosen : -1;
}

/** One block may be most of a prompt. Then a near guard is better than one that saves next to nothing. */
const farGuards = 10;

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
