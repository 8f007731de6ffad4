// A table that can be sorted by every column, and saved as CSV.
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

export interface Column<Row> {
  readonly name: string;
  /** What it is sorted by and what is exported. */
  readonly value: (row: Row) => number | string | null;
  /** What is shown; the value by default. */
  readonly show?: (row: Row) => ComponentChildren;
  readonly isWords?: boolean;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** The name of the file. Without one there is nothing to save. */
  readonly file?: string;
}

/** More are shown on wish; what is saved is everything. */
const shownMax = 40;

export function Table<Row>({ label, rows, columns, file }: TableProps<Row>): JSX.Element {
  const [order, setOrder] = useState<{ name: string; isDown: boolean } | null>(null);
  const [isWhole, setWhole] = useState(false);
  const sorted = order === null ? rows : sortRows(rows, columns, order);
  const turn = (name: string): void =>
    setOrder({ name, isDown: order?.name === name ? !order.isDown : true });
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table>
          <thead>
            <tr>
              {columns.map(({ name, isWords }) => (
                <th
                  key={name}
                  scope="col"
                  class={isWords === true ? "words" : undefined}
                  aria-sort={
                    order?.name !== name ? "none" : order.isDown ? "descending" : "ascending"
                  }
                >
                  <button type="button" onClick={() => turn(name)}>
                    {name}
                    {order?.name === name ? (order.isDown ? " ↓" : " ↑") : ""}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(isWhole ? sorted : sorted.slice(0, shownMax)).map((row, index) => (
              <tr key={index}>
                {columns.map(({ name, value, show, isWords }) => (
                  <td key={name} class={isWords === true ? "words" : undefined}>
                    {show === undefined ? value(row) : show(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {(file !== undefined || sorted.length > shownMax) && (
        <p class="choices">
          {sorted.length > shownMax && (
            <button type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
              {isWhole ? `the first ${shownMax} rows` : `all ${sorted.length} rows`}
            </button>
          )}
          {file !== undefined && (
            <button type="button" onClick={() => save(file, toCsv(sorted, columns))}>
              save as CSV
            </button>
          )}
        </p>
      )}
    </>
  );
}

function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { name, isDown }: { readonly name: string; readonly isDown: boolean },
): readonly Row[] {
  const value = columns.find((column) => column.name === name)?.value ?? (() => null);
  const sorted = rows.toSorted((left, right) => compare(value(left), value(right)));
  return isDown ? sorted.toReversed() : sorted;
}

function compare(left: number | string | null, right: number | string | null): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (left === null || right === null) return left === right ? 0 : left === null ? -1 : 1;
  return String(left).localeCompare(String(right));
}

export function toCsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [
    columns.map(({ name }) => name),
    ...rows.map((row) => columns.map(({ value }) => String(value(row) ?? ""))),
  ];
  return lines.map((cells) => `${cells.map(quote).join(",")}\r\n`).join("");
}

/** A spreadsheet must not take a name for a formula. */
function quote(cell: string): string {
  const safe = /^[=+\-@\t\r]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
