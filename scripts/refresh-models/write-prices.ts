// Puts a newer price into a data file as one more dated row, so that what past calls cost does not change.
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

/** The file's text with a row appended to the model's prices; every other byte stays. Null where the model has no prices there. */
export function withNewRow(text: string, change: NewRow): string | null {
  const model = spanAfter(text, `\n    ${JSON.stringify(change.model)}: `, 0);
  if (model === null) return null;
  const prices = spanAfter(text, '"prices": ', model.start);
  if (prices === null || prices.end > model.end) return null;
  const beforeBracket = text.slice(0, prices.end - 1).trimEnd();
  const dated = [
    `"source": ${JSON.stringify(change.source)}`,
    `"checkedOn": "${change.datedOn}"`,
  ].filter((field) => !text.slice(model.start, model.end).includes(field.slice(0, 10)));
  const note = dated.map((field) => `,\n      ${field}`).join("");
  return `${beforeBracket}, ${rowText(change)}]${note}${text.slice(prices.end)}`;
}

function rowText({ row, datedOn, shortestWrite }: NewRow): string {
  const { input, output, read, write, write1h } = row.prices;
  const writes = {
    ...(write === null || shortestWrite === null ? {} : { [shortestWrite]: write }),
    ...(write1h === null ? {} : { "1h": write1h }),
  };
  return JSON.stringify({
    from: row.from ?? datedOn,
    input,
    output,
    ...(read === null ? {} : { read }),
    ...(Object.keys(writes).length === 0 ? {} : { write: writes }),
  });
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
