// Markers as pins: where the provider was asked to keep the prompt, and for how long.
import { columnAt } from "../../picture/place-columns.ts";
import type { Scene } from "../../picture/scene.ts";
import { haloed } from "./paint-labels.ts";
import type { Tools } from "./paint-events.ts";
import { margin } from "./plot.ts";
import { widthOf } from "./text-width.ts";

/** Pixels of a column that has room for its pins. In narrower ones they hide what they mark. */
const pinnedMin = 18;

export function paintPins(
  context: CanvasRenderingContext2D,
  scene: Scene,
  { plot, ink }: Tools,
): void {
  const { calls, edges } = scene;
  const last = columnAt(edges, plot.view.to);
  for (let column = columnAt(edges, plot.view.from); column <= last; column += 1) {
    const left = plot.x(edges[column] ?? 0);
    const right = plot.x(edges[column + 1] ?? 1);
    if (right - left < pinnedMin) continue;
    for (const { atTokens, lifetime } of calls[column]?.markers ?? []) {
      context.fillStyle = lifetime === "5m" ? ink.text : ink.longLine;
      pin(context, (left + right) / 2, plot.y(atTokens));
    }
  }
}

/** The pins of one column, with what they say. */
export function paintNamedPins(
  context: CanvasRenderingContext2D,
  { calls, edges }: Scene,
  column: number,
  { plot, ink, line }: Tools,
): void {
  const right = Math.min(plot.x(edges[column + 1] ?? 1), margin.left + plot.width);
  let above = -Infinity;
  for (const { atTokens, lifetime, reason } of (calls[column]?.markers ?? []).toReversed()) {
    const y = plot.y(atTokens);
    context.fillStyle = ink.text;
    pin(context, right + 4, y);
    const text = reason === "" ? lifetime : `${lifetime}: ${reason}`;
    // Names of pins that are close stand below each other.
    const at = Math.max(y + line / 3, above + line);
    above = at;
    const room = margin.left + plot.width - right - 12;
    const width = widthOf(context, text);
    const x = room >= width ? right + 11 : Math.max(margin.left, right - width - 12);
    haloed(context, text, { x, y: at, ink });
  }
}

function pin(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x - 3.5, y - 5);
  context.lineTo(x + 3.5, y - 5);
  context.lineTo(x, y);
  context.fill();
}
