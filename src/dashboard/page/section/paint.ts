// Draws a cross-section: bands by tier, layers by call, and over them what was not read.
import type { PicturedCall } from "../../picture/pictured-call.ts";
import { sliceColumns, type Slice, type View } from "../../picture/place-columns.ts";
import { zonesOf, type Carried, type Scene } from "../../picture/scene.ts";
import { dollars, short, tokens } from "../../words/figures.ts";
import type { Ink } from "./ink.ts";

export interface Frame {
  readonly ink: Ink;
  readonly view: View;
  /** Of the whole canvas, in pixels of the page. */
  readonly width: number;
  readonly height: number;
}

export const margin = { left: 52, right: 8, top: 28, bottom: 26 } as const;

/** Between pixels and tokens. */
export interface Plot {
  readonly width: number;
  readonly x: (edge: number) => number;
  readonly y: (atTokens: number) => number;
  readonly slices: readonly Slice[];
}

export function toPlot(scene: Scene, { view, width: whole, height }: Omit<Frame, "ink">): Plot {
  const width = Math.max(1, whole - margin.left - margin.right);
  const depth = height - margin.top - margin.bottom;
  const top = scene.tokensMax * 1.04;
  const x = (edge: number): number =>
    margin.left + ((edge - view.from) / (view.to - view.from)) * width;
  const y = (at: number): number => height - margin.bottom - (at / top) * depth;
  const slices = sliceColumns(scene.edges, scene.unread, { view, width });
  return { width, x, y, slices };
}

export function paint(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
  const { ink } = frame;
  const plot = toPlot(scene, frame);
  context.clearRect(0, 0, frame.width, frame.height);
  paintGrid(context, scene, { frame, plot, ink });
  context.save();
  context.beginPath();
  context.rect(margin.left, 0, plot.width, frame.height);
  context.clip();
  paintBands(context, scene, { plot, ink });
  paintLayers(context, scene, { frame, plot, ink });
  paintUnread(context, scene, { plot, ink });
  paintLabels(context, scene, { frame, plot, ink });
  paintEvents(context, scene, { frame, plot, ink });
  context.restore();
}

interface Tools {
  readonly frame: Frame;
  readonly plot: Plot;
  readonly ink: Ink;
}

function paintGrid(
  context: CanvasRenderingContext2D,
  scene: Scene,
  { frame, plot, ink }: Tools,
): void {
  context.font = ink.font;
  context.fillStyle = ink.soft;
  context.strokeStyle = ink.line;
  context.lineWidth = 1;
  context.textAlign = "right";
  const step = niceStep(scene.tokensMax / 5);
  for (let at = 0; at <= scene.tokensMax; at += step) {
    const y = Math.round(plot.y(at)) + 0.5;
    context.beginPath();
    context.moveTo(margin.left, y);
    context.lineTo(frame.width - margin.right, y);
    context.stroke();
    context.fillText(short(at), margin.left - 8, y + 4);
  }
  context.textAlign = "left";
}

/** 1, 2 or 5 times a power of ten, at least as large. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return ([1, 2, 5].find((each) => each * power >= least) ?? 10) * power;
}

/** Neighbours that look alike are one rectangle: most calls keep tools and system text as they are. */
function paintBands(
  context: CanvasRenderingContext2D,
  { tierEnds }: Scene,
  { plot, ink }: Omit<Tools, "frame">,
): void {
  for (const [place, colour] of ink.tiers.entries()) {
    context.fillStyle = colour;
    let run: Band | null = null as Band | null;
    for (const { x, width, column } of plot.slices) {
      const ends = tierEnds[column];
      const bottom = place === 0 ? 0 : (ends?.[place - 1] ?? 0);
      const top = Math.max(bottom, ends?.[place] ?? 0);
      const band = {
        left: margin.left + x,
        right: margin.left + x + gapped(width),
        y: Math.round(plot.y(top)),
        low: Math.round(plot.y(bottom)),
      };
      const isSame = run !== null && run.y === band.y && run.low === band.low;
      if (run !== null && isSame && band.left - run.right < 0.5) {
        run = { left: run.left, right: band.right, y: run.y, low: run.low };
        continue;
      }
      if (run !== null) fillBand(context, run);
      run = band;
    }
    if (run !== null) fillBand(context, run);
  }
}

interface Band {
  readonly left: number;
  readonly right: number;
  readonly y: number;
  readonly low: number;
}

function fillBand(context: CanvasRenderingContext2D, { left, right, y, low }: Band): void {
  if (low > y) context.fillRect(left, y, right - left, low - y);
}

/** A hair between columns that are wide enough for one. */
function gapped(width: number): number {
  return width > 6 ? width - 1.2 : width;
}

/** More are not told apart, and cost time in every frame. */
const layersMax = 1500;

/** Those that can be seen, largest first: the others keep the colour of their band. */
function paintLayers(
  context: CanvasRenderingContext2D,
  { edges, layers }: Scene,
  { frame, plot, ink }: Tools,
): void {
  let drawn = 0;
  for (const { tier, call, from, to, bottom, top } of layers) {
    if (tier !== "T3" && tier !== "T4") continue;
    const y = plot.y(top);
    const height = plot.y(bottom) - y;
    if (height < 0.75) continue;
    const left = Math.max(margin.left, plot.x(edges[from] ?? 0));
    const right = Math.min(frame.width, plot.x(edges[to] ?? 1));
    if (right - left < 0.75) continue;
    context.fillStyle = ink.shades[call % ink.shades.length] ?? "";
    context.fillRect(left, y, gapped(right - left), height);
    drawn += 1;
    if (drawn === layersMax) break;
  }
}

function paintUnread(
  context: CanvasRenderingContext2D,
  { calls }: Scene,
  { plot, ink }: Omit<Tools, "frame">,
): void {
  for (const { x, width, column } of plot.slices) {
    const call = calls[column];
    if (call === undefined) continue;
    let bottom = 0;
    for (const { kind, top } of zonesOf(call)) {
      const [high, low] = [plot.y(top), plot.y(bottom)];
      bottom = Math.max(bottom, top);
      if (kind === "read" || low <= high) continue;
      // What was paid most for is seen, however little it is.
      const height = Math.max(low - high, kind === "fresh" ? 2 : 1);
      context.fillStyle = ink[kind];
      context.fillRect(margin.left + x, low - height, gapped(width), height);
    }
  }
}

const labelledMax = 5;

/** Heavy layers name themselves where there is room for it. */
function paintLabels(
  context: CanvasRenderingContext2D,
  scene: Scene,
  { frame, plot, ink }: Tools,
): void {
  context.font = ink.font;
  const taken: number[] = [];
  for (const heavy of scene.heaviest) {
    if (taken.length >= labelledMax) return;
    const left = Math.max(margin.left, plot.x(scene.edges[heavy.from] ?? 0)) + 8;
    const right = Math.min(frame.width - margin.right, plot.x(scene.edges[heavy.to] ?? 1)) - 8;
    const y = (plot.y(heavy.top) + plot.y(heavy.bottom)) / 2 + 4;
    const isThin = plot.y(heavy.bottom) - plot.y(heavy.top) < 11;
    if (isThin || taken.some((other) => Math.abs(other - y) < 15)) continue;
    const text = labelsOf(heavy).find((each) => context.measureText(each).width <= right - left);
    if (text === undefined) continue;
    context.fillStyle = ink.text;
    context.fillText(text, left, y);
    taken.push(y);
  }
}

/** Longest first: where there is room it says what carrying it has cost. */
function labelsOf({ section, tokens: size, callCount, dollars: paid }: Carried): readonly string[] {
  const name = `${section}: ${short(size)} tokens`;
  const carried = `${name}, carried for ${callCount} calls`;
  return [...(paid === null ? [] : [`${carried}, ${dollars(paid)} so far`]), carried, name];
}

/** Faults, compactions, pauses and markers: each is drawn, however many calls share its pixel. */
function paintEvents(context: CanvasRenderingContext2D, scene: Scene, tools: Tools): void {
  const { calls } = scene;
  let labelEnd = 0;
  for (const { x, width, first, last } of tools.plot.slices) {
    for (let index = first; index <= last; index += 1) {
      const call = calls[index];
      if (call === undefined) continue;
      const left = margin.left + x;
      const gapMs = call.startMs - (calls[index - 1]?.startMs ?? call.startMs);
      if (gapMs > pauseMs) labelEnd = paintPause(context, { left, gapMs, labelEnd }, tools);
      if (call.isCompacted) paintFold(context, left, tools);
      if (call.miss !== null) paintFault(context, { call, left, width }, tools);
      if (width >= 7) paintMarkers(context, { call, left, width }, tools);
    }
  }
}

/** Longer than the shortest lifetime of most providers. */
const pauseMs = 300_000;

function paintPause(
  context: CanvasRenderingContext2D,
  {
    left,
    gapMs,
    labelEnd,
  }: { readonly left: number; readonly gapMs: number; readonly labelEnd: number },
  { frame, ink }: Tools,
): number {
  dashed(context, [2, 3], ink.soft, left - 1, frame.height);
  const text =
    gapMs >= 5_400_000 ? `${Math.round(gapMs / 3_600_000)} h` : `${Math.round(gapMs / 60_000)} min`;
  if (left - 4 < labelEnd) return labelEnd;
  context.fillStyle = ink.soft;
  context.fillText(text, left + 3, margin.top - 12);
  return left + 6 + context.measureText(text).width;
}

function paintFold(context: CanvasRenderingContext2D, left: number, { frame, ink }: Tools): void {
  dashed(context, [6, 3], ink.good, left - 1, frame.height);
  context.fillStyle = ink.good;
  context.fillText("⌁", left + 2, margin.top - 2);
}

function dashed(
  context: CanvasRenderingContext2D,
  dash: readonly number[],
  colour: string,
  x: number,
  height: number,
): void {
  context.strokeStyle = colour;
  context.setLineDash([...dash]);
  context.beginPath();
  context.moveTo(x, margin.top - 8);
  context.lineTo(x, height - margin.bottom);
  context.stroke();
  context.setLineDash([]);
}

interface DrawnCall {
  readonly call: PicturedCall;
  readonly left: number;
  readonly width: number;
}

function paintFault(
  context: CanvasRenderingContext2D,
  { call, left, width }: DrawnCall,
  { plot, ink }: Tools,
): void {
  const y = plot.y(call.miss?.atTokens ?? 0);
  const centre = left + width / 2;
  context.strokeStyle = ink.fault;
  context.lineWidth = 1.6;
  context.beginPath();
  for (let tooth = -4; tooth <= 4; tooth += 1) {
    context.lineTo(centre + tooth * 4, y + (tooth % 2 === 0 ? -3 : 3));
  }
  context.stroke();
  context.lineWidth = 1;
  context.fillStyle = ink.fault;
  context.beginPath();
  context.moveTo(centre - 4, margin.top - 10);
  context.lineTo(centre + 4, margin.top - 10);
  context.lineTo(centre, margin.top - 2);
  context.fill();
}

function paintMarkers(
  context: CanvasRenderingContext2D,
  { call, left, width }: DrawnCall,
  { plot, ink }: Tools,
): void {
  for (const { atTokens, lifetime } of call.markers) {
    const y = plot.y(atTokens);
    const x = left + width / 2;
    context.fillStyle = lifetime === "5m" ? ink.text : ink.longLine;
    context.beginPath();
    context.moveTo(x - 3, y - 4);
    context.lineTo(x + 3, y - 4);
    context.lineTo(x, y);
    context.fill();
  }
}

/** For a screen reader, and as the title of the picture. */
export function describeScene({ calls, tokensMax }: Scene): string {
  const misses = calls.filter(({ miss }) => miss !== null).length;
  const folds = calls.filter(({ isCompacted }) => isCompacted).length;
  return `Cross-section of ${calls.length} calls with prompts up to ${tokens(tokensMax)}; ${misses} misses, ${folds} compactions. Arrow keys choose a call.`;
}
