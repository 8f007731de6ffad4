// Plain text tables: columns as wide as their widest cell, numbers to the right; and lists of facts.
import { styleText } from "node:util";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** For numbers. */
  readonly align?: "right";
}

export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ cell }) => cell(row))),
  ];
  const widths = columns.map((_, index) =>
    Math.max(...cells.map((line) => line[index]?.length ?? 0)),
  );
  const lines = cells.map((line) =>
    line
      .map((text, index) =>
        columns[index]?.align === "right"
          ? text.padStart(widths[index] ?? 0)
          : text.padEnd(widths[index] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  const [head = "", ...body] = lines;
  return `${[styleText("bold", head), ...body].join("\n")}\n`;
}

/** One line per fact; facts without a value are left out. */
export function renderFacts(facts: readonly (readonly [string, string | null])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`${styleText("bold", name.padEnd(width))}  ${value}`],
  );
  return `${lines.join("\n")}\n`;
}

/** Pairs of a name and a value, one per line, below a heading. */
export function renderIndented(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  return rows.map(([name = "", value = ""]) => `  ${name.padEnd(width)}  ${value}\n`).join("");
}
