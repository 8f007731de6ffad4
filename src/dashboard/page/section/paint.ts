// What lies below and above the prompts of a cross-section: a grid, times, the names of heavy layers, and what happened between calls.
import { columnAt } from "../../picture/place-columns.ts";
import type { Scene } from "../../picture/scene.ts";
import { counted, short, tokens } from "../../words/figures.ts";
import { clock } from "../app/times.ts";
import { paintEvents, type Tools } from "./paint-events.ts";
import { paintLabels } from "./paint-labels.ts";
import { paintPins } from "./paint-pins.ts";
import { depthOf, margin, toPlot, type Frame } from "./plot.ts";

/** What lies below: the paper, and lines at round numbers of tokens. */
export function paintGrid(
  context: CanvasRenderingContext2D,
  scene: Scene,
  { ink, width, height }: Pick<Frame, "ink" | "width" | "height">,
): void {
  const y = depthOf(scene, height, 1);
  context.fillStyle = ink.paper;
  context.fillRect(0, 0, width, height);
  context.font = ink.font;
  context.fillStyle = ink.soft;
  context.strokeStyle = ink.line;
  context.lineWidth = 1;
  context.textAlign = "right";
  const step = niceStep(scene.tokensMax / 5);
  for (let at = 0; at <= scene.tokensMax; at += step) {
    const line = Math.round(y(at)) + 0.5;
    context.beginPath();
    context.moveTo(margin.left, line);
    context.lineTo(width - margin.right, line);
    context.stroke();
    context.fillText(short(at), margin.left - 8, line + 4);
  }
  context.textAlign = "left";
}

/** 1, 2 or 5 times a power of ten, at least as large. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return ([1, 2, 5].find((each) => each * power >= least) ?? 10) * power;
}

/** What is written over the prompts. */
export function paintSigns(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
  const { ink, height } = frame;
  const plot = toPlot(scene, frame);
  const tools = { plot, ink, height, line: ink.textPixels };
  context.font = ink.font;
  paintTimes(context, scene, tools);
  context.save();
  context.beginPath();
  context.rect(margin.left, 0, plot.width, height);
  context.clip();
  paintLabels(context, scene, tools);
  paintEvents(context, scene, tools);
  paintPins(context, scene, tools);
  context.restore();
}

function paintTimes(
  context: CanvasRenderingContext2D,
  scene: Scene,
  { plot, ink, height }: Tools,
): void {
  context.fillStyle = ink.soft;
  const wanted = Math.max(1, Math.floor(plot.width / timesApart));
  for (let tick = 0; tick < wanted; tick += 1) {
    const share = tick / wanted;
    const edge = plot.view.from + share * (plot.view.to - plot.view.from);
    const call = scene.calls[columnAt(scene.edges, edge)];
    if (call === undefined) continue;
    context.fillText(clock(call.startMs), margin.left + share * plot.width, height - 8);
  }
}

/** Pixels from one time to the next. */
const timesApart = 130;

/** For a screen reader, and as the title of the picture. */
export function describeScene({ calls, tokensMax }: Scene): string {
  const misses = calls.filter(({ miss }) => miss !== null).length;
  const folds = calls.filter(({ isCompacted }) => isCompacted).length;
  return `Cross-section of ${counted(calls.length, "call")} with prompts up to ${tokens(tokensMax)}; ${counted(misses, "miss", "misses")}, ${counted(folds, "compaction")}. Arrow keys choose a call.`;
}
