// Reads fields of a request to AWS, with AWS's words for errors, and builds the JSON that a model's own API takes.
import {
  createFieldReader,
  find,
  type FieldKind,
  type FieldReader,
  type Place,
} from "../field-reader.ts";
import { jsonObject, jsonText, type Json, type JsonObject } from "../json-source.ts";
import { AwsRefusal, invalid, invented } from "./refusal.ts";

export { find, type Place } from "../field-reader.ts";

const names: Readonly<Record<FieldKind, string>> = {
  string: "String",
  boolean: "Boolean",
  number: "Float",
  integer: "Integer",
  object: "Structure",
  list: "List",
};

const given: Readonly<Record<Json["kind"], string>> = {
  string: "STRING_VALUE",
  number: "NUMBER_VALUE",
  literal: "LITERAL_VALUE",
  list: "START_ARRAY",
  object: "START_OBJECT",
};

export const fields: FieldReader = createFieldReader({
  missing: (path) => constraint("null", path, "Member must not be null"),
  wrongKind: (_path, wanted, got) =>
    new AwsRefusal(
      "SerializationException",
      `${given[got.kind]} can not be converted to ${names[wanted]}`,
    ),
  wrongChoice: (path, got, choices) =>
    constraint(
      got.kind === "string" ? `'${got.text}'` : given[got.kind],
      path,
      `Member must satisfy enum value set: [${choices.join(", ")}]`,
    ),
  elementPath: (path, index) => `${path}.${index + 1}.member`,
});

/** A value that breaks a limit of the API's model. */
export function constraint(value: string, path: string, rule: string): AwsRefusal {
  return invalid(
    `1 validation error detected: Value ${value} at '${path}' failed to satisfy constraint: ${rule}`,
  );
}

/** One of several kinds of object, by the name of its only field. */
export interface Member<Kind extends string> {
  readonly kind: Kind;
  readonly json: Json;
  readonly place: Place;
  /** The object's place as messages for people name it: messages.0.content.1 */
  readonly at: string;
}

export function memberOf<Kind extends string>(
  place: Place,
  at: string,
  what: string,
  kinds: readonly Kind[],
): Member<Kind> {
  const set = kinds.filter((kind) => find(place, kind) !== null);
  const [kind] = set;
  const json = kind === undefined ? null : find(place, kind);
  if (kind === undefined || json === null)
    throw invalid(
      `${what} object at ${at} must set one of the following keys: ${kinds.join(", ")}.`,
    );
  if (set.length > 1) throw invented(`${what} object at ${at} sets ${set.join(" and ")}; set one`);
  return { kind, json, place, at };
}

/** The object inside a member. */
export function insideOf({ place, kind, at }: Member<string>): {
  readonly inside: Place;
  readonly at: string;
} {
  return { inside: fields.placeAt(place, kind), at: `${at}.${kind}` };
}

/** An object of these fields, without those that are undefined. */
export function objectOf(entries: Readonly<Record<string, Json | undefined>>): JsonObject {
  return jsonObject(
    Object.entries(entries).flatMap(([name, json]) =>
      json === undefined ? [] : [[name, json] as const],
    ),
  );
}

export function flag(value: boolean): Json {
  return { kind: "literal", value };
}

export function listOf(items: readonly Json[]): Json {
  return { kind: "list", items };
}

/** Undefined for an absent text, so that the field is left out. */
export function optionalText(text: string | null): Json | undefined {
  return text === null ? undefined : jsonText(text);
}

export function optional(place: Place, key: string): Json | undefined {
  return find(place, key) ?? undefined;
}
