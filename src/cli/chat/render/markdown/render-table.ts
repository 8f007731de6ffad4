// A Markdown table with columns as wide as the window allows; cells wrap between words.
import { Lexer, type Token, type Tokens } from "marked";
import type { Paint } from "../paint.ts";
import { paintSpans, readSpans, widthOfSpans, wrapSpans, type Span } from "./spans.ts";

type Cell = readonly Span[];

/** Null if the rows are no table. */
export function renderTable(
  markdown: string,
  width: number,
  paint: Paint,
): readonly string[] | null {
  const found = Lexer.lex(markdown).find(isTable);
  if (found === undefined) return null;
  const { header, rows, align } = found;
  const head = header.map(({ text }) => readSpans(text).map(bold));
  const body = rows.map((row) => row.map(({ text }) => readSpans(text)));
  const widths = fitWidths([head, ...body], header.length, width);
  const layOut = (row: readonly Cell[]): readonly string[] =>
    layOutRow(row, { widths, align, paint });
  const rule = paint("dim", widths.map((each) => "─".repeat(each)).join("──"));
  return [...layOut(head), rule, ...body.flatMap(layOut)];
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === "table";
}

function bold(span: Span): Span {
  return { ...span, styles: ["bold", ...span.styles] };
}

const gap = 2;
const columnMin = 4;

/** The widest columns are narrowed first. */
function fitWidths(
  rows: readonly (readonly Cell[])[],
  count: number,
  width: number,
): readonly number[] {
  const widths = Array.from({ length: count }, (_, index) =>
    Math.max(1, ...rows.map((row) => widthOfSpans(row[index] ?? []))),
  );
  const room = width - gap * (count - 1);
  for (let sum = total(widths); sum > room; sum = total(widths)) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= columnMin) break;
    const second = Math.max(columnMin, ...widths.filter((_, index) => index !== widest));
    const now = widths[widest] ?? 0;
    widths[widest] = Math.max(columnMin, Math.min(now - 1, Math.max(second, now - (sum - room))));
  }
  return widths;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}

interface Layout {
  readonly widths: readonly number[];
  readonly align: Tokens.Table["align"];
  readonly paint: Paint;
}

function layOutRow(row: readonly Cell[], { widths, align, paint }: Layout): readonly string[] {
  const cells = widths.map((width, index) => wrapSpans(row[index] ?? [], width));
  const height = Math.max(1, ...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, at) =>
    cells
      .map((cell, index) => {
        const spans = cell[at] ?? [];
        const space = " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOfSpans(spans)));
        const text = paintSpans(spans, paint);
        return align[index] === "right" ? space + text : text + space;
      })
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}
