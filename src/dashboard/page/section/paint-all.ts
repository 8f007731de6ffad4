// A whole cross-section in one canvas: each canvas that changes is copied and mixed with what lies below it, which costs more than painting it.
import type { Scene } from "../../picture/scene.ts";
import { paintOver, type Over } from "./paint-over.ts";
import { createPromptPainter } from "./paint-prompts.ts";
import { paintGrid } from "./paint.ts";
import type { Frame } from "./plot.ts";

export type Painter = (
  context: CanvasRenderingContext2D,
  scene: Scene,
  frame: Frame,
  over: Over,
) => void;

/** Prompts are kept in a canvas that is never shown, so that they can be moved as they were painted. */
export function createPainter(): Painter {
  const paintPrompts = createPromptPainter();
  const kept = document.createElement("canvas");
  // In ordinary memory, as the picture itself.
  const prompts = kept.getContext("2d", { willReadFrequently: true });
  return (context, scene, frame, over) => {
    const { width, height } = context.canvas;
    // It is leaving the page.
    if (width === 0 || height === 0) return;
    if (kept.width !== width) kept.width = width;
    if (kept.height !== height) kept.height = height;
    paintGrid(context, scene, frame);
    if (prompts !== null) {
      paintPrompts(prompts, scene, frame);
      context.drawImage(kept, 0, 0, frame.width, frame.height);
    }
    paintOver(context, scene, frame, over);
  };
}
