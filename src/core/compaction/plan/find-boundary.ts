// Where the kept part of a conversation begins: at the edge of a turn, or inside a turn that is too large to keep.
import type { HistoryMessage } from "../history.ts";
import { findCutPlaces, isAsked, type CutPlaces } from "./cut-places.ts";

/** The last turns stay complete: the current message refers to them. */
const recentTurnsMin = 3;

export interface BoundaryWish {
  /** Keeps at least this many, if the history has as many. */
  readonly keepTokens: number;
  /** Keeps at most this many, if possible. Default: twice as many if turns may be cut, else no limit. */
  readonly keepTokensMax?: number;
  readonly turnsMin?: number;
  /** Whether a turn may be cut before a reply. Its request is then repeated. */
  readonly mayCutInside?: boolean;
}

/** The sizes of a boundary, which is all a decision needs. */
export interface BoundarySizes {
  readonly compactedTokens: number;
  readonly keptTokens: number;
  readonly repeatedTokens: number;
}

export interface Boundary extends BoundarySizes {
  /** Where in the history the kept part begins. */
  readonly at: number;
  /** The same place in the ledger. */
  readonly firstKeptTurnId: string;
  readonly firstKeptIndex: number;
  readonly kind: "turn edge" | "call edge";
  /** Turns that are compacted completely, and turns of which a part is kept. */
  readonly turnsCompacted: number;
  readonly turnsKept: number;
  /** The requests of a cut turn. The compaction repeats them verbatim. */
  readonly repeated: readonly HistoryMessage[];
}

/** Null if nothing can be compacted: the history is too short, or one turn that may not be cut. */
export function findBoundary(
  history: readonly HistoryMessage[],
  wish: BoundaryWish,
): Boundary | null {
  const places = findCutPlaces(history);
  if (places.tokensFrom(0) <= wish.keepTokens) return null;
  const mayCutInside = wish.mayCutInside ?? false;
  const limits = {
    tokensFrom: places.tokensFrom,
    keepTokens: wish.keepTokens,
    keepTokensMax: wish.keepTokensMax ?? (mayCutInside ? 2 * wish.keepTokens : Infinity),
  };
  const turnsMin = Math.max(1, wish.turnsMin ?? recentTurnsMin);
  const edges = findTurnEdges(history, places, turnsMin);
  const edge = chooseEdge(edges, limits);
  const isInsideBetter = mayCutInside && edge?.isClose !== true;
  const inside = isInsideBetter ? findCallEdge(history, places, limits) : null;
  const at = inside ?? edge?.at;
  return at === undefined ? null : toBoundary(history, places, at);
}

/** How much may be kept. */
interface Limits {
  readonly tokensFrom: CutPlaces["tokensFrom"];
  readonly keepTokens: number;
  readonly keepTokensMax: number;
}

/** Oldest first. Something is compacted, and something that was asked is kept. */
function findTurnEdges(
  history: readonly HistoryMessage[],
  { turnStarts, headLength, isFree }: CutPlaces,
  turnsMin: number,
): number[] {
  const lastAsked = history.findLastIndex(isAsked);
  return turnStarts
    .slice(0, Math.max(0, turnStarts.length + 1 - turnsMin))
    .filter((at) => at > headLength && at <= lastAsked && isFree(at));
}

interface ChosenEdge {
  readonly at: number;
  /** No reason to cut a turn: most of the wanted part is kept, and not too much. */
  readonly isClose: boolean;
}

function chooseEdge(
  edges: readonly number[],
  { tokensFrom, keepTokens, keepTokensMax }: Limits,
): ChosenEdge | null {
  const fits = (at: number): boolean => tokensFrom(at) <= keepTokensMax;
  const whole = edges.findLast((at) => tokensFrom(at) >= keepTokens);
  if (whole !== undefined && fits(whole)) return { at: whole, isClose: true };
  const smaller = edges.find(fits);
  if (smaller !== undefined) {
    return { at: smaller, isClose: whole === undefined || tokensFrom(smaller) >= keepTokens / 2 };
  }
  return whole === undefined ? null : { at: whole, isClose: false };
}

/** Inside the newest turn that does not fit completely. Keeps the wanted size, or as little as possible. */
function findCallEdge(
  history: readonly HistoryMessage[],
  places: CutPlaces,
  { tokensFrom, keepTokens, keepTokensMax }: Limits,
): number | null {
  const { turnStarts } = places;
  const fits = (at: number): boolean => tokensFrom(at) <= keepTokensMax;
  const cut = turnStarts.findLastIndex((start) => !fits(start));
  const from = turnStarts[cut];
  if (from === undefined) return null;
  const to = turnStarts[cut + 1] ?? history.length;
  const edges: number[] = [];
  for (let at = from + 1; at < to; at += 1) if (places.isCallEdge(at)) edges.push(at);
  const at =
    edges.findLast((each) => tokensFrom(each) >= keepTokens && fits(each)) ??
    edges.find(fits) ??
    edges.at(-1);
  if (at === undefined) return null;
  const isAskedKept =
    findRepeated(history, places, at).length > 0 || history.findLastIndex(isAsked) >= at;
  return isAskedKept ? at : null;
}

function toBoundary(
  history: readonly HistoryMessage[],
  places: CutPlaces,
  at: number,
): Boundary | null {
  const first = history[at];
  if (first === undefined) return null;
  const { turnStarts } = places;
  const isTurnEdge = turnStarts.includes(at);
  const turnsCompacted = turnStarts.filter((start) => start < at).length - (isTurnEdge ? 0 : 1);
  const repeated = isTurnEdge ? [] : findRepeated(history, places, at);
  const keptTokens = places.tokensFrom(at);
  return {
    at,
    firstKeptTurnId: first.turnId,
    firstKeptIndex: first.index,
    kind: isTurnEdge ? "turn edge" : "call edge",
    compactedTokens: places.tokensFrom(0) - keptTokens,
    keptTokens,
    turnsCompacted,
    turnsKept: turnStarts.length - turnsCompacted,
    repeated,
    repeatedTokens: repeated.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/** If the turn was cut before, that compaction already repeats its request. */
function findRepeated(
  history: readonly HistoryMessage[],
  { turnStarts, headLength }: CutPlaces,
  at: number,
): readonly HistoryMessage[] {
  const start = turnStarts.findLast((each) => each < at) ?? 0;
  const wasCut = start === headLength && (history[start]?.index ?? 0) > 0;
  const head = wasCut ? history.slice(0, headLength) : [];
  return [
    ...head.filter(({ compactionPart }) => compactionPart === "request"),
    ...history.slice(start, at).filter(isAsked),
  ];
}
