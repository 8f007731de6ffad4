// What the keys do in a cross-section: arrows choose calls, with shift misses; + and - zoom, 0 shows everything.
import { wholeView, zoom, type View } from "../../picture/place-columns.ts";
import type { Scene } from "../../picture/scene.ts";

interface Where {
  readonly chosen: number | null;
  readonly scene: Scene;
  readonly view: View;
}

/** `column` null: choose none. */
export function moveOf(
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
