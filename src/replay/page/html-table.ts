// Tables of the page: row headers first, numbers right-aligned, wide tables scroll.
import { escapeHtml } from "./in-page.ts";

export interface HtmlColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly kind?: "number";
}

/** Escapes titles and cells. */
export function renderHtmlTable<Row>(
  id: string,
  label: string,
  columns: readonly HtmlColumn<Row>[],
  rows: readonly Row[],
): string {
  const head = columns.map(
    ({ title, kind }) => `<th scope="col"${classOf(kind)}>${escapeHtml(title)}</th>`,
  );
  const body = rows.map((row) => `<tr>${columns.map(toCell(row)).join("")}</tr>\n`);
  return (
    `<div class="scroll" tabindex="0" role="region" aria-label="${escapeHtml(label)}">` +
    `<table id="${escapeHtml(id)}"><thead><tr>${head.join("")}</tr></thead>\n` +
    `<tbody>${body.join("")}</tbody></table></div>`
  );
}

function toCell<Row>(row: Row): (column: HtmlColumn<Row>, index: number) => string {
  return ({ cell, kind }, index) => {
    const text = escapeHtml(cell(row));
    return index === 0 ? `<th scope="row">${text}</th>` : `<td${classOf(kind)}>${text}</td>`;
  };
}

function classOf(kind: HtmlColumn<never>["kind"]): string {
  return kind === undefined ? "" : ` class="${kind}"`;
}
