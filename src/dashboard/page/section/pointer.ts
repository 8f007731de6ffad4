// Pointing at a cross-section: what lies there, choosing by a click, moving by a drag, zooming by the wheel with control.
import { useState } from "preact/hooks";
import type { Layer } from "../../picture/find-layers.ts";
import { columnAt, pan, zoom, type View } from "../../picture/place-columns.ts";
import { layerAt, type Scene } from "../../picture/scene.ts";
import { margin, topOf } from "./plot.ts";

export interface Pointed {
  readonly column: number;
  readonly layer: Layer | null;
  readonly x: number;
  readonly y: number;
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
export function usePointer({
  scene,
  view,
  height,
  setView,
  setPointed,
  choose,
}: PointerParts): object {
  const [drag, setDrag] = useState<{ readonly x: number; readonly view: View } | null>(null);
  const edgeOf = (x: number, width: number): number =>
    view.from +
    ((x - margin.left) / Math.max(1, width - margin.left - margin.right)) * (view.to - view.from);
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
      const atTokens = ((height - margin.bottom - y) / depth) * topOf(scene);
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

function placeOf(event: PointerEvent | WheelEvent): { x: number; y: number; width: number } {
  const box =
    event.currentTarget instanceof Element ? event.currentTarget.getBoundingClientRect() : null;
  return {
    x: event.clientX - (box?.left ?? 0),
    y: event.clientY - (box?.top ?? 0),
    width: box?.width ?? 1,
  };
}
