// The strip below a cross-section: dollars per call by bucket, and what another policy would have paid as a line.
import { sliceColumns } from "../../picture/place-columns.ts";
import type { Scene } from "../../picture/scene.ts";
import { dollars } from "../../words/figures.ts";
import { margin, type Frame } from "./paint.ts";

export function paintCosts(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
  const { ink, width, height, view } = frame;
  const most = scene.dollarsMax;
  const depth = height - 14;
  const inner = Math.max(1, width - margin.left - margin.right);
  context.clearRect(0, 0, width, height);
  context.font = ink.font;
  context.fillStyle = ink.soft;
  context.textAlign = "right";
  context.fillText(most === 0 ? "$0" : dollars(most), margin.left - 8, 12);
  context.fillText("$0", margin.left - 8, height - 2);
  context.textAlign = "left";
  if (most === 0) return;
  for (const { x, width: wide, column } of sliceColumns(scene.edges, scene.dollars, {
    view,
    width: inner,
  })) {
    const paid = scene.calls[column]?.dollars;
    if (!paid) continue;
    const buckets = [
      [paid.read, ink.tiers[3] ?? ink.line],
      [paid.written, ink.short],
      [paid.fresh, ink.fresh],
      [paid.output, ink.tiers[0] ?? ink.soft],
    ] as const;
    let bottom = height - 2;
    for (const [amount, colour] of buckets) {
      const size = (depth * amount) / most;
      if (size < sizeMin) continue;
      context.fillStyle = colour;
      context.fillRect(margin.left + x, bottom - size, wide > 6 ? wide - 1.2 : wide, size);
      bottom -= size;
    }
  }
}

/** Pixels: less is not seen. */
const sizeMin = 0.25;
