// Calls → layers: what a call added stays at its place in all later columns until the prompt below it changes.
import type { Tier } from "../../core/tokens/budget.ts";
import type { PicturedCall } from "./pictured-call.ts";

/** A rectangle over columns and tokens. */
export interface Layer {
  /** Index of the call that added it. */
  readonly call: number;
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
  const close = (layer: OpenLayer, to: number): void => {
    if (to > layer.from && layer.top > layer.bottom) closed.push({ ...layer, to });
  };
  for (const [index, { keptTokens, added }] of calls.entries()) {
    let cut: OpenLayer | undefined;
    while ((open.at(-1)?.top ?? 0) > keptTokens) {
      cut = open.pop();
      if (cut !== undefined) close(cut, index);
    }
    // The lower part of the last one goes on.
    if (cut !== undefined && cut.bottom < keptTokens) {
      open.push({ ...cut, from: index, top: keptTokens });
    }
    let bottom = open.at(-1)?.top ?? 0;
    if (keptTokens > bottom) {
      // The calls that brought it are not known.
      open.push({ call: index, tier: "T3", section: "", from: index, bottom, top: keptTokens });
      bottom = keptTokens;
    }
    for (const { tier, section, tokens } of added) {
      open.push({ call: index, tier, section, from: index, bottom, top: bottom + tokens });
      bottom += tokens;
    }
  }
  for (const layer of open.toReversed()) close(layer, calls.length);
  return closed;
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
