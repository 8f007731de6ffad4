// Puts a newer price into a data file as one more dated row, so that what past calls cost does not change.
import { objectMembers, rootSpan, type Span } from "../../src/core/message/json-text.ts";
import { isFields, type Fields } from "../../src/core/models/read-fields.ts";
import type { TheirRow } from "./their-prices.ts";

export interface NewRow {
  readonly model: string;
  readonly row: TheirRow;
  /** The first day of the new price, where their row does not say it: the day of their data. */
  readonly datedOn: string;
  readonly source: string;
  /** The lifetime their one write price is for. */
  readonly shortestWrite: string | null;
}

/** The file's text with a row appended to the model's prices; every other model keeps its bytes. Null where it does not fit after the model's last row. */
export function withNewRow(text: string, change: NewRow): string | null {
  const model = spanAt(text, rootSpan(text), ["models", change.model]);
  const prices = model === null ? null : spanAt(text, model, ["prices"]);
  const lastRow = prices === null ? null : lastRowIn(text.slice(prices.start, prices.end));
  if (model === null || prices === null || lastRow === null) return null;
  // Rows are in order of time: a row before an announced one is for a person to place.
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

/** Their prices on our row. Tiers are factors and stay; a lifetime they do not price becomes unpublished. */
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

/** Replaces a model's own text field, or adds it as the last one. */
function withField(model: string, name: string, value: string): string {
  const json = JSON.stringify(value);
  const present = spanAt(model, rootSpan(model), [name]);
  return present === null
    ? `${model.slice(0, -1).trimEnd()},\n      "${name}": ${json}\n    }`
    : model.slice(0, present.start) + json + model.slice(present.end);
}

/** Where the value below these keys stands in a JSON text; null where there is none. */
function spanAt(text: string, from: Span, keys: readonly string[]): Span | null {
  let span = from;
  for (const key of keys) {
    const member = objectMembers(text, span).find((each) => each.key === key);
    if (member === undefined) return null;
    span = member.value;
  }
  return span;
}
