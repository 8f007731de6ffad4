// A canvas as wide as its place, drawn sharp on every screen, and drawn again when its size or the colours change.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { readInk, type Ink } from "./ink.ts";

export interface Surface {
  readonly context: CanvasRenderingContext2D;
  readonly ink: Ink;
  readonly width: number;
  readonly height: number;
}

type Own = Omit<JSX.IntrinsicElements["canvas"], "ref" | "height">;

export function Canvas({
  height,
  draw,
  ...own
}: Own & { readonly height: number; readonly draw: (surface: Surface) => void }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawNow = useRef(draw);
  drawNow.current = draw;
  const repaint = useRef(() => {});
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d", { willReadFrequently: true });
    if (!element || !context) return;
    let ink = readInk(context);
    repaint.current = () => {
      const ratio = devicePixelRatio || 1;
      const width = element.clientWidth;
      const [pixels, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (element.width !== pixels || element.height !== rows) {
        element.width = pixels;
        element.height = rows;
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawNow.current({ context, ink, width, height });
    };
    const onColours = (): void => {
      ink = readInk(context);
      repaint.current();
    };
    const sizes = new ResizeObserver(() => repaint.current());
    sizes.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", onColours);
    return () => {
      sizes.disconnect();
      dark.removeEventListener("change", onColours);
    };
  }, [height]);
  useEffect(() => repaint.current());
  return <canvas ref={canvas} style={{ height: `${height}px` }} {...own} />;
}
