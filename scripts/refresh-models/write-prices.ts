// Appends a newer price to a data file as a dated row, so that the cost of past calls does not change.
import { objectMembers, rootSpan, type Span } from "../../src/core/message/json-text.ts";
import { isFields, type Fields } from "../../src/core/models/read-fields.ts";
import type { TheirRow } from "./their-prices.ts";

export interface NewRow {
  readonly model: string;
  readonly row: TheirRow;
  /** The first day of the new price if their row has none: the date of their data. */
  readonly datedOn: string;
  readonly source: string;
  /** The lifetime of their only write price. */
  readonly shortestWrite: string | null;
}

/** Appends a row to the model's prices and keeps all other bytes. Null if the row does not fit after the last one. */
export function withNewRow(text: string, change: NewRow): string | null {
  const model = spanAt(text, rootSpan(text), ["models", change.model]);
  const prices = model === null ? null : spanAt(text, model, ["prices"]);
  const lastRow = prices === null ? null : lastRowIn(text.slice(prices.start, prices.end));
  if (model === null || prices === null || lastRow === null) return null;
  // Rows are in order of time; a person has to place a row before an announced one.
  const lastDay = typeof lastRow["from"] === "string" ? lastRow["from"] : "";
  if (lastDay >= (change.row.from ?? change.datedOn)) return null;
  const row = JSON.stringify(toRow(lastRow, change));
  const rows = text.slice(prices.start, prices.end - 1).trimEnd();
  const changed =
    text.slice(model.start, prices.start) + `${rows}, ${row}]` + text.slice(prices.end, model.end);
  const dated = withField(changed, "checkedOn", change.datedOn);
  return (
    text.slice(0, model.start) + withField(dated, "source", change.source) + text.slice(model.end)
  );
}

/** Our last row with their prices. Tiers are factors and stay; a lifetime without their price becomes unpublished. */
function toRow(lastRow: Fields, { row, datedOn, shortestWrite }: NewRow): Fields {
  const { input, output, read, write, write1h } = row.prices;
  const ourWrites = isFields(lastRow["write"]) ? Object.keys(lastRow["write"]) : [];
  const theirs: Fields = {
    "1h": write1h,
    ...(shortestWrite === null ? {} : { [shortestWrite]: write }),
  };
  return {
    from: row.from ?? datedOn,
    input,
    output,
    ...(read === null ? {} : { read }),
    ...(ourWrites.length === 0
      ? {}
      : { write: Object.fromEntries(ourWrites.map((name) => [name, theirs[name] ?? null])) }),
    ...(lastRow["tiers"] === undefined ? {} : { tiers: lastRow["tiers"] }),
  };
}

function lastRowIn(prices: string): Fields | null {
  const rows: unknown = JSON.parse(prices);
  const last: unknown = Array.isArray(rows) ? rows.at(-1) : undefined;
  return isFields(last) ? last : null;
}

/** Replaces a text field of a model, or adds it at the end. */
function withField(model: string, name: string, value: string): string {
  const json = JSON.stringify(value);
  const present = spanAt(model, rootSpan(model), [name]);
  return present === null
    ? `${model.slice(0, -1).trimEnd()},\n      "${name}": ${json}\n    }`
    : model.slice(0, present.start) + json + model.slice(present.end);
}

/** The span of the value under these keys in a JSON text, or null. */
function spanAt(text: string, from: Span, keys: readonly string[]): Span | null {
  let span = from;
  for (const key of keys) {
    const member = objectMembers(text, span).find((each) => each.key === key);
    if (member === undefined) return null;
    span = member.value;
  }
  return span;
}
