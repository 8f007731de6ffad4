// A picture that is moved as it was painted: without zooming, only the strip that came into view is painted anew.
import { sliceColumns, type Slice } from "../../picture/place-columns.ts";
import type { Scene } from "../../picture/scene.ts";
import { hatchPixels, type Ink } from "./ink.ts";
import { margin, toPlot, type Frame } from "./plot.ts";

/** What is to be painted, in pixels of the screen from the left of the plot. */
export interface Strip {
  readonly ink: Ink;
  readonly left: number;
  readonly right: number;
  readonly height: number;
  readonly ratio: number;
  /** How much of the session is in view: 1 is all of it. */
  readonly span: number;
  readonly slices: readonly Slice[];
  readonly x: (edge: number) => number;
}

interface PictureParts {
  /** The heaviest column of those that share a pixel is painted. */
  readonly weights: (scene: Scene) => ArrayLike<number>;
  readonly paintStrip: (context: CanvasRenderingContext2D, scene: Scene, strip: Strip) => void;
}

type Painter = (context: CanvasRenderingContext2D, scene: Scene, frame: Frame) => void;

interface Kept {
  readonly context: CanvasRenderingContext2D;
  readonly scene: Scene;
  readonly ink: Ink;
  readonly height: number;
  readonly pixels: number;
  readonly perEdge: number;
  readonly offset: number;
}

/** Paints into the plot of a canvas and leaves its margins alone. */
export function createKeptPicture({ weights, paintStrip }: PictureParts): Painter {
  let kept: Kept | null = null;
  return (context, scene, frame) => {
    const next = toKept(context, scene, frame);
    const { pixels, perEdge, offset, height } = next;
    const [left, ratio] = [Math.round(margin.left * frame.ratio), frame.ratio];
    const paintPart = (from: number, to: number): void => {
      context.save();
      context.beginPath();
      context.rect(left + from, 0, to - from, height);
      context.clip();
      context.clearRect(left + from, 0, to - from, height);
      const view = { from: (offset + from) / perEdge, to: (offset + to) / perEdge };
      const slices = sliceColumns(scene.edges, weights(scene), { view, width: to - from });
      paintStrip(context, scene, {
        ink: hatchedFrom(frame.ink, left - offset),
        left: left + from,
        right: left + to,
        height: frame.height,
        ratio,
        span: pixels / perEdge,
        slices: slices.map((slice) => ({ ...slice, x: slice.x + left + from })),
        x: (edge) => left + edge * perEdge - offset,
      });
      context.restore();
    };
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    const moved = kept === null || !isAlike(kept, next) ? pixels : offset - kept.offset;
    if (Math.abs(moved) >= pixels) paintPart(0, pixels);
    else if (moved !== 0) {
      shift(context, { left, pixels, height, moved });
      if (moved > 0) paintPart(pixels - moved, pixels);
      else paintPart(0, -moved);
    }
    context.restore();
    kept = next;
  };
}

function toKept(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): Kept {
  const { ink, height, ratio } = frame;
  const { width, view } = toPlot(scene, frame);
  const pixels = Math.round(width * ratio);
  const perEdge = pixels / (view.to - view.from);
  const offset = Math.round(view.from * perEdge);
  return { context, scene, ink, height: Math.round(height * ratio), pixels, perEdge, offset };
}

/** Hatching moves with what is hatched. */
function hatchedFrom(ink: Ink, x: number): Ink {
  if (typeof ink.long !== "string") {
    ink.long.setTransform(new DOMMatrix([1, 0, 0, 1, x % hatchPixels, 0]));
  }
  return ink;
}

interface Shift {
  readonly left: number;
  readonly pixels: number;
  readonly height: number;
  /** To the left. */
  readonly moved: number;
}

function shift(context: CanvasRenderingContext2D, { left, pixels, height, moved }: Shift): void {
  const stays = pixels - Math.abs(moved);
  const [from, to] = moved > 0 ? [left + moved, left] : [left, left - moved];
  context.save();
  context.beginPath();
  context.rect(to, 0, stays, height);
  context.clip();
  context.globalCompositeOperation = "copy";
  context.drawImage(context.canvas, from, 0, stays, height, to, 0, stays, height);
  context.restore();
}

function isAlike(left: Kept, right: Kept): boolean {
  return (
    left.context === right.context &&
    left.scene === right.scene &&
    left.ink === right.ink &&
    left.height === right.height &&
    left.pixels === right.pixels &&
    // A span is a difference of two numbers, which moves its last digits.
    Math.abs(left.perEdge / right.perEdge - 1) < 1e-9
  );
}
