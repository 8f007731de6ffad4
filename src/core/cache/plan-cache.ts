// The planner: where the provider should keep this prompt, for how long, and what that should cost.
import { withMoneyAsText } from "../models/pico-usd.ts";
import type { BlockList } from "../assembly/prompt-block.ts";
import type { Lifetime } from "../message/usage.ts";
import { findTotal } from "../models/cost.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type {
  CachePlan,
  DroppedMarker,
  DropReason,
  ExpectedBill,
  PlannedPrefix,
} from "./cache-plan.ts";
import { leadingAccount } from "./accounts.ts";
import {
  createRuler,
  isLive,
  type CacheState,
  type KnownEntry,
  type Ruler,
} from "./cache-state.ts";
import { entriesByBlock, expectBill } from "./expect-bill.ts";
import type { WireMarker } from "./find-hit.ts";
import { carrierAt, fitMarkers, offeredLifetime, type Candidate } from "./fit-markers.ts";
import { decideKeepWarm } from "./keep-warm.ts";
import { cheapestMarkers } from "./least-cost.ts";
import type { Pace } from "./pace.ts";
import { limitByPace, onlyCall, sendsOnce } from "./limit-by-pace.ts";
import { asksForMarkers, type MarkerPart } from "./policy.ts";
import { findReadable } from "./prompt-contents.ts";
import { readHead, ruleCandidates, type PromptHead } from "./rule-candidates.ts";

export interface PlanQuestion {
  readonly blocks: BlockList;
  /** Facts about the model on its route. */
  readonly rules: Pick<ModelFacts, "id" | "cache" | "prices">;
  readonly markers: MarkerPart;
  readonly state: CacheState;
  readonly pace: Pace;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Markers that are already in the request and stay. They count against the limit. */
  readonly present?: readonly WireMarker[];
  /** The exact count of the whole prompt, if known. */
  readonly promptTokens?: number;
  /** The stored prefix that the call begins with. */
  readonly stored?: PlannedPrefix;
}

export function planCache(question: PlanQuestion): CachePlan {
  const { blocks, rules, markers, state, pace, now } = question;
  const { cache } = rules;
  const ruler = createRuler(blocks, state.measured);
  const head = readHead(blocks);
  const { entries: known } = findReadable(state, blocks, cache);
  const entries = entriesByBlock(known);
  const chosen =
    markers.kind === "least-cost"
      ? cheapestMarkers({ blocks, rules: cache, state, known, pace, ruler, nowMs: now })
      : { candidates: ruleCandidates(markers.rules, blocks, state, head), mode: ownMode(markers) };
  // Stored plans have what was dropped behind what is expected.
  const { dropped, ...placed } = placeMarkers(question, { ...chosen, asked: head.asked }, ruler);
  const bill = expectBill({
    blocks,
    markers: placed.markers,
    requestMarker: placed.requestMarker,
    mode: chosen.mode,
    rules: cache,
    entries,
    ruler,
    nowMs: now,
    ...(question.promptTokens === undefined ? {} : { promptTokens: question.promptTokens }),
    ...(question.stored && { stored: question.stored }),
  });
  const account =
    markers.kind === "least-cost" && state.accounts !== undefined
      ? leadingAccount(state.accounts, cache)
      : null;
  return {
    ...placed,
    cacheKey: cacheKeyOf(question),
    expected: toExpectation(bill, question),
    dropped,
    keepWarm: decideKeepWarm({
      rules: cache,
      pace,
      shortTokens: ruler(keptBlock(bill)),
      longTokens: longKeptTokens(bill, known, question, ruler),
    }),
    ...(question.stored && { stored: question.stored }),
    ...(account !== null && { account }),
  };
}

/** What goes on the wire, without what it should cost. */
export type PlacedMarkers = Pick<CachePlan, "markers" | "requestMarker" | "mode" | "dropped">;

type FixedPart = Extract<MarkerPart, { kind: "rules" }>;

/** The markers of fixed rules. They depend on the prompt and the pace, and on no known entry. */
export function placeRuleMarkers(
  question: Pick<PlanQuestion, "blocks" | "rules" | "pace"> & { readonly markers: FixedPart },
  lastTail: CacheState["lastTail"],
  head: PromptHead = readHead(question.blocks),
): PlacedMarkers {
  const { blocks, markers } = question;
  const candidates = ruleCandidates(markers.rules, blocks, { lastTail }, head);
  const chosen = { candidates, asked: head.asked, mode: ownMode(markers) };
  return placeMarkers(question, chosen, createRuler(blocks, null));
}

interface Chosen {
  readonly candidates: readonly Candidate[];
  readonly asked: readonly Candidate[];
  readonly mode: "implicit" | "explicit";
}

function placeMarkers(
  question: Pick<PlanQuestion, "blocks" | "rules" | "markers" | "pace" | "present">,
  { candidates, mode, ...chosen }: Chosen,
  ruler: Ruler,
): PlacedMarkers {
  const { blocks, markers, pace, present = [] } = question;
  const { cache } = question.rules;
  const asked = asksForMarkers(markers) ? chosen.asked : [];
  // The least expected cost knows the pace already.
  const limited = limitByPace(
    markers.kind === "rules" ? [...asked, ...candidates] : asked,
    pace,
    blocks,
  );
  const paced =
    markers.kind === "rules"
      ? limited
      : { ...limited, candidates: [...limited.candidates, ...candidates] };
  const request = requestMarkerOf(question);
  const isOwn = cache.automatic?.takesMarkerSlot === true && mode === "implicit";
  const fitted = fitMarkers(paced.candidates, {
    blocks,
    rules: cache,
    ruler,
    present,
    slotsTaken: (request.marker === null ? 0 : 1) + (isOwn ? 1 : 0),
  });
  return {
    markers: fitted.markers,
    requestMarker: request.marker,
    mode: cache.markers !== null && cache.automatic?.takesMarkerSlot === true ? mode : null,
    dropped: [...request.dropped, ...paced.dropped, ...fitted.dropped],
  };
}

/** A policy without markers means no caching, even if the provider would cache by itself. */
function ownMode(markers: MarkerPart): "implicit" | "explicit" {
  return asksForMarkers(markers) ? "implicit" : "explicit";
}

function requestMarkerOf({
  markers,
  rules,
  blocks,
  pace,
  present = [],
}: Pick<PlanQuestion, "markers" | "rules" | "blocks" | "pace" | "present">): {
  readonly marker: Lifetime | null;
  readonly dropped: readonly DroppedMarker[];
} {
  const rule =
    markers.kind === "rules"
      ? markers.rules.find(({ place }) => place.at === "request")
      : undefined;
  if (rule === undefined) return { marker: null, dropped: [] };
  const { lifetime } = rule;
  const isWasted = sendsOnce(pace, blocks);
  const reason = isWasted ? onlyCall : whyNoRequestMarker(rules.cache, blocks, present);
  if (reason === null) return { marker: offeredLifetime(lifetime, rules.cache), dropped: [] };
  return {
    marker: null,
    dropped: [{ block: blocks.length - 1, lifetime, slot: "rule", reason }],
  };
}

/** A marker of the whole request is placed on its last block, so that block and one slot must be free. */
function whyNoRequestMarker(
  { markers }: ModelFacts["cache"],
  blocks: BlockList,
  present: readonly WireMarker[],
): DropReason | null {
  if (markers === null) return "the provider takes no markers";
  if (!markers.requestLevel) return "the provider takes no marker for a whole request";
  if (present.length >= markers.markersMax) return "over the provider's limit";
  const last = carrierAt(blocks, blocks.length - 1, markers);
  const isTaken = present.some(({ block }) => block === last);
  return isTaken ? "the same place as another marker" : null;
}

/** Shared by all sessions of one kind, so that they find each other's prefixes and no others. */
function cacheKeyOf({ rules, blocks, markers }: PlanQuestion): string | null {
  const takesKey = rules.cache.invalidation.some(({ change }) => change === "cache key");
  if (!takesKey || !asksForMarkers(markers)) return null;
  let key: string | undefined;
  for (let block = 0; block < blocks.length; block += 1) {
    const at = blocks.at(block);
    if (at?.tier !== "T0" && at?.tier !== "T1") break;
    key = at.key;
  }
  return key === undefined ? null : `strata-${key.slice(0, 32)}`;
}

export function toExpectation(
  bill: ExpectedBill,
  { rules, now }: Pick<PlanQuestion, "rules" | "now">,
): CachePlan["expected"] {
  const usage = {
    uncachedTokens: Math.max(0, bill.uncachedTokens),
    cacheReadTokens: bill.readTokens,
    cacheWriteTokens: bill.writeTokens,
    outputTokens: 0,
    reasoningTokens: 0,
  };
  return withMoneyAsText({
    hitBlock: bill.hit?.block ?? null,
    ...bill,
    costPicoUsd: findTotal(usage, rules, { at: now }),
  });
}

function keptBlock({ hit, written }: ExpectedBill): number {
  return Math.max(hit?.block ?? -1, ...written.map(({ block }) => block));
}

/** Tokens in the long-lived entry of this prefix after the call. */
function longKeptTokens(
  bill: ExpectedBill,
  known: readonly KnownEntry[],
  { rules, blocks, now }: PlanQuestion,
  ruler: Ruler,
): number {
  const [short] = rules.cache.lifetimes;
  const long = rules.cache.lifetimes.at(-1)?.lifetime;
  if (long === undefined || long === short?.lifetime) return 0;
  let last = -1;
  const look = (entry: KnownEntry): void => {
    if (entry.lifetime !== long || entry.block <= last || !isLive(entry, now)) return;
    if (blocks.at(entry.block)?.key === entry.key) last = entry.block;
  };
  known.forEach(look);
  bill.written.forEach(look);
  return ruler(last);
}
