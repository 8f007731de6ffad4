// The cross-section of a session, to look at, point at, zoom and walk through by keys.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Layer } from "../../picture/find-layers.ts";
import {
  columnAt,
  pan,
  reveal,
  wholeView,
  zoom,
  type Scale,
  type View,
} from "../../picture/place-columns.ts";
import type { PicturedCall } from "../../picture/pictured-call.ts";
import { layerAt, toScene, type Scene } from "../../picture/scene.ts";
import { Canvas } from "./canvas.tsx";
import { Legend } from "./legend.tsx";
import { describeScene, margin, paint } from "./paint.ts";
import { paintCosts } from "./paint-costs.ts";
import { paintOver } from "./paint-over.ts";
import { Tip } from "./tip.tsx";

export interface CrossSectionProps {
  readonly calls: readonly PicturedCall[];
  /** Index of the chosen column. */
  readonly chosen: number | null;
  readonly onChoose: (column: number | null) => void;
  readonly height?: number;
}

interface Pointed {
  readonly column: number;
  readonly layer: Layer | null;
  readonly x: number;
  readonly y: number;
}

export function CrossSection(props: CrossSectionProps): JSX.Element {
  const { calls, chosen, onChoose, height = 420 } = props;
  const [scale, setScale] = useState<Scale>("calls");
  const [view, setView] = useState<View>(wholeView);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const scene = useMemo(() => toScene(calls, scale), [calls, scale]);
  const choose = (column: number): void => {
    const next = Math.max(0, Math.min(calls.length - 1, column));
    setView(reveal(view, scene.edges, next));
    onChoose(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moved = moveOf(event, { chosen, scene, view });
    if (moved === null) return;
    event.preventDefault();
    if (moved.view !== undefined) setView(moved.view);
    if (moved.column === null) onChoose(null);
    else if (moved.column !== undefined) choose(moved.column);
  };
  const pointer = usePointer({ scene, view, height, setView, setPointed, choose });
  return (
    <div class="cross-section">
      <div class="choices">
        <button
          type="button"
          aria-pressed={scale === "time"}
          onClick={() => setScale(scale === "time" ? "calls" : "time")}
        >
          pauses to scale
        </button>
        <button type="button" onClick={() => setView(zoom(view, (view.from + view.to) / 2, 2))}>
          closer
        </button>
        <button type="button" onClick={() => setView(wholeView)} disabled={view === wholeView}>
          whole session
        </button>
      </div>
      <div
        class="plot"
        tabIndex={0}
        role="application"
        aria-label={describeScene(scene)}
        aria-describedby="chosen-call"
        onKeyDown={onKeyDown}
        {...pointer}
      >
        <Canvas
          height={height}
          aria-hidden="true"
          draw={({ context, ...surface }) => paint(context, scene, { ...surface, view })}
        />
        <Canvas
          class="over"
          height={height}
          aria-hidden="true"
          draw={({ context, ...surface }) =>
            paintOver(
              context,
              scene,
              { ...surface, view },
              { chosen, pointed: pointed?.column ?? null, layer: pointed?.layer ?? null },
            )
          }
        />
        {pointed && <Tip scene={scene} {...pointed} />}
      </div>
      <Legend />
      <Canvas
        height={92}
        role="img"
        aria-label="dollars per call"
        draw={({ context, ...surface }) => paintCosts(context, scene, { ...surface, view })}
      />
    </div>
  );
}

interface Where {
  readonly chosen: number | null;
  readonly scene: Scene;
  readonly view: View;
}

/** `column` null: choose none. */
function moveOf(
  { key, shiftKey }: KeyboardEvent,
  { chosen, scene, view }: Where,
): { readonly column?: number | null; readonly view?: View } | null {
  const at = chosen ?? -1;
  const last = scene.calls.length - 1;
  const middle = chosen === null ? (view.from + view.to) / 2 : (scene.edges[chosen] ?? 0);
  switch (key) {
    case "ArrowRight":
      return { column: shiftKey ? nextFault(scene, at, 1) : at + 1 };
    case "ArrowLeft":
      return { column: shiftKey ? nextFault(scene, at, -1) : Math.max(0, at - 1) };
    case "Home":
      return { column: 0 };
    case "End":
      return { column: last };
    case "PageDown":
      return { column: at + 10 };
    case "PageUp":
      return { column: at - 10 };
    case "+":
      return { view: zoom(view, middle, 1.6) };
    case "-":
      return { view: zoom(view, middle, 1 / 1.6) };
    case "0":
      return { view: wholeView };
    case "Escape":
      return chosen === null ? null : { column: null };
    default:
      return null;
  }
}

/** With shift the arrows go from miss to miss. */
function nextFault({ calls }: Scene, from: number, step: 1 | -1): number {
  for (let at = from + step; at >= 0 && at < calls.length; at += step) {
    if (calls[at]?.miss) return at;
  }
  return Math.max(0, from);
}

interface PointerParts {
  readonly scene: Scene;
  readonly view: View;
  readonly height: number;
  readonly setView: (view: View) => void;
  readonly setPointed: (pointed: Pointed | null) => void;
  readonly choose: (column: number) => void;
}

/** Pointing, choosing, dragging, and zooming with the wheel and control. */
function usePointer({ scene, view, height, setView, setPointed, choose }: PointerParts): object {
  const [drag, setDrag] = useState<{ readonly x: number; readonly view: View } | null>(null);
  const edgeOf = (x: number, width: number): number =>
    view.from +
    ((x - margin.left) / Math.max(1, width - margin.left - margin.right)) * (view.to - view.from);
  const placeOf = (event: PointerEvent | WheelEvent): { x: number; y: number; width: number } => {
    const box =
      event.currentTarget instanceof Element ? event.currentTarget.getBoundingClientRect() : null;
    return {
      x: event.clientX - (box?.left ?? 0),
      y: event.clientY - (box?.top ?? 0),
      width: box?.width ?? 1,
    };
  };
  return {
    onPointerDown: (event: PointerEvent) => setDrag({ x: event.clientX, view }),
    onPointerMove: (event: PointerEvent) => {
      const { x, y, width } = placeOf(event);
      if (drag !== null && event.buttons === 1 && Math.abs(event.clientX - drag.x) > 3) {
        const by = ((drag.x - event.clientX) / width) * (drag.view.to - drag.view.from);
        return setView(pan(drag.view, by));
      }
      const column = columnAt(scene.edges, edgeOf(x, width));
      const depth = height - margin.top - margin.bottom;
      const atTokens = ((height - margin.bottom - y) / depth) * scene.tokensMax * 1.04;
      setPointed({ column, layer: layerAt(scene, column, atTokens), x, y });
    },
    onPointerUp: (event: PointerEvent) => {
      const { x, width } = placeOf(event);
      if (drag !== null && Math.abs(event.clientX - drag.x) <= 3)
        choose(columnAt(scene.edges, edgeOf(x, width)));
      setDrag(null);
    },
    onPointerLeave: () => {
      setPointed(null);
      setDrag(null);
    },
    onWheel: (event: WheelEvent) => {
      // Without a key the wheel scrolls the page.
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
      event.preventDefault();
      const { x, width } = placeOf(event);
      setView(
        event.shiftKey
          ? pan(view, Math.sign(event.deltaY || event.deltaX) * 0.1 * (view.to - view.from))
          : zoom(view, edgeOf(x, width), event.deltaY < 0 ? 1.25 : 0.8),
      );
    },
  };
}
