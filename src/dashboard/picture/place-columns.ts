// Where the columns of a cross-section stand: side by side, or to the scale of time. Many calls share a pixel where they must.
import type { PicturedCall } from "./pictured-call.ts";

/** Left edges of all columns and the right edge of the last one, from 0 to 1. */
export type Edges = Float64Array;

export type Scale = "calls" | "time";

export function placeColumns(calls: readonly PicturedCall[], scale: Scale): Edges {
  const count = calls.length;
  const edges = new Float64Array(count + 1);
  if (scale === "calls") return edges.map((_, index) => index / Math.max(1, count));
  const start = calls[0]?.startMs ?? 0;
  const end = calls.at(-1)?.startMs ?? start;
  // The last call is as wide as a call is on average.
  const span = (end - start) * (1 + 1 / Math.max(1, count - 1)) || 1;
  for (const [index, { startMs }] of calls.entries()) {
    // A clock that was set back moves no column to the left.
    edges[index] = Math.max((startMs - start) / span, edges[index - 1] ?? 0);
  }
  edges[count] = 1;
  return edges;
}

/** The part of the edges that is shown. */
export interface View {
  readonly from: number;
  readonly to: number;
}

export const wholeView: View = { from: 0, to: 1 };

export interface Slice {
  /** Pixels from the left of the plot. */
  readonly x: number;
  readonly width: number;
  /** The column that is drawn: the one with most tokens that were not read. */
  readonly column: number;
  readonly first: number;
  readonly last: number;
}

/** At most one slice per pixel. `weights`: the heaviest column of a slice is drawn. */
export function sliceColumns(
  edges: Edges,
  weights: ArrayLike<number>,
  { view, width }: { readonly view: View; readonly width: number },
): readonly Slice[] {
  const slices: Slice[] = [];
  const pixel = (edge: number): number => ((edge - view.from) / (view.to - view.from)) * width;
  const count = edges.length - 1;
  for (let first = firstVisible(edges, view); first < count;) {
    const x = pixel(edges[first] ?? 0);
    if (x >= width) break;
    let last = first;
    let column = first;
    const end = Math.floor(x + rounding) + 1 + rounding;
    while (last + 1 < count && pixel(edges[last + 2] ?? 1) <= end) {
      last += 1;
      if ((weights[last] ?? 0) > (weights[column] ?? 0)) column = last;
    }
    const right = pixel(edges[last + 1] ?? 1);
    slices.push({ x, width: Math.max(1, right - x), column, first, last });
    first = last + 1;
  }
  return slices;
}

/** Pixels: edges are sums of fractions. */
const rounding = 1e-6;

/** The column at an edge; the nearest one beyond the ends. */
export function columnAt(edges: Edges, edge: number): number {
  let low = 0;
  let high = edges.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edges[middle + 1] ?? 1) > edge) high = middle;
    else low = middle + 1;
  }
  return Math.max(0, Math.min(low, edges.length - 2));
}

function firstVisible(edges: Edges, view: View): number {
  return columnAt(edges, view.from);
}

/** The same place stays under the pointer. `factor` above 1 shows less. */
export function zoom({ from, to }: View, at: number, factor: number): View {
  const span = Math.min(1, Math.max(spanMin, (to - from) / factor));
  const share = (at - from) / (to - from);
  return moveTo(at - share * span, span);
}

export function pan({ from, to }: View, by: number): View {
  return moveTo(from + by, to - from);
}

/** Moves as little as needed to show a column. */
export function reveal(view: View, edges: Edges, column: number): View {
  const [left, right] = [edges[column] ?? 0, edges[column + 1] ?? 1];
  if (left < view.from) return moveTo(left, view.to - view.from);
  if (right > view.to) return moveTo(right - (view.to - view.from), view.to - view.from);
  return view;
}

/** The same part, beginning at a whole pixel: what is moved without zooming can be moved as it was painted. */
export function snap({ from, to }: View, pixels: number): View {
  const span = to - from;
  const start = (Math.round((from / span) * pixels) / pixels) * span;
  return { from: start, to: start + span };
}

/** Finer than 10,000 calls on a wall. */
const spanMin = 1 / 5000;

function moveTo(from: number, span: number): View {
  const start = Math.max(0, Math.min(1 - span, from));
  return { from: start, to: start + span };
}
