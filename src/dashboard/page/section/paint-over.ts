// What lies over the prompts of a cross-section: signs, the chosen column, and the layer under the pointer.
import type { Layer } from "../../picture/find-layers.ts";
import type { Scene } from "../../picture/scene.ts";
import { paintSigns } from "./paint.ts";
import { paintNamedPins } from "./paint-pins.ts";
import { margin, toPlot, type Frame } from "./plot.ts";

export interface Over {
  /** The chosen column; null for none. */
  readonly chosen: number | null;
  readonly pointed: number | null;
  readonly layer: Layer | null;
}

export function paintOver(
  context: CanvasRenderingContext2D,
  scene: Scene,
  frame: Frame,
  { chosen, pointed, layer }: Over,
): void {
  const { ink, height } = frame;
  const plot = toPlot(scene, frame);
  paintSigns(context, scene, frame);
  context.save();
  context.beginPath();
  context.rect(margin.left - 3, 0, plot.width + 6, height);
  context.clip();
  context.strokeStyle = ink.focus;
  context.lineWidth = 1.5;
  // All of it, also where it lies higher or lower after a change below it.
  for (const part of layer === null ? [] : (scene.strands.get(layer.strand) ?? [])) {
    const left = plot.x(scene.edges[part.from] ?? 0);
    const right = plot.x(scene.edges[part.to] ?? 1);
    const [high, low] = [plot.y(part.top), plot.y(part.bottom)];
    context.strokeRect(left, high, Math.max(2, right - left), Math.max(2, low - high));
  }
  if (pointed !== null && pointed !== chosen) frameColumn(context, pointed, 1);
  if (chosen !== null) frameColumn(context, chosen, 2);
  const named = pointed ?? chosen;
  if (named !== null)
    paintNamedPins(context, scene, named, { plot, ink, height, line: ink.textPixels });
  context.restore();

  function frameColumn(to: CanvasRenderingContext2D, column: number, line: number): void {
    const left = plot.x(scene.edges[column] ?? 0);
    const right = Math.max(left + 2, plot.x(scene.edges[column + 1] ?? 1));
    to.strokeStyle = ink.focus;
    to.lineWidth = line;
    to.strokeRect(
      left - 1.5,
      margin.top - 3,
      right - left + 3,
      height - margin.top - margin.bottom + 3,
    );
  }
}
