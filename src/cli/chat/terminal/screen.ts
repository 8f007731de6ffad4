// A scrolling terminal: finished lines are written once, the few lines below them are redrawn.
import { stripVTControlCharacters } from "node:util";
import { draw, nothingPrinted, type Drawing } from "../render/render.ts";
import type { ChatState } from "../state/state.ts";
import { widthOf } from "../words/text-width.ts";

export interface Screen {
  /** Draws soon, at a limited rate. */
  show(state: ChatState): void;
  /** Clears the screen and draws at once. */
  clear(state: ChatState): void;
  /** Erases the live lines; nothing is drawn after that. */
  end(): void;
}

/** The parts of a terminal's output that are used. */
export interface ScreenOutput {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

/** About as fast as the eye can see. */
const usualIntervalMs = 33;

export function createScreen(
  output: ScreenOutput,
  colours: boolean,
  intervalMs: number = usualIntervalMs,
): Screen {
  let printed = nothingPrinted;
  let shown: Pick<Drawing, "live" | "cursor"> = { live: [], cursor: { line: 0, column: 0 } };
  let latest: ChatState | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isEnded = false;
  let drawnMs = -intervalMs;

  /** Moves to where the drawing began and erases the rest. Counts lines as a narrower window has wrapped them. */
  const erase = (): string => {
    const above = shown.live.slice(0, shown.cursor.line);
    const up = above.reduce((sum, line) => sum + rowsOf(line, output.columns), 0);
    return `${up === 0 ? "" : `\u001b[${up}A`}\r\u001b[J`;
  };
  const drawNow = (): void => {
    timer = null;
    if (latest === null) return;
    drawnMs = performance.now();
    const options = { width: Math.max(20, output.columns), colours, markdown: true };
    const drawing = draw(latest, printed, options);
    const fitted = fit(drawing, output.rows);
    const finished = drawing.lines.map((line) => `${line}\r\n`).join("");
    const down = fitted.live.length - 1 - fitted.cursor.line;
    const back = `${down === 0 ? "" : `\u001b[${down}A`}\r${fitted.cursor.column === 0 ? "" : `\u001b[${fitted.cursor.column}C`}`;
    output.write(`\u001b[?25l${erase()}${finished}${fitted.live.join("\r\n")}${back}\u001b[?25h`);
    ({ printed } = drawing);
    shown = fitted;
  };
  return {
    show: (state) => {
      if (isEnded) return;
      latest = state;
      if (timer !== null) return;
      const waitMs = drawnMs + intervalMs - performance.now();
      if (waitMs <= 0) drawNow();
      else timer = setTimeout(drawNow, waitMs);
    },
    clear: (state) => {
      if (isEnded) return;
      output.write("\u001b[2J\u001b[H");
      shown = { live: [], cursor: { line: 0, column: 0 } };
      latest = state;
      if (timer !== null) clearTimeout(timer);
      drawNow();
    },
    end: () => {
      if (timer !== null) clearTimeout(timer);
      drawNow();
      output.write(erase());
      isEnded = true;
    },
  };
}

/** Lines above the window cannot be redrawn, so a tall drawing is cut to the lines around the cursor. */
function fit({ live, cursor }: Drawing, rows: number): Pick<Drawing, "live" | "cursor"> {
  const most = Math.max(2, rows - 1);
  const from = Math.max(0, live.length - most);
  return {
    live: live.slice(from),
    cursor: { line: Math.max(0, cursor.line - from), column: cursor.column },
  };
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / Math.max(1, columns)));
}
