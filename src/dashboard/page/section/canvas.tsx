// A canvas as wide as its place, drawn sharp on every screen, and drawn again only when what it shows, its size or the colours change.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { readInk, type Ink } from "./ink.ts";

export interface Surface {
  readonly context: CanvasRenderingContext2D;
  readonly ink: Ink;
  /** In pixels of the page. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the screen for one of the page. */
  readonly ratio: number;
}

type Own = Omit<JSX.IntrinsicElements["canvas"], "ref" | "height">;

interface CanvasProps extends Own {
  readonly height: number;
  /** Every pixel of it is painted: it is shown without mixing it with what lies below. */
  readonly isOpaque?: true;
  /** All that the picture depends on. */
  readonly of: readonly unknown[];
  readonly draw: (surface: Surface) => void;
}

export function Canvas({ height, isOpaque, of, draw, ...own }: CanvasProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawNow = useRef(draw);
  drawNow.current = draw;
  const repaint = useRef(() => {});
  useEffect(() => {
    const element = canvas.current;
    // In ordinary memory: through a graphics library in software the same picture takes ten times as long.
    const context = element?.getContext("2d", {
      willReadFrequently: true,
      alpha: isOpaque !== true,
    });
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
      drawNow.current({ context, ink, width, height, ratio });
    };
    const onColours = (): void => {
      ink = readInk(context);
      repaint.current();
    };
    const sizes = new ResizeObserver(() => {
      const pixels = Math.round(element.clientWidth * (devicePixelRatio || 1));
      if (pixels !== element.width) repaint.current();
    });
    sizes.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", onColours);
    return () => {
      sizes.disconnect();
      dark.removeEventListener("change", onColours);
    };
  }, [height]);
  useEffect(() => repaint.current(), [height, ...of]);
  return <canvas ref={canvas} style={{ height: `${height}px` }} {...own} />;
}
