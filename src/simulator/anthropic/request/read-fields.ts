// Reads fields of a request, with the provider's words for errors.
import {
  createFieldReader,
  pathOf,
  type FieldKind,
  type FieldReader,
  type Place,
} from "../../field-reader.ts";
import type { JsonObject } from "../../json-source.ts";
import { extraInput, invalid } from "../refusal.ts";

export { find, pathOf, type Place } from "../../field-reader.ts";

const names: Readonly<Record<FieldKind, string>> = {
  string: "a valid string",
  boolean: "a valid boolean",
  number: "a valid number",
  integer: "a valid integer",
  object: "an object",
  list: "a valid list",
};

export const fields: FieldReader = createFieldReader({
  missing: (path) => invalid(`${path}: Field required`),
  wrongKind: (path, wanted) => invalid(`${path}: Input should be ${names[wanted]}`),
  wrongChoice: (path, _got, choices) => {
    const quoted = choices.map((choice) => `'${choice}'`);
    const last = quoted.pop() ?? "";
    const list = quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
    return invalid(`${path}: Input should be ${list}`);
  },
  elementPath: (path, index) => `${path}.${index}`,
});

export function refuseExtras(place: Place, known: ReadonlySet<string>): void {
  for (const name of place.object.fields.keys()) {
    if (!known.has(name)) throw extraInput(pathOf(place, name));
  }
}

/** The text of a field, or `otherwise` if it has none. For display, never for checks. */
export function textOr(object: JsonObject, name: string, otherwise: string): string {
  const value = object.fields.get(name);
  return value?.kind === "string" ? value.text : otherwise;
}
