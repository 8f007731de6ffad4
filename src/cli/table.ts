// Plain text tables: columns as wide as their widest cell, numbers to the right; and lists of facts. On a terminal they fit its window.
import { stripVTControlCharacters, styleText } from "node:util";
import { widthOf } from "./chat/words/text-width.ts";
import { windowColumns, wrapWords } from "./window.ts";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** For numbers. */
  readonly align?: "right";
}

export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  window: number = windowColumns(),
): string {
  const head = columns.map(({ title }) => title);
  const body = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const wished = columns.map((_, index) =>
    Math.max(...[head, ...body].map((line) => seenWidth(line[index] ?? ""))),
  );
  const widths = fitColumns(columns, wished, [head, ...body], window);
  if (widths === null) return renderCards(head, body, window);
  const [first = [], ...rest] = [head, ...body].map((line) => layOut(columns, widths, line));
  return `${[...first.map((line) => styleText("bold", line)), ...rest.flat()].join("\n")}\n`;
}

/** Makes the widest columns of words narrower, never than their longest word. Null if that is not enough. */
function fitColumns<Row>(
  columns: readonly Column<Row>[],
  wished: readonly number[],
  lines: readonly (readonly string[])[],
  window: number,
): readonly number[] | null {
  const least = columns.map(({ align }, index) =>
    align === "right"
      ? (wished[index] ?? 0)
      : Math.max(...lines.map((line) => longestWord(line[index] ?? ""))),
  );
  const widths = [...wished];
  const excess = (): number => widths.reduce((sum, width) => sum + width + 2, -2) - window;
  for (let over = excess(); over > 0; over = excess()) {
    const slack = widths.map((width, index) => width - (least[index] ?? 0));
    const widest = slack.indexOf(Math.max(...slack));
    const found = slack[widest] ?? 0;
    if (found <= 0) return null;
    widths[widest] = (widths[widest] ?? 0) - Math.min(found, over);
  }
  return widths;
}

function longestWord(text: string): number {
  return Math.max(0, ...text.split(/\s+/).map(seenWidth));
}

/** The lines of a row: cells that are wrapped take several. */
function layOut<Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  line: readonly string[],
): readonly string[] {
  const cells = line.map((text, index) => {
    const width = widths[index] ?? 0;
    return seenWidth(text) <= width ? [text] : wrapWords(text, width);
  });
  const height = Math.max(1, ...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, at) =>
    cells
      .map((cell, index) => {
        const text = cell[at] ?? "";
        const space = " ".repeat(Math.max(0, (widths[index] ?? 0) - seenWidth(text)));
        return columns[index]?.align === "right" ? space + text : text + space;
      })
      .join("  ")
      .trimEnd(),
  );
}

/** One fact per line where the window is too narrow for columns. */
function renderCards(
  head: readonly string[],
  body: readonly (readonly string[])[],
  window: number,
): string {
  return body
    .map((line) =>
      renderFacts(
        line.map((text, index) => [head[index] ?? "", text === "" ? null : text] as const),
        window,
      ),
    )
    .join("\n");
}

/** One line per fact; facts without a value are left out. */
export function renderFacts(
  facts: readonly (readonly [string, string | null])[],
  window: number = windowColumns(),
): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  const lines = facts.flatMap(([name, value]) =>
    value === null
      ? []
      : hang(`${styleText("bold", name.padEnd(width))}  `, width + 2, value, window),
  );
  return `${lines.join("\n")}\n`;
}

/** Pairs of a name and a value, one per line, below a heading. */
export function renderIndented(
  rows: readonly (readonly string[])[],
  window: number = windowColumns(),
): string {
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  return rows
    .flatMap(([name = "", value = ""]) =>
      hang(`  ${name.padEnd(width)}  `, width + 4, value, window),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** A text after its name; further lines stand below the text, or below the name where there is no room. */
export function hang(
  name: string,
  nameWidth: number,
  text: string,
  window: number = windowColumns(),
): readonly string[] {
  const room = window - nameWidth;
  if (seenWidth(text) <= room) return [`${name}${text}`];
  if (room >= besideMin) {
    return wrapWords(text, room).map(
      (line, index) => `${index === 0 ? name : " ".repeat(nameWidth)}${line}`,
    );
  }
  return [name.trimEnd(), ...wrapWords(text, Math.max(1, window - 4)).map((line) => `    ${line}`)];
}

/** Fewer columns beside the name would break most lines. */
const besideMin = 24;

function seenWidth(text: string): number {
  return widthOf(stripVTControlCharacters(text));
}
