// What lies over the prompts of a cross-section: signs, the chosen column, and the layer under the pointer. Drawn alone, so that pointing costs little.
import type { Layer } from "../../picture/find-layers.ts";
import type { Scene } from "../../picture/scene.ts";
import { paintSigns } from "./paint.ts";
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
  const { ink, width, height } = frame;
  const plot = toPlot(scene, frame);
  context.clearRect(0, 0, width, height);
  paintSigns(context, scene, frame);
  context.save();
  context.beginPath();
  context.rect(margin.left - 3, 0, plot.width + 6, height);
  context.clip();
  if (layer !== null) {
    const left = plot.x(scene.edges[layer.from] ?? 0);
    const right = plot.x(scene.edges[layer.to] ?? 1);
    context.strokeStyle = ink.focus;
    context.lineWidth = 1.5;
    context.strokeRect(
      left,
      plot.y(layer.top),
      Math.max(2, right - left),
      Math.max(2, plot.y(layer.bottom) - plot.y(layer.top)),
    );
  }
  if (pointed !== null && pointed !== chosen) frameColumn(context, pointed, 1);
  if (chosen !== null) frameColumn(context, chosen, 2);
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
