// Puts a newer price into a data file as one more dated row, so that what past calls cost does not change.
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
  const lastRow = lastRowOf(text, change.model);
  const model = spanAfter(text, `\n    ${JSON.stringify(change.model)}: `, 0);
  if (lastRow === null || model === null) return null;
  const prices = spanAfter(text, '"prices": ', model.start);
  if (prices === null || prices.end > model.end) return null;
  // Rows are in order of time: a row before an announced one is for a person to place.
  const lastDay = typeof lastRow["from"] === "string" ? lastRow["from"] : "";
  if (lastDay >= (change.row.from ?? change.datedOn)) return null;
  const row = JSON.stringify(toRow(lastRow, change));
  const before = text.slice(model.start, prices.end - 1).trimEnd();
  const after = text.slice(prices.end, model.end);
  return (
    text.slice(0, model.start) +
    withField(
      withField(`${before}, ${row}]${after}`, "checkedOn", change.datedOn),
      "source",
      change.source,
    ) +
    text.slice(model.end)
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

function lastRowOf(text: string, id: string): Fields | null {
  const file: unknown = JSON.parse(text);
  const models = isFields(file) ? file["models"] : undefined;
  const model = isFields(models) ? models[id] : undefined;
  const prices = isFields(model) ? model["prices"] : undefined;
  const last: unknown = Array.isArray(prices) ? prices.at(-1) : undefined;
  return isFields(last) ? last : null;
}

/** Replaces a model's own text field, or adds it as the last one. */
function withField(model: string, name: string, value: string): string {
  const field = `"${name}": ${JSON.stringify(value)}`;
  const present = new RegExp(`"${name}": "(?:[^"\\\\]|\\\\.)*"`);
  return present.test(model)
    ? model.replace(present, () => field)
    : `${model.slice(0, -1).trimEnd()},\n      ${field}\n    }`;
}

/** Where the JSON value after a label begins and ends. */
function spanAfter(
  text: string,
  label: string,
  from: number,
): { readonly start: number; readonly end: number } | null {
  const at = text.indexOf(label, from);
  if (at === -1) return null;
  const start = at + label.length;
  let depth = 0;
  let quoted = false;
  for (let index = start; index < text.length; index++) {
    const char = text[index];
    if (quoted) {
      if (char === "\\") index++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    if (depth === 0 && !quoted) return { start, end: index + 1 };
  }
  return null;
}
