// Between the pixels of a cross-section and its columns and tokens.
import { snap, type View } from "../../picture/place-columns.ts";
import type { Scene } from "../../picture/scene.ts";
import type { Ink } from "./ink.ts";

export interface Frame {
  readonly ink: Ink;
  readonly view: View;
  /** Width of the whole canvas, in pixels of the page. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the screen for one of the page. */
  readonly ratio: number;
}

export const margin = { left: 58, right: 8, top: 36, bottom: 28 } as const;

export interface Plot {
  readonly width: number;
  readonly view: View;
  readonly x: (edge: number) => number;
  readonly y: (atTokens: number) => number;
}

/** In pixels of the page. */
export function toPlot(scene: Scene, { view, width: whole, height, ratio }: Frame): Plot {
  const width = Math.max(1, whole - margin.left - margin.right);
  const shown = snap(view, Math.round(width * ratio));
  const toPixels = width / (shown.to - shown.from);
  return {
    width,
    view: shown,
    x: (edge) => margin.left + (edge - shown.from) * toPixels,
    y: depthOf(scene, height, 1),
  };
}

/** From the axis, which is `margin.bottom` above the foot of the canvas. */
export function depthOf(scene: Scene, height: number, ratio: number): Plot["y"] {
  const foot = (height - margin.bottom) * ratio;
  const perToken = ((height - margin.top - margin.bottom) * ratio) / topOf(scene);
  return (atTokens) => foot - atTokens * perToken;
}

/** A little air above the longest prompt. */
export function topOf({ tokensMax }: Scene): number {
  return tokensMax * 1.04;
}
