// The screen: finished lines are written once and scroll up; lines that may still change are redrawn.
import { createPaint, type RenderOptions } from "./paint.ts";
import { countSteady } from "./markdown/render-answer.ts";
import { answerText, renderItem } from "./render-item.ts";
import { renderStatus } from "./render-status.ts";
import { isOpen, type ChatState, type Item } from "../state/state.ts";
import { charactersOf, cutToWidth, widthOf, wrapLine } from "../words/text-width.ts";

/** How much of a state has been printed as finished lines. */
export interface Printed {
  /** Items printed completely. */
  readonly items: number;
  /** Lines of the next item already printed. */
  readonly lines: number;
  /** The width that item was wrapped to; the window may change its size meanwhile. */
  readonly width: number;
}

export const nothingPrinted: Printed = { items: 0, lines: 0, width: 0 };

export interface Drawing {
  /** New finished lines. */
  readonly lines: readonly string[];
  readonly printed: Printed;
  /** Drawn below them until the next drawing. */
  readonly live: readonly string[];
  /** Where the cursor is: a line of `live`, counted from 0, and a column. */
  readonly cursor: { readonly line: number; readonly column: number };
}

export function draw(state: ChatState, printed: Printed, options: RenderOptions): Drawing {
  const { lines, open, printed: after } = drawItems(state.items, printed, options);
  const input = drawInput(state, options);
  const hint = state.hint === "" ? [] : drawHint(state.hint, options);
  const live = [...open, "", ...hint, renderStatus(state, options), ...input.lines];
  const { line, column } = input.cursor;
  const cursor = { line: open.length + 2 + hint.length + line, column };
  return { lines, printed: after, live, cursor };
}

/** The new finished lines, and the lines of items that are still open. */
export function drawItems(
  items: readonly Item[],
  printed: Printed,
  options: RenderOptions,
): Pick<Drawing, "lines" | "printed"> & { readonly open: readonly string[] } {
  const lines: string[] = [];
  // After /clear there are fewer than were printed.
  const before = printed.items > items.length ? nothingPrinted : printed;
  let at = before.items;
  let [done, width] = [before.lines, before.width];
  const linesOf = (item: Item, index: number): readonly string[] => {
    const own = done > 0 ? { ...options, width } : options;
    return renderItem(item, items[index - 1]?.kind ?? null, own);
  };
  for (let item = items[at]; item !== undefined && !isOpen(item); item = items[at]) {
    lines.push(...linesOf(item, at).slice(done));
    at += 1;
    done = 0;
  }
  const open = items[at];
  const ofOpen = open === undefined ? [] : linesOf(open, at);
  // While text streams in, only its last line can still change.
  const steady = ofOpen.slice(done, steadyEnd(open, ofOpen, options));
  if (steady.length > 0 && done === 0) ({ width } = options);
  lines.push(...steady);
  done += steady.length;
  const later = items
    .slice(at + 1)
    .flatMap((item, index) => renderItem(item, items[at + index]?.kind ?? null, options));
  return {
    lines,
    open: [...ofOpen.slice(done), ...later],
    printed: { items: at, lines: done, width },
  };
}

/** Up to which of its lines an open item is finished. */
function steadyEnd(
  open: Item | undefined,
  lines: readonly string[],
  options: RenderOptions,
): number {
  if (open?.kind !== "answer" || open.shape === "table") return 0;
  if (options.markdown !== true) return lines.length - 1;
  // One that begins a reply has an empty line before it.
  const apart = open.isFirst && lines[0] === "" ? 1 : 0;
  return lines.length < 2 ? 0 : apart + countSteady(open, answerText(open), options);
}

const hintLinesMax = 4;

function drawHint(hint: string, options: RenderOptions): readonly string[] {
  const lines = wrapLine(hint, options.width - 1);
  const isCut = lines.length > hintLinesMax;
  const shown = isCut ? [...lines.slice(0, hintLinesMax - 1), "…"] : lines;
  return shown.map((line) => createPaint(options)("dim", line));
}

interface DrawnInput {
  readonly lines: readonly string[];
  readonly cursor: Drawing["cursor"];
}

function drawInput(state: ChatState, options: RenderOptions): DrawnInput {
  const question = drawQuestion(state, options);
  const line = drawLine(state, options);
  if (question === null) return line;
  if (state.editor.text === "") return question;
  const { cursor } = line;
  return {
    lines: [...question.lines, ...line.lines],
    cursor: { line: question.lines.length + cursor.line, column: cursor.column },
  };
}

function drawQuestion({ questions, editor }: ChatState, options: RenderOptions): DrawnInput | null {
  const [question] = questions;
  if (question === undefined) return null;
  const { toolName, preview } = question;
  const rows = preview.reduce(
    (sum, { length }) => sum + Math.ceil((length + 1) / options.width),
    0,
  );
  const size = rows > previewRowsSeen ? ` (${rows} lines above)` : "";
  const more = questions.length > 1 ? ` (${questions.length - 1} more after this)` : "";
  const how =
    editor.text === "" ? `y yes · n no · a always ${toolName}` : "on an empty line: y, n or a";
  const asked = cutToWidth(`Allow ${toolName}?${size}${more} ${how}`, options.width - 1);
  const lines = [createPaint(options)(["bold", "yellow"], asked)];
  return { lines, cursor: { line: 0, column: widthOf(asked) } };
}

/** Longer previews may have scrolled away. */
const previewRowsSeen = 10;

const inputLinesMax = 10;

/** The typed text, wrapped to the window; for a long text, the lines around the cursor. */
function drawLine({ editor }: ChatState, options: RenderOptions): DrawnInput {
  const room = Math.max(2, options.width - 3);
  const rows: string[] = [""];
  let cursor = { line: 0, column: 0 };
  let at = 0;
  for (const character of [...charactersOf(editor.text), ""]) {
    if (at === editor.cursor) {
      cursor = { line: rows.length - 1, column: widthOf(rows.at(-1) ?? "") };
    }
    at += character.length;
    if (character === "\n") rows.push("");
    else {
      const shown = character === "\t" ? " " : character;
      if (widthOf(rows.at(-1) ?? "") + widthOf(shown) > room) rows.push("");
      rows[rows.length - 1] += shown;
    }
  }
  const from = Math.max(0, Math.min(cursor.line - inputLinesMax + 1, rows.length - inputLinesMax));
  const lines = rows
    .slice(from, from + inputLinesMax)
    .map((row, index) => `${from + index === 0 ? "> " : "  "}${row}`);
  return { lines, cursor: { line: cursor.line - from, column: cursor.column + 2 } };
}
