// Names on a cross-section: heavy layers say what they are, and what carrying them has cost.
import type { Layer } from "../../picture/find-layers.ts";
import type { Carried, Scene } from "../../picture/scene.ts";
import { counted, dollars, short } from "../../words/figures.ts";
import type { Tools } from "./paint-events.ts";
import { margin, type Plot } from "./plot.ts";
import { widthOf } from "./text-width.ts";

const labelledMax = 5;

/** Where there is room for it, each at its widest place. */
export function paintLabels(
  context: CanvasRenderingContext2D,
  { edges, heaviest }: Scene,
  { plot, ink, line }: Tools,
): void {
  const taken: number[] = [];
  for (const heavy of heaviest) {
    if (taken.length >= labelledMax) return;
    const place = widestPlace(heavy.parts, edges, plot);
    if (place === null || place.low - place.high < line) continue;
    const y = (place.high + place.low) / 2 + line / 3;
    if (taken.some((other) => Math.abs(other - y) < line * 1.4)) continue;
    const text = labelsOf(heavy).find((each) => widthOf(context, each) <= place.room);
    if (text === undefined) continue;
    haloed(context, text, { x: place.left, y, ink });
    taken.push(y);
  }
}

interface Place {
  readonly left: number;
  readonly room: number;
  readonly high: number;
  readonly low: number;
}

/** What was written in its first column is painted over it there, so the name begins in the second. */
function widestPlace(parts: readonly Layer[], edges: Scene["edges"], plot: Plot): Place | null {
  let widest: Place | null = null;
  for (const { from, to, top, bottom } of parts) {
    const start = plot.x(edges[Math.min(from + 1, to)] ?? 0);
    const left = Math.max(margin.left, start) + 6;
    const room = Math.min(margin.left + plot.width, plot.x(edges[to] ?? 1)) - 6 - left;
    if (room <= (widest?.room ?? 0)) continue;
    widest = { left, room, high: plot.y(top), low: plot.y(bottom) };
  }
  return widest;
}

/** Longest first: where there is room it says what carrying it has cost. */
function labelsOf({ section, tokens: size, callCount, dollars: paid }: Carried): readonly string[] {
  const name = `${section}: ${short(size)} tokens`;
  const carried = `${name}, carried for ${counted(callCount, "call")}`;
  return [...(paid === null ? [] : [`${carried}, ${dollars(paid)} so far`]), carried, name];
}

interface Written {
  readonly x: number;
  readonly y: number;
  readonly ink: Tools["ink"];
}

/** Readable over every colour that may lie below. */
export function haloed(
  context: CanvasRenderingContext2D,
  text: string,
  { x, y, ink }: Written,
): void {
  context.strokeStyle = ink.paper;
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeText(text, x, y);
  context.fillStyle = ink.text;
  context.fillText(text, x, y);
  context.lineWidth = 1;
}
