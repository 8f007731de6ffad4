// Sub-agents of a session as veins below its cross-section: each begins where it was started, and a click opens it.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { placeVeins, type PlacedVein, type Vein } from "../../picture/place-veins.ts";
import type { View } from "../../picture/place-columns.ts";
import type { Scene } from "../../picture/scene.ts";
import { counted, dollars, tokens } from "../../words/figures.ts";
import { Canvas, type Surface } from "./canvas.tsx";
import { margin, toPlot, type Plot } from "./plot.ts";
import { widthOf } from "./text-width.ts";

export interface VeinsProps {
  readonly scene: Scene;
  readonly view: View;
  readonly veins: readonly Vein[];
  readonly onOpen: (session: string) => void;
}

const lanesMax = 5;
/** Of the page. */
const lanePixels = 30;
const callPixels = 4;
/** The times of the picture above, over which branches lie. */
const timesPixels = 28;

export function Veins({ scene, view, veins, onOpen }: VeinsProps): JSX.Element | null {
  const [pointed, setPointed] = useState<PlacedVein | null>(null);
  const [width, setWidth] = useState(0);
  const span = view.to - view.from;
  const shown = useMemo(() => veins.filter(({ calls }) => calls.length > 0), [veins]);
  const { placed, leftOutCount } = useMemo(() => {
    const perPixel = span / Math.max(1, width - margin.left - margin.right);
    const needs = (vein: Vein): number => (lengthOf(vein) + namePixels) * perPixel;
    return placeVeins(shown, scene, { lanesMax, widthOf: needs });
  }, [shown, scene, span, width]);
  if (shown.length === 0) return null;
  const lanes = 1 + Math.max(0, ...placed.map(({ lane }) => lane));
  const height = timesPixels + lanes * lanePixels + 6;
  const veinAt = (event: MouseEvent): PlacedVein | null => {
    const box =
      event.currentTarget instanceof Element ? event.currentTarget.getBoundingClientRect() : null;
    const lane = Math.floor((event.clientY - (box?.top ?? 0) - timesPixels) / lanePixels);
    const plotWidth = Math.max(1, (box?.width ?? 1) - margin.left - margin.right);
    const x = event.clientX - (box?.left ?? 0) - margin.left;
    const at = (each: PlacedVein): number => ((each.from - view.from) / span) * plotWidth;
    return (
      placed.find(
        (each) =>
          each.lane === lane &&
          x >= at(each) - 4 &&
          x <= at(each) + lengthOf(each.vein) + namePixels,
      ) ?? null
    );
  };
  return (
    <>
      <Canvas
        height={height}
        class={pointed === null ? "veins" : "veins pointed"}
        role="img"
        aria-label={`${counted(veins.length, "sub-agent")}: the list of sub-agents has a link to each`}
        title={pointed === null ? undefined : describe(pointed.vein)}
        of={[scene, view, placed, pointed]}
        onMouseMove={(event: MouseEvent) => setPointed(veinAt(event))}
        onMouseLeave={() => setPointed(null)}
        onClick={(event: MouseEvent) => {
          const vein = veinAt(event);
          if (vein !== null) onOpen(vein.vein.session);
        }}
        draw={(surface) => {
          if (surface.width !== width) setWidth(surface.width);
          paintVeins(surface, toPlot(scene, { ...surface, view }), placed, pointed);
        }}
      />
      {leftOutCount > 0 && (
        <p class="note">{counted(leftOutCount, "more sub-agent")}: see the list</p>
      )}
    </>
  );
}

/** Room for a name beside its vein. */
const namePixels = 150;

function lengthOf({ calls }: Vein): number {
  return Math.min(120, calls.length * callPixels);
}

function describe({ name, callCount, dollars: paid, calls }: Vein): string {
  const most = Math.max(0, ...calls.map(({ promptTokens }) => promptTokens));
  return `${name}: ${counted(callCount, "call")}, ${dollars(paid)}, prompts up to ${tokens(most)}`;
}

function paintVeins(
  { context, ink, width, height }: Surface,
  plot: Plot,
  placed: readonly PlacedVein[],
  pointed: PlacedVein | null,
): void {
  context.clearRect(0, 0, width, height);
  context.font = ink.font;
  context.save();
  context.beginPath();
  context.rect(margin.left - 2, 0, plot.width + 4, height);
  context.clip();
  const most = Math.max(
    1,
    ...placed.flatMap(({ vein }) => vein.calls.map((each) => each.promptTokens)),
  );
  for (const each of placed) {
    const [x, y] = [plot.x(each.from), timesPixels + (each.lane + 0.5) * lanePixels];
    const end = Math.max(plot.x(each.to), x + lengthOf(each.vein));
    paintBranch(context, x, y, ink.tiers[2] ?? ink.line);
    paintCalls(context, each, { x, y, end, most, ink });
    context.fillStyle = each === pointed ? ink.focus : ink.soft;
    const text = `${each.vein.name} · ${counted(each.vein.callCount, "call")} · ${dollars(each.vein.dollars)}`;
    const room = margin.left + plot.width - end;
    const wide = widthOf(context, text);
    context.fillText(
      text,
      room > wide + 12 ? end + 8 : Math.max(margin.left, x - wide - 16),
      y + 4,
    );
  }
  context.restore();
}

/** From the foot of the columns down into the lane. */
function paintBranch(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  colour: string,
): void {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - 8, 0);
  context.bezierCurveTo(x - 8, y * 0.7, x - 7, y, x, y);
  context.stroke();
  context.lineWidth = 1;
}

interface CallsAt {
  readonly x: number;
  readonly y: number;
  readonly end: number;
  readonly most: number;
  readonly ink: Surface["ink"];
}

/** As thick as its prompts were long; bright where they were not read. */
function paintCalls(
  context: CanvasRenderingContext2D,
  { vein: { calls } }: PlacedVein,
  { x, y, end, most, ink }: CallsAt,
): void {
  const step = (end - x) / Math.max(1, calls.length);
  for (const [index, { promptTokens, readTokens }] of calls.entries()) {
    const thick = Math.max(3, (promptTokens / most) * (lanePixels - 8));
    const unread = promptTokens === 0 ? 0 : Math.max(0, 1 - readTokens / promptTokens) * thick;
    const left = Math.round(x + index * step);
    const wide = Math.max(1, Math.round(x + (index + 1) * step) - left - (step > 3 ? 1 : 0));
    context.fillStyle = ink.tiers[3] ?? ink.line;
    context.fillRect(left, y - thick / 2, wide, thick);
    if (unread < 0.5) continue;
    context.fillStyle = ink.short;
    context.fillRect(left, y - thick / 2, wide, unread);
  }
}
