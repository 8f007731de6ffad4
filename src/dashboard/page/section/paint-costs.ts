// The strip below a cross-section: dollars per call by bucket.
import type { Scene } from "../../picture/scene.ts";
import { dollars } from "../../words/figures.ts";
import { createKeptPicture } from "./kept-picture.ts";
import type { PicturedCall } from "../../picture/pictured-call.ts";
import type { Slice } from "../../picture/place-columns.ts";
import type { Ink } from "./ink.ts";
import { gapped } from "./paint-prompts.ts";
import { margin, type Frame } from "./plot.ts";

/** Pixels of the page above and below the bars. */
const [above, below] = [12, 2];

export function createCostPainter(): (
  context: CanvasRenderingContext2D,
  scene: Scene,
  frame: Frame,
) => void {
  const paintBars = createKeptPicture({
    weights: (scene) => scene.dollars,
    paintStrip: (context, { calls, dollarsMax }, { slices, ink, height, ratio }) => {
      const perDollar = ((height - above - below) * ratio) / dollarsMax;
      const foot = (height - below) * ratio;
      for (const { x, width, column } of slices) {
        const paid = calls[column]?.dollars;
        if (!paid) continue;
        const left = Math.round(x);
        const wide = Math.max(1, Math.round(x + gapped(width, ratio)) - left);
        const buckets = [
          [paid.read, ink.tiers[3] ?? ink.line],
          [paid.written, ink.short],
          [paid.fresh, ink.fresh],
          [paid.output, ink.tiers[0] ?? ink.soft],
        ] as const;
        let sum = 0;
        for (const [amount, colour] of buckets) {
          const low = Math.round(foot - sum * perDollar);
          sum += amount;
          const high = Math.round(foot - sum * perDollar);
          if (low <= high) continue;
          context.fillStyle = colour;
          context.fillRect(left, high, wide, low - high);
        }
      }
      const paths = { ink, ratio, y: (amount: number) => foot - amount * perDollar };
      paintCompared(context, calls, slices, paths);
    },
  });
  return (context, scene, frame) => {
    const { ink, width, height } = frame;
    const most = scene.dollarsMax;
    context.clearRect(0, 0, most > 0 ? margin.left : width, height);
    context.font = ink.font;
    context.fillStyle = ink.soft;
    context.textAlign = "right";
    context.fillText(most === 0 ? "$0" : dollars(most), margin.left - 8, above);
    context.fillText("$0", margin.left - 8, height - below);
    context.textAlign = "left";
    if (most > 0) paintBars(context, scene, frame);
  };
}

interface Paths {
  readonly ink: Ink;
  readonly ratio: number;
  readonly y: (amount: number) => number;
}

/** A line in steps, because strips of it are painted one by one. */
function paintCompared(
  context: CanvasRenderingContext2D,
  calls: readonly PicturedCall[],
  slices: readonly Slice[],
  { ink, ratio, y }: Paths,
): void {
  context.strokeStyle = ink.focus;
  context.lineWidth = 1.2 * ratio;
  context.beginPath();
  let isOpen = false;
  for (const { x, width, column } of slices) {
    const amount = calls[column]?.comparedDollars ?? null;
    if (amount === null) {
      isOpen = false;
      continue;
    }
    const at = y(amount);
    if (isOpen) context.lineTo(x, at);
    else context.moveTo(x, at);
    context.lineTo(x + width, at);
    isOpen = true;
  }
  context.stroke();
}
