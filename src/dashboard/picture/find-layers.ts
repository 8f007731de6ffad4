// Calls → layers: what a call added stays at its place in all later columns until the prompt below it changes.
import type { Tier } from "../../core/tokens/budget.ts";
import type { PicturedCall } from "./pictured-call.ts";

/** A rectangle over columns and tokens. */
export interface Layer {
  /** The same for all rectangles of one piece: it is cut, or moves up or down, where the prompt below it changes. */
  readonly strand: number;
  /** The number of the call that first brought it. */
  readonly since: number;
  readonly tier: Tier;
  readonly section: string;
  /** First column, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly bottom: number;
  readonly top: number;
}

type OpenLayer = Omit<Layer, "to">;

/** All rectangles, in the order in which they end. Work follows what was added, not columns times blocks. */
export function findLayers(calls: readonly PicturedCall[]): readonly Layer[] {
  const closed: Layer[] = [];
  const open: OpenLayer[] = [];
  let strandCount = 0;
  const close = (layer: OpenLayer, to: number): void => {
    if (to > layer.from && layer.top > layer.bottom) closed.push({ ...layer, to });
  };
  for (const [index, { number, keptTokens, added }] of calls.entries()) {
    const cut: OpenLayer[] = [];
    while ((open.at(-1)?.top ?? 0) > keptTokens) {
      const layer = open.pop();
      if (layer === undefined) break;
      close(layer, index);
      cut.push(layer);
    }
    // The lower part of the last one goes on.
    const last = cut.at(-1);
    if (last !== undefined && last.bottom < keptTokens) {
      open.push({ ...last, from: index, top: keptTokens });
    }
    let bottom = open.at(-1)?.top ?? 0;
    const add = (tier: Tier, section: string, tokens: number, since: number): void => {
      // What was cut off and is sent again goes on elsewhere.
      const again = since < number ? takeAlike(cut, since, tokens) : undefined;
      const strand = again?.strand ?? strandCount++;
      open.push({ strand, since, tier, section, from: index, bottom, top: bottom + tokens });
      bottom += tokens;
    };
    // The calls that brought it are not known.
    if (keptTokens > bottom) add("T3", "", keptTokens - bottom, number);
    for (const { tier, section, tokens, since } of added) add(tier, section, tokens, since);
  }
  for (const layer of open.toReversed()) close(layer, calls.length);
  return closed;
}

/** The uppermost layer was cut first, and pieces come back from below: so it is looked for from the end, and taken out. */
function takeAlike(cut: OpenLayer[], since: number, tokens: number): OpenLayer | undefined {
  for (let at = cut.length - 1; at >= 0; at -= 1) {
    const layer = cut[at];
    if (layer?.since !== since || layer.top - layer.bottom !== tokens) continue;
    // What lies below it did not come back: it is not looked at again.
    cut.length = at;
    return layer;
  }
  return undefined;
}

/** How much of a column belongs to each tier, from the bottom, as ends: tools, static system, session system, history, rest. */
export type TierEnds = readonly [number, number, number, number, number];

const places: Readonly<Record<Tier, number>> = { T0: 0, T1: 1, T2: 2, T3: 3, T4: 3, T5: 4 };

export function findTierEnds(calls: readonly PicturedCall[]): readonly TierEnds[] {
  // Each piece knows the ends of everything up to it, so the last one knows them all.
  const pieces: PieceEnd[] = [];
  const push = (place: number, top: number): void => {
    const below = pieces.at(-1)?.ends ?? noEnds;
    pieces.push({ place, top, ends: raise(below, place, top) });
  };
  return calls.map(({ keptTokens, added }) => {
    let cut: PieceEnd | undefined;
    while ((pieces.at(-1)?.top ?? 0) > keptTokens) cut = pieces.pop();
    if ((pieces.at(-1)?.top ?? 0) < keptTokens) push(cut?.place ?? places.T3, keptTokens);
    let top = keptTokens;
    for (const { tier, tokens } of added) {
      top += tokens;
      push(places[tier], top);
    }
    return pieces.at(-1)?.ends ?? noEnds;
  });
}

interface PieceEnd {
  readonly place: number;
  readonly top: number;
  readonly ends: TierEnds;
}

const noEnds: TierEnds = [0, 0, 0, 0, 0];

function raise(ends: TierEnds, place: number, top: number): TierEnds {
  const [tools, fixed, session, history, rest] = ends;
  return [
    place > 0 ? tools : top,
    place > 1 ? fixed : top,
    place > 2 ? session : top,
    place > 3 ? history : top,
    Math.max(rest, top),
  ];
}
