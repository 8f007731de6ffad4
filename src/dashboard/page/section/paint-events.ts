// What happened between calls: faults where the cache broke, folds where the history was compacted, and long pauses.
import { pauseBefore, type Scene } from "../../picture/scene.ts";
import { short, span } from "../../words/figures.ts";
import type { Ink } from "./ink.ts";
import { margin, type Plot } from "./plot.ts";
import { widthOf } from "./text-width.ts";

export interface Tools {
  readonly plot: Plot;
  readonly ink: Ink;
  readonly height: number;
  /** The height of a line of text. */
  readonly line: number;
}

/** Each is drawn, however many calls share its pixel; what looks alike is one path. */
export function paintEvents(context: CanvasRenderingContext2D, scene: Scene, tools: Tools): void {
  const { plot } = tools;
  const { calls, edges } = scene;
  const pauses: number[] = [];
  const folds: Fold[] = [];
  const faults: Fault[] = [];
  const titles: Title[] = [];
  for (const column of scene.notable) {
    const right = edges[column + 1] ?? 1;
    if (right < plot.view.from) continue;
    if ((edges[column] ?? 0) > plot.view.to) break;
    const call = calls[column];
    if (call === undefined) continue;
    const left = plot.x(edges[column] ?? 0);
    const pauseMs = pauseBefore(calls, column);
    if (pauseMs > 0) {
      pauses.push(left);
      titles.push({ left, text: span(pauseMs), isFold: false });
    }
    const prompt = scene.prompts[column] ?? 0;
    if (call.isCompacted) {
      const old = scene.prompts[column - 1] ?? prompt;
      folds.push({ x: left, from: plot.y(old), to: plot.y(prompt) });
      titles.push({ left, text: `compacted ${short(old)} → ${short(prompt)}`, isFold: true });
    }
    if (call.miss !== null) {
      const wide = plot.x(right) - left;
      faults.push({ x: left, wide, foot: plot.y(call.miss.atTokens), head: plot.y(prompt) });
    }
  }
  paintPauses(context, pauses, tools);
  paintFolds(context, folds, tools);
  paintTitles(context, titles, tools);
  paintFaults(context, faults, tools);
}

interface Title {
  readonly left: number;
  readonly text: string;
  readonly isFold: boolean;
}

/** In the order of time; one that would lie over the one before it is left out, because its line says what it is. */
function paintTitles(
  context: CanvasRenderingContext2D,
  titles: readonly Title[],
  { plot, ink }: Tools,
): void {
  let end = 0;
  const last = margin.left + plot.width;
  for (const { left, text, isFold } of titles) {
    const width = widthOf(context, text);
    const x = Math.min(left + 3, last - width);
    if (x < end) continue;
    context.fillStyle = isFold ? ink.good : ink.soft;
    context.fillText(text, x, margin.top - 16);
    end = x + width + 8;
  }
}

function paintPauses(
  context: CanvasRenderingContext2D,
  places: readonly number[],
  { ink, height }: Tools,
): void {
  if (places.length === 0) return;
  context.strokeStyle = ink.soft;
  context.setLineDash([2, 3]);
  context.beginPath();
  for (const place of places) {
    const x = Math.round(place) - 0.5;
    context.moveTo(x, margin.top - 12);
    context.lineTo(x, height - margin.bottom);
  }
  context.stroke();
  context.setLineDash([]);
}

interface Fold {
  readonly x: number;
  /** Where the prompt before it ended, and where this one does. */
  readonly from: number;
  readonly to: number;
}

/** The old surface bends down to the new one. */
function paintFolds(
  context: CanvasRenderingContext2D,
  folds: readonly Fold[],
  { ink }: Tools,
): void {
  if (folds.length === 0) return;
  context.strokeStyle = ink.good;
  context.lineWidth = 2;
  context.setLineDash([6, 3]);
  context.beginPath();
  for (const { x, from, to } of folds) {
    context.moveTo(x, margin.top - 10);
    context.lineTo(x, from);
    context.bezierCurveTo(
      x + 14,
      from + (to - from) * 0.35,
      x - 14,
      to - (to - from) * 0.35,
      x,
      to,
    );
  }
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 1;
}

interface Fault {
  readonly x: number;
  /** Of its column. */
  readonly wide: number;
  /** From where the prompt was not read up to its end. */
  readonly foot: number;
  readonly head: number;
}

/** More than these are drawn straight: their teeth would not be seen, and cost time. */
const jaggedMax = 60;
const tooth = 6;

/** A crack from the place where the prompt differs up to its surface, and a sign above the column. */
function paintFaults(
  context: CanvasRenderingContext2D,
  faults: readonly Fault[],
  { ink }: Tools,
): void {
  if (faults.length === 0) return;
  const isJagged = faults.length <= jaggedMax;
  const path = (): void => {
    context.beginPath();
    for (const fault of faults) {
      if (isJagged) crack(context, fault);
      else {
        context.moveTo(fault.x, fault.foot);
        context.lineTo(fault.x, fault.head);
      }
    }
    context.stroke();
  };
  context.lineJoin = "miter";
  if (isJagged) {
    context.strokeStyle = ink.paper;
    context.lineWidth = 4;
    path();
  }
  context.strokeStyle = ink.fault;
  context.lineWidth = isJagged ? 1.8 : 1;
  path();
  context.lineWidth = 1;
  context.fillStyle = ink.fault;
  context.beginPath();
  for (const { x, wide } of faults) {
    const middle = x + wide / 2;
    context.moveTo(middle - 4.5, margin.top - 11);
    context.lineTo(middle + 4.5, margin.top - 11);
    context.lineTo(middle, margin.top - 3);
  }
  context.fill();
}

function crack(context: CanvasRenderingContext2D, { x, foot, head }: Fault): void {
  context.moveTo(x - 5, foot);
  let side = 1;
  for (let y = foot - tooth; y > head; y -= tooth) {
    context.lineTo(x + side * 2.6, y);
    side = -side;
  }
  context.lineTo(x, head - 2);
}
