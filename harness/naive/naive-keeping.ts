// The naive reading of what providers keep without markers: prefixes in steps, at ends of messages, in units, or in slots.
import type { BillableRequest, Keeping } from "../../src/simulator/billing/billable-request.ts";
import type { BillingOptions } from "../../src/simulator/billing/options.ts";
import { isSamePrefix, toBill, tokensTo, type NaiveBill, type Past } from "./naive-log.ts";

interface Question {
  readonly request: BillableRequest;
  readonly log: readonly Past[];
  readonly options: BillingOptions;
}

export function decideByKeeping(question: Question): NaiveBill {
  const { request } = question;
  const { keeping } = request;
  if (keeping === undefined) throw new Error("nothing is kept without being asked");
  const block =
    keeping.boundary === "slots" ? sharedWithSlot(question) : longestKept(question, keeping);
  const shared = block === -1 ? 0 : tokensTo(request, block);
  const steps = Math.floor(shared / keeping.stepTokens) * keeping.stepTokens;
  const readTokens = steps < keeping.minimumTokens ? 0 : steps;
  return toBill(request, readTokens, {}, readTokens === 0 ? null : block, []);
}

/** The last block whose prefix can be read. */
function longestKept({ request, log, options }: Question, keeping: Keeping): number {
  const answered = automaticOnes(log);
  for (let block = request.blocks.length - 1; block >= 0; block -= 1) {
    if (isKept({ request, log: answered, options }, block, keeping)) return block;
  }
  return -1;
}

/** In the order of their answers, because an answer is what writes. */
function automaticOnes(log: readonly Past[]): readonly Past[] {
  return log
    .filter(({ begun, request }) => begun && request.keeping !== undefined)
    .filter(({ request }) => request.markers.length === 0)
    .toSorted((left, right) => (left.begunAs ?? 0) - (right.begunAs ?? 0));
}

/** Goes through every answer with this prefix: what was kept stays so while each comes before the last has run out. */
function isKept({ request, log, options }: Question, block: number, keeping: Keeping): boolean {
  let untilMs = -Infinity;
  let kept = false;
  for (const [place, past] of log.entries()) {
    if (!isSamePrefix(past.request, request, block)) continue;
    const isAlive = past.request.startMs <= untilMs + options.graceMs;
    const before = log.slice(0, place);
    kept = (kept && isAlive) || isPlace(past, block, { before, keeping, options });
    untilMs = Math.max(untilMs, past.request.startMs + lifeMs(keeping));
  }
  return kept && request.startMs <= untilMs + options.graceMs;
}

function lifeMs({ keptSeconds }: Keeping): number {
  return keptSeconds === null ? Infinity : keptSeconds * 1000;
}

interface Circumstances {
  readonly before: readonly Past[];
  readonly keeping: Keeping;
  readonly options: BillingOptions;
}

/** Whether this answer itself makes the prefix readable. */
function isPlace(
  { request }: Past,
  block: number,
  { before, keeping, options }: Circumstances,
): boolean {
  if (keeping.boundary === "every step") return true;
  if (keeping.boundary === "ends of messages") return request.blocks[block]?.boundary !== null;
  const isEnd = (at: number): boolean => request.blocks[at]?.boundary === "eligible message";
  const later = [...request.blocks.keys()].filter((at) => at > block);
  if (isEnd(block) && !later.some(isEnd)) return true;
  const wasSeen = (at: number): boolean =>
    before.some(
      (each) =>
        isSamePrefix(each.request, request, at) &&
        request.startMs <= each.request.startMs + lifeMs(keeping) + options.graceMs,
    );
  return wasSeen(block) && !later.some(wasSeen);
}

/** Plays every opening and answer again, in their order, to know what the slots hold now. */
function sharedWithSlot({ request, log }: Question): number {
  const mine = log.filter((past) => isSameServer(past.request, request));
  const events = mine
    .flatMap((past) => [
      { at: past.openedAs, past, isAnswer: false },
      ...(past.begunAs === null ? [] : [{ at: past.begunAs, past, isAnswer: true }]),
    ])
    .toSorted((left, right) => left.at - right.at);
  let slots: readonly Past[] = [];
  const chosen = new Map<Past, Past | null>();
  for (const { past, isAnswer } of events) {
    if (!isAnswer) {
      chosen.set(past, bestOf(slots, past.request));
      continue;
    }
    const others = slots.filter((slot) => slot !== chosen.get(past));
    const isFull = others.length >= (past.request.keeping?.slots ?? 0);
    slots = [...(isFull ? others.slice(1) : others), past];
  }
  const best = bestOf(slots, request);
  return best === null ? -1 : sharedBlock(best, request);
}

function isSameServer(left: BillableRequest, right: BillableRequest): boolean {
  return (
    left.workspace === right.workspace &&
    left.host === right.host &&
    left.model.id === right.model.id &&
    left.model.route === right.model.route &&
    left.markers.length === 0
  );
}

function bestOf(slots: readonly Past[], request: BillableRequest): Past | null {
  let best: Past | null = null;
  for (const slot of slots) {
    const shared = sharedBlock(slot, request);
    if (shared > (best === null ? -1 : sharedBlock(best, request))) best = slot;
  }
  return best;
}

/** The last piece is computed in any case. */
function sharedBlock(slot: Past, request: BillableRequest): number {
  for (let block = request.blocks.length - 2; block >= 0; block -= 1) {
    if (isSamePrefix(slot.request, request, block)) return block;
  }
  return -1;
}
