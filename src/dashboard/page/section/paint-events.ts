// What happened between calls: faults, compactions, pauses, and the markers of columns that are wide enough.
import { columnAt } from "../../picture/place-columns.ts";
import { pauseBefore, type Scene } from "../../picture/scene.ts";
import { span } from "../../words/figures.ts";
import type { Ink } from "./ink.ts";
import { margin, type Plot } from "./plot.ts";
import { widthOf } from "./text-width.ts";

export interface Tools {
  readonly plot: Plot;
  readonly ink: Ink;
  readonly height: number;
}

interface Line {
  readonly colour: string;
  readonly dash: readonly number[];
  readonly places: number[];
}

/** Each is drawn, however many calls share its pixel; what looks alike is one path. */
export function paintEvents(context: CanvasRenderingContext2D, scene: Scene, tools: Tools): void {
  const { plot, ink } = tools;
  const { calls, edges } = scene;
  const pauses: Line = { colour: ink.soft, dash: [2, 3], places: [] };
  const folds: Line = { colour: ink.good, dash: [6, 3], places: [] };
  const faults: Fault[] = [];
  let labelEnd = 0;
  for (const column of scene.notable) {
    const right = edges[column + 1] ?? 1;
    if (right < plot.view.from) continue;
    if ((edges[column] ?? 0) > plot.view.to) break;
    const left = plot.x(edges[column] ?? 0);
    const pauseMs = pauseBefore(calls, column);
    if (pauseMs > 0) {
      pauses.places.push(left);
      labelEnd = labelPause(context, { left, pauseMs, labelEnd }, tools);
    }
    if (calls[column]?.isCompacted === true) folds.places.push(left);
    const miss = calls[column]?.miss ?? null;
    if (miss !== null) faults.push({ x: (left + plot.x(right)) / 2, y: plot.y(miss.atTokens) });
  }
  paintLines(context, pauses, tools);
  paintLines(context, folds, tools);
  context.fillStyle = ink.good;
  for (const left of folds.places) context.fillText("⌁", left + 2, margin.top - 2);
  paintFaults(context, faults, tools);
  paintMarkers(context, scene, tools);
}

interface Pause {
  readonly left: number;
  readonly pauseMs: number;
  /** Where the last label ended. */
  readonly labelEnd: number;
}

function labelPause(
  context: CanvasRenderingContext2D,
  { left, pauseMs, labelEnd }: Pause,
  { ink }: Tools,
): number {
  if (left - 4 < labelEnd) return labelEnd;
  const text = span(pauseMs);
  context.fillStyle = ink.soft;
  context.fillText(text, left + 3, margin.top - 12);
  return left + 6 + widthOf(context, text);
}

function paintLines(
  context: CanvasRenderingContext2D,
  { colour, dash, places }: Line,
  { height }: Tools,
): void {
  if (places.length === 0) return;
  context.strokeStyle = colour;
  context.setLineDash([...dash]);
  context.beginPath();
  for (const place of places) {
    const x = Math.round(place) - 0.5;
    context.moveTo(x, margin.top - 8);
    context.lineTo(x, height - margin.bottom);
  }
  context.stroke();
  context.setLineDash([]);
}

interface Fault {
  readonly x: number;
  readonly y: number;
}

/** A zigzag where the prompt differs, and a sign above the column. */
function paintFaults(
  context: CanvasRenderingContext2D,
  faults: readonly Fault[],
  { ink }: Tools,
): void {
  if (faults.length === 0) return;
  context.strokeStyle = ink.fault;
  context.lineWidth = 1.6;
  context.beginPath();
  for (const { x, y } of faults) {
    context.moveTo(x - 16, y - 3);
    for (let tooth = -3; tooth <= 4; tooth += 1) {
      context.lineTo(x + tooth * 4, y + (tooth % 2 === 0 ? -3 : 3));
    }
  }
  context.stroke();
  context.lineWidth = 1;
  context.fillStyle = ink.fault;
  context.beginPath();
  for (const { x } of faults) {
    context.moveTo(x - 4, margin.top - 10);
    context.lineTo(x + 4, margin.top - 10);
    context.lineTo(x, margin.top - 2);
  }
  context.fill();
}

/** Pixels of a column that has room for its markers. */
const markedMin = 7;

function paintMarkers(
  context: CanvasRenderingContext2D,
  { calls, edges }: Scene,
  { plot, ink }: Tools,
): void {
  const last = columnAt(edges, plot.view.to);
  for (let column = columnAt(edges, plot.view.from); column <= last; column += 1) {
    const left = plot.x(edges[column] ?? 0);
    const x = (left + plot.x(edges[column + 1] ?? 1)) / 2;
    if ((x - left) * 2 < markedMin) continue;
    for (const { atTokens, lifetime } of calls[column]?.markers ?? []) {
      const y = plot.y(atTokens);
      context.fillStyle = lifetime === "5m" ? ink.text : ink.longLine;
      context.beginPath();
      context.moveTo(x - 3, y - 4);
      context.lineTo(x + 3, y - 4);
      context.lineTo(x, y);
      context.fill();
    }
  }
}
