// The lifetimes of tail, head and step: by expected cost, unless a simple policy would then be far ahead after a pause.
import type { Lifetime } from "../message/usage.ts";
import { predictSimple, leadingAccount, type BestSimple } from "./accounts.ts";
import type { Terms } from "./cost-terms.ts";
import type { CostQuestion, Places } from "./marker-places.ts";

export interface Choice {
  readonly tail: Lifetime | null;
  readonly head: Lifetime | null;
  readonly step: boolean;
  /** Why, if it is not the least expected cost. */
  readonly reason?: string;
}

export function chooseLifetimes(places: Places, terms: Terms, question: CostQuestion): Choice {
  const choice = cheapest(places, terms);
  return boundLoss(choice, places, terms, question);
}

function cheapest(places: Places, terms: Terms): Choice {
  const { short, long, stepsLast } = terms;
  // After a shorter-lived hit, a long-lived entry lasts only if steps do.
  const isLongUseful = long !== null && (stepsLast || places.isHitFirm);
  const lives: readonly (Lifetime | null)[] = isLongUseful
    ? [null, short.lifetime, long.lifetime]
    : [null, short.lifetime];
  const steps = places.step !== null && long !== null && stepsLast ? [false, true] : [false];
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

/** What a choice pays now, and which prefixes it leaves, in input tokens. */
interface Effect {
  readonly now: number;
  /** What the next call reads if it comes soon. */
  readonly end: number;
  /** What it reads after a pause. */
  readonly longRead: number;
}

function effectOf(choice: Choice, places: Places, terms: Terms): Effect {
  const { hitTokens, headTokens, stepTokens, tailTokens, anchorTokens } = places;
  const { long, read, shortWrite, longWrite } = terms;
  const longest = long?.lifetime;
  let longEnd = hitTokens;
  if (choice.step) longEnd = Math.max(longEnd, stepTokens);
  if (choice.head !== null && choice.head === longest) longEnd = Math.max(longEnd, headTokens);
  if (choice.tail !== null && choice.tail === longest) longEnd = Math.max(longEnd, tailTokens);
  let end = longEnd;
  if (choice.head !== null) end = Math.max(end, headTokens);
  if (choice.tail !== null) end = Math.max(end, tailTokens);
  const now =
    read * hitTokens +
    longWrite * (longEnd - hitTokens) +
    shortWrite * (end - longEnd) +
    (tailTokens - end);
  // At or before the hit nothing new is written; existing entries only live longer.
  return { now, end, longRead: Math.max(anchorTokens, longEnd > hitTokens ? longEnd : 0) };
}

/**
 * What a step gains beyond the next pause, in input tokens at most: about the price of a later step. A call whose first new
 * block is short makes it, and half of all calls are like that.
 */
const laterStepTokens = 40;

/** In input tokens: the cost of this call, minus what it saves the next call and other sessions. */
function expectedCost(choice: Choice, places: Places, terms: Terms): number {
  const { hitTokens, headTokens, stepTokens, anchorTokens } = places;
  const { long, read, shortWrite } = terms;
  const { now, end, longRead } = effectOf(choice, places, terms);
  const longest = long?.lifetime;
  const isLong = (lifetime: Lifetime | null): boolean => lifetime !== null && lifetime === longest;
  // What a step would keep is kept by every longer long-lived entry, too.
  const stepGain = Math.max(0, Math.min(longRead, stepTokens) - anchorTokens);
  const headKept = choice.head === null ? 0 : headTokens;
  const headLong = isLong(choice.head) && headTokens > hitTokens ? headTokens : 0;
  const saved = shortWrite - read;
  // A step outlives the next pause, and often the one after it.
  const beyond = Math.min(laterStepTokens, saved * terms.later * stepGain);
  return (
    now -
    saved * (terms.soon * end + terms.later * longRead) -
    beyond -
    saved * (terms.siblingSoon * headKept + terms.siblingLater * headLong)
  );
}

/** How far behind the best simple policy a session may fall: this share of a 5-minute write of its largest prompt. */
const behindShareMax = 0.4;

/** How far a pause may leave it behind. It may not come, and writing for an hour is paid at once. */
const behindAfterPauseMax = 1.1;

/** Keeps a session near the simple policy that would have been best for it. */
function boundLoss(choice: Choice, places: Places, terms: Terms, question: CostQuestion): Choice {
  const { blocks, rules, ruler, nowMs, state } = question;
  const { accounts } = state;
  if (accounts === undefined) return choice;
  const { tail, tailTokens } = places;
  const simple = predictSimple(accounts, { blocks, rules, ruler, tail, nowMs });
  const soFar = (): string => leadingAccount(accounts, rules)?.reason ?? "";
  const write = terms.shortWrite * Math.max(tailTokens, accounts.promptTokensMax);
  const { ours } = accounts.paid;
  const now = behindNow(choice, simple.now, ours, places, terms);
  if (now > (behindShareMax + advanceShare(choice, terms)) * write) {
    return { ...likeSimple(simple.now.name, choice, places, terms), reason: soFar() };
  }
  if (simple.afterPause.name !== "long tail") return choice;
  const behind = behindAfterPause(choice, simple.afterPause, ours, places, terms);
  if (behind <= behindAfterPauseMax * write) return choice;
  const safe = likeSimple("long tail", choice, places, terms);
  if (behindAfterPause(safe, simple.afterPause, ours, places, terms) >= behind) return choice;
  const reason = `a pause now would leave this session ${Math.round(behind)} input tokens behind a simple policy; ${soFar()}`;
  return { ...safe, reason };
}

/** Input tokens that we will have paid more than the best simple policy, after this call. */
function behindNow(
  choice: Choice,
  best: BestSimple,
  paid: number,
  places: Places,
  terms: Terms,
): number {
  return paid + effectOf(choice, places, terms).now - best.paid;
}

/** The same if this prompt is sent once more after a long pause: what no long-lived entry keeps is then written again. */
function behindAfterPause(
  choice: Choice,
  best: BestSimple,
  paid: number,
  places: Places,
  terms: Terms,
): number {
  const { now, longRead } = effectOf(choice, places, terms);
  const after = terms.read * longRead + terms.shortWrite * (places.tailTokens - longRead);
  return paid + now + after - best.paid;
}

/** An hour for everything, chosen by expected cost, is paid at once and comes back later: its extra price, in short writes. */
function advanceShare({ tail }: Choice, { long, longWrite, shortWrite }: Terms): number {
  return tail === long?.lifetime ? (longWrite - shortWrite) / shortWrite : 0;
}

/** The lifetimes of a simple policy. A long one after a shorter-lived hit lasts only if steps do. */
function likeSimple(
  name: BestSimple["name"],
  choice: Choice,
  { head, isHitFirm }: Places,
  { short, long, stepsLast }: Terms,
): Choice {
  if (name === "plain") return { tail: null, head: null, step: false };
  const isLong = name === "long tail" && long !== null && (stepsLast || isHitFirm);
  if (name === "long tail" && !isLong) return choice;
  const { lifetime } = isLong ? long : short;
  return { tail: lifetime, head: head === null ? null : lifetime, step: false };
}
