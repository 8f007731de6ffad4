// What prompts were made of, column by column: bands by tier, layers by call, and over them what was not read.
import { createKeptPicture, type Strip } from "./kept-picture.ts";
import { depthOf } from "./plot.ts";
import type { Scene } from "../../picture/scene.ts";

/** Paints nothing but prompts, into a canvas of their own. */
export function createPromptPainter(): ReturnType<typeof createKeptPicture> {
  return createKeptPicture({
    weights: ({ unread }) => unread,
    paintStrip: (context, scene, strip) => {
      const y = depthOf(scene, strip.height, strip.ratio);
      const painted = { ...strip, y };
      paintBands(context, scene, painted);
      paintLayers(context, scene, painted);
      paintUnread(context, scene, painted);
    },
  });
}

interface Painted extends Strip {
  readonly y: (atTokens: number) => number;
}

/** Neighbours that look alike are one rectangle: most calls keep tools and system text as they are. */
function paintBands(
  context: CanvasRenderingContext2D,
  { tierEnds }: Scene,
  { slices, ink, y, ratio }: Painted,
): void {
  for (const [place, colour] of ink.tiers.entries()) {
    context.fillStyle = colour;
    let run: Band | null = null as Band | null;
    for (const { x, width, column } of slices) {
      const ends = tierEnds[column];
      const bottom = place === 0 ? 0 : (ends?.[place - 1] ?? 0);
      const top = Math.max(bottom, ends?.[place] ?? 0);
      const left = Math.round(x);
      const band = {
        left,
        right: Math.max(left + 1, Math.round(x + gapped(width, ratio))),
        high: Math.round(y(top)),
        low: Math.round(y(bottom)),
      };
      if (run !== null && isSameBand(run, band)) {
        run = { ...run, right: band.right };
        continue;
      }
      if (run !== null) fillBand(context, run);
      run = band;
    }
    if (run !== null) fillBand(context, run);
  }
}

interface Band {
  readonly left: number;
  readonly right: number;
  readonly high: number;
  readonly low: number;
}

function isSameBand(run: Band, next: Band): boolean {
  return run.high === next.high && run.low === next.low && next.left <= run.right;
}

function fillBand(context: CanvasRenderingContext2D, { left, right, high, low }: Band): void {
  if (low > high) context.fillRect(left, high, right - left, low - high);
}

/** A hair between columns that are wide enough for one. */
export function gapped(width: number, ratio: number): number {
  return width > 6 * ratio ? width - Math.max(1, Math.round(ratio)) : width;
}

/** In view at once: more are not told apart, and cost time. */
const layersMax = 1500;

/** Those that can be seen, largest first: the others keep the colour of their band. How many does not depend on which part is in view. */
function paintLayers(
  context: CanvasRenderingContext2D,
  { edges, layers, outstanding }: Scene,
  { ink, x, y, left: from, right: to, ratio, span }: Painted,
): void {
  const count = Math.min(layers.length, Math.ceil(layersMax / span));
  for (let index = 0; index < count; index += 1) {
    const layer = layers[index];
    if (layer === undefined || (layer.tier !== "T3" && layer.tier !== "T4")) continue;
    const left = Math.round(x(edges[layer.from] ?? 0));
    if (left >= to) continue;
    const end = x(edges[layer.to] ?? 1);
    if (end <= from) continue;
    const high = Math.round(y(layer.top));
    const low = Math.round(y(layer.bottom));
    const right = Math.round(gapped(end - left, ratio) + left);
    if (low <= high || right <= left) continue;
    context.fillStyle = outstanding.has(layer.strand)
      ? ink.heavy
      : (ink.shades[layer.since % ink.shades.length] ?? "");
    context.fillRect(left, high, right - left, low - high);
  }
}

function paintUnread(
  context: CanvasRenderingContext2D,
  { zones }: Scene,
  { slices, ink, y, ratio }: Painted,
): void {
  for (const { x, width, column } of slices) {
    const left = Math.round(x);
    const wide = Math.max(1, Math.round(x + gapped(width, ratio)) - left);
    let bottom = 0;
    for (const { kind, top } of zones[column] ?? []) {
      const [high, low] = [Math.round(y(top)), Math.round(y(bottom))];
      const isNone = top <= bottom;
      bottom = Math.max(bottom, top);
      if (kind === "read" || isNone) continue;
      // What was paid most for is seen, however little it is.
      const height = Math.max(low - high, Math.round((kind === "fresh" ? 2 : 1) * ratio));
      context.fillStyle = ink[kind];
      context.fillRect(left, low - height, wide, height);
    }
  }
}
