// One item of the chat as lines. This is the only place that turns output of models and tools into plain text.
import { formatBytes } from "../../ledger/render-ledger.ts";
import { createPaint, type Paint, type RenderOptions } from "./paint.ts";
import { toPlain } from "../words/plain-text.ts";
import { renderAnswer } from "./markdown/render-answer.ts";
import { renderContext } from "./render-context.ts";
import type { AnswerLine } from "../state/answer-lines.ts";
import type { Item, ToolItem } from "../state/state.ts";
import { cutToWidth, widthOf, wrapLine } from "../words/text-width.ts";

/** `isAfter`: the kind of the item before; a blank line separates different kinds. */
export function renderItem(
  item: Item,
  isAfter: Item["kind"] | null,
  options: RenderOptions,
): readonly string[] {
  const lines = linesOf(item, options);
  return isApart(item, isAfter) ? ["", ...lines] : lines;
}

function isApart(item: Item, isAfter: Item["kind"] | null): boolean {
  if (isAfter === null) return false;
  if (item.kind === "answer") return item.isFirst;
  if (item.kind === "tool") return isAfter !== "tool" && isAfter !== "answer";
  return item.kind !== "notice" || isAfter !== "notice";
}

function linesOf(item: Item, options: RenderOptions): readonly string[] {
  const paint = createPaint(options);
  const { width } = options;
  switch (item.kind) {
    case "person":
      return foldLines(typedLines(item.isSteering ? "+ " : "> ", item.text, width), options).map(
        (line) => paint("bold", line),
      );
    case "command":
      return typedLines("> ", item.text, width).map((line) => paint("dim", line));
    case "answer":
      if (options.markdown === true) {
        return renderAnswer(item, answerText(item), options);
      }
      if (item.shape === "table") return wrapText(item.text, width);
      return wrapLine(answerText(item), width);
    case "tool":
      return [renderTool(item, width, paint)];
    case "notice":
      return wrapText(item.text, width).map((line) => paint(noticeStyles[item.level], line));
    case "preview":
      return [
        paint("yellow", cutToWidth(`? ${item.toolName}`, width)),
        ...item.lines.flatMap((line) => wrapText(line, width - 2).map((each) => `  ${each}`)),
      ];
    case "report":
      return wrapText(item.text.replace(/\n$/, ""), width);
    case "context":
      return renderContext(item.view, options);
  }
}

/** Without control characters. A line is always one line, even with carriage returns in it. */
export function answerText({ text, shape }: AnswerLine): string {
  const plain = toPlain(text);
  return shape === "table" ? plain.trimEnd() : plain.replaceAll("\n", " ").trimEnd();
}

const typedLinesShown = 12;

/** A long message is known to who wrote it. */
function foldLines(lines: readonly string[], { markdown }: RenderOptions): readonly string[] {
  if (markdown !== true || lines.length <= typedLinesShown + 1) return lines;
  const left = lines.length - typedLinesShown;
  return [...lines.slice(0, typedLinesShown), `  … ${left} more lines`];
}

function typedLines(mark: string, text: string, width: number): readonly string[] {
  return wrapText(text, width - 2).map((line, index) => `${index === 0 ? mark : "  "}${line}`);
}

const noticeStyles = { info: "dim", warning: "yellow", error: "red" } as const;

function wrapText(text: string, width: number): readonly string[] {
  return toPlain(text)
    .split("\n")
    .flatMap((line) => wrapLine(line, Math.max(1, width)));
}

const toolLooks = {
  asked: { mark: "…", style: "dim" },
  running: { mark: "…", style: "cyan" },
  succeeded: { mark: "✓", style: "green" },
  failed: { mark: "✗", style: "red" },
  cancelled: { mark: "–", style: "dim" },
} as const;

/** One line: the tool, its input, how it ended, and the size of its result. */
function renderTool(tool: ToolItem, width: number, paint: Paint): string {
  const { mark, style } = toolLooks[tool.status];
  const end = endOf(tool);
  const start = cutToWidth(`  ${mark} ${tool.name}`, width);
  const room = Math.max(0, width - widthOf(start) - 1);
  const endRoom = Math.max(Math.floor(room / 2), room - widthOf(tool.about));
  const shownEnd = end === "" ? "" : cutToWidth(`  ${end}`, endRoom);
  const about = cutToWidth(tool.about, room - widthOf(shownEnd));
  const marked = `  ${paint(style, mark)} ${paint("bold", start.slice(4))}`;
  return `${marked}${about === "" ? "" : ` ${about}`}${paint("dim", shownEnd)}`;
}

function endOf({ status, bytes, problem }: ToolItem): string {
  switch (status) {
    case "asked":
      return "";
    case "running":
      return "running";
    case "cancelled":
      return "stopped";
    case "succeeded":
      return bytes === null ? "" : formatBytes(bytes);
    case "failed":
      return problem ?? "failed";
  }
}
