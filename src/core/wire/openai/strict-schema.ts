// Whether a schema can be strict: the provider refuses a strict schema that leaves something open.
import type { JsonText } from "../../message/message.ts";
import {
  fieldsIn,
  fieldsOf,
  listIn,
  parseFields,
  textIn,
  type Fields,
} from "../../message/fields.ts";

/** Every object names all its properties, requires each of them and allows no other. */
export function isStrictSchema(schemaJson: JsonText): boolean {
  const schema = parseFields(schemaJson);
  return schema !== undefined && textIn(schema, "type") === "object" && isStrict(schema, 0);
}

/** As documented for strict schemas. */
const depthMax = 10;
const keywords = new Set(
  "$defs $ref additionalProperties anyOf const description enum items properties required title type".split(
    " ",
  ),
);

function isStrict(schema: Fields, depth: number): boolean {
  if (depth > depthMax || !Object.keys(schema).every((name) => keywords.has(name))) return false;
  const properties = fieldsIn(schema, "properties");
  const inner = [
    ...Object.values(properties),
    ...Object.values(fieldsIn(schema, "$defs")),
    ...listIn(schema, "anyOf"),
    ...("items" in schema ? [schema["items"]] : []),
  ];
  return isClosed(schema, properties) && inner.every((each) => isStrict(fieldsOf(each), depth + 1));
}

function isClosed(schema: Fields, properties: Fields): boolean {
  if (textIn(schema, "type") !== "object" && !("properties" in schema)) return true;
  const required = listIn(schema, "required");
  return (
    schema["additionalProperties"] === false &&
    Object.keys(properties).every((name) => required.includes(name))
  );
}
