// A line of a reply as a terminal shows it: headings, lists, quotes, tables, code. Text that is no Markdown stays as it is.
import type { AnswerLine } from "../../state/answer-lines.ts";
import { padToWidth, widthOf, wrapLine } from "../../words/text-width.ts";
import { createPaint, type Paint, type RenderOptions } from "../paint.ts";
import { colourCode } from "./code-colours.ts";
import { renderTable } from "./render-table.ts";
import { paintSpans, readSpans, settledLength, wrapSpans, type Span } from "./spans.ts";

/** `text` holds no control characters any more. */
export function renderAnswer(
  { shape = "text", language = "", fence }: AnswerLine,
  text: string,
  options: RenderOptions,
): readonly string[] {
  const paint = createPaint(options);
  const { width } = options;
  switch (shape) {
    case "code":
      return wrapLine(text, Math.max(1, width - 2)).map(
        (line) => `  ${colourCode(line, language, paint)}`,
      );
    case "fence": {
      const name = fence === null || language === "" ? "" : ` ${language}`;
      return [paint("dim", `${"─".repeat(3)}${name}`)];
    }
    case "table":
      return (
        renderTable(text, width, paint) ??
        text.split("\n").flatMap((line) => renderLine(line, width, paint))
      );
    case "text":
      return renderLine(text, width, paint);
  }
}

/** How many lines of a reply's last line later text cannot change. */
export function countSteady(item: AnswerLine, text: string, options: RenderOptions): number {
  const lines = renderAnswer(item, text, options);
  if (item.shape === "code") return lines.length - 1;
  if (item.shape !== "text" && item.shape !== undefined) return 0;
  const settled = renderAnswer(item, text.slice(0, settledLength(text)), options).slice(0, -1);
  const change = settled.findIndex((line, index) => line !== lines[index]);
  return Math.min(lines.length - 1, change === -1 ? settled.length : change);
}

function renderLine(text: string, width: number, paint: Paint): readonly string[] {
  const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(text);
  if (heading !== null) {
    const style =
      (heading[1] ?? "").length <= 2 ? (["bold", "underline"] as const) : (["bold"] as const);
    return paintLines(withStyles(readSpans(heading[2] ?? ""), style), width, paint);
  }
  if (/^ {0,3}([-*_])(?:\s*\1){2,}\s*$/.test(text)) {
    return [paint("dim", "─".repeat(Math.min(width, ruleWidth)))];
  }
  const quote = /^( {0,3}(?:>\s?)+)(.*)$/.exec(text);
  if (quote !== null) {
    const bars = "│ ".repeat((quote[1] ?? "").split(">").length - 1);
    const lines = paintLines(
      withStyles(readSpans(quote[2] ?? ""), ["dim"]),
      width - widthOf(bars),
      paint,
    );
    return lines.map((line) => `${paint("dim", bars)}${line}`);
  }
  const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(\[[ xX]\]\s+)?(.*)$/.exec(text);
  if (item !== null) return renderListItem(item, width, paint);
  const indent = /^\s*/.exec(text)?.[0].replaceAll("\t", "    ") ?? "";
  const body = paintLines(readSpans(text.trim()), width - indent.length, paint);
  return indent === "" || indent.length > width / 2 ? body : body.map((line) => `${indent}${line}`);
}

/** Wider rules say nothing more. */
const ruleWidth = 60;

function renderListItem(
  [, space = "", marker = "", box = "", words = ""]: RegExpExecArray,
  width: number,
  paint: Paint,
): readonly string[] {
  const dot = /\d/.test(marker) ? marker : "•";
  const check = box === "" ? "" : /x/i.test(box) ? "☑ " : "☐ ";
  const head = `${space.replaceAll("\t", "    ").slice(0, Math.floor(width / 3))}${dot} ${check}`;
  const lines = paintLines(readSpans(words), width - widthOf(head), paint);
  const below = padToWidth("", widthOf(head));
  return lines.map((line, index) => `${index === 0 ? head : below}${line}`);
}

function paintLines(spans: readonly Span[], width: number, paint: Paint): readonly string[] {
  const lines = wrapSpans(spans, width).map((line) => paintSpans(line, paint));
  return lines.length === 0 ? [""] : lines;
}

function withStyles(spans: readonly Span[], styles: Span["styles"]): readonly Span[] {
  return spans.map((span) => ({ ...span, styles: [...styles, ...span.styles] }));
}
