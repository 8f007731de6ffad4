// Reads the fields of a request's body. Each provider has its own words for what is wrong.
import type { Json, JsonObject } from "./json-source.ts";

/** An object of the body, and its path as error messages name it. */
export interface Place {
  readonly object: JsonObject;
  readonly path: string;
}

export type FieldKind = "string" | "boolean" | "number" | "integer" | "object" | "list";

export interface FieldErrors {
  missing(path: string): Error;
  wrongKind(path: string, wanted: FieldKind, got: Json): Error;
  wrongChoice(path: string, got: Json, choices: readonly string[]): Error;
  /** The path of an element of a list. */
  elementPath(path: string, index: number): string;
}

/** `find…` gives null for a field that is absent or null: providers use the default for both. `…At` needs the field. */
export interface FieldReader {
  readonly findText: Read<string | null>;
  readonly textAt: Read<string>;
  readonly findFlag: Read<boolean | null>;
  readonly findNumber: Read<number | null>;
  readonly findInteger: Read<number | null>;
  readonly integerAt: Read<number>;
  readonly findOneOf: <Choice extends string>(
    place: Place,
    key: string,
    choices: readonly Choice[],
  ) => Choice | null;
  readonly oneOfAt: <Choice extends string>(
    place: Place,
    key: string,
    choices: readonly Choice[],
  ) => Choice;
  readonly findPlace: Read<Place | null>;
  readonly placeAt: Read<Place>;
  readonly findList: Read<readonly Json[] | null>;
  /** The elements of a list of objects. */
  readonly findPlaces: Read<readonly Place[] | null>;
  readonly placesAt: Read<readonly Place[]>;
}

type Read<Value> = (place: Place, key: string) => Value;

export function find({ object }: Place, key: string): Json | null {
  const value = object.fields.get(key);
  return value === undefined || (value.kind === "literal" && value.value === null) ? null : value;
}

export function pathOf({ path }: Place, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

export function createFieldReader(errors: FieldErrors): FieldReader {
  const reading =
    <Value>(
      wanted: FieldKind,
      take: (json: Json, path: string) => Value | undefined,
    ): Read<Value | null> =>
    (place, key) => {
      const json = find(place, key);
      if (json === null) return null;
      const value = take(json, pathOf(place, key));
      if (value === undefined) throw errors.wrongKind(pathOf(place, key), wanted, json);
      return value;
    };
  const needed = <Value>(value: Value | null, place: Place, key: string): Value => {
    if (value === null) throw errors.missing(pathOf(place, key));
    return value;
  };
  const needing =
    <Value>(read: Read<Value | null>): Read<Value> =>
    (place, key) =>
      needed(read(place, key), place, key);
  const findText = reading("string", (json) => (json.kind === "string" ? json.text : undefined));
  const findPlace = reading("object", (json, path) =>
    json.kind === "object" ? { object: json, path } : undefined,
  );
  const findInteger = reading("integer", (json) =>
    Number.isSafeInteger(numberOf(json)) ? numberOf(json) : undefined,
  );
  const findList = reading("list", (json) => (json.kind === "list" ? json.items : undefined));
  const findPlaces: FieldReader["findPlaces"] = (place, key) =>
    findList(place, key)?.map((item, index) => {
      const path = errors.elementPath(pathOf(place, key), index);
      if (item.kind !== "object") throw errors.wrongKind(path, "object", item);
      return { object: item, path };
    }) ?? null;
  const findOneOf: FieldReader["findOneOf"] = (place, key, choices) => {
    const json = find(place, key);
    if (json === null) return null;
    const found = choices.find((choice) => json.kind === "string" && choice === json.text);
    if (found === undefined) throw errors.wrongChoice(pathOf(place, key), json, choices);
    return found;
  };
  return {
    findText,
    textAt: needing(findText),
    findFlag: reading("boolean", (json) =>
      json.kind === "literal" ? json.value === true : undefined,
    ),
    findNumber: reading("number", (json) => (json.kind === "number" ? numberOf(json) : undefined)),
    findInteger,
    integerAt: needing(findInteger),
    findOneOf,
    oneOfAt: (place, key, choices) => needed(findOneOf(place, key, choices), place, key),
    findPlace,
    placeAt: needing(findPlace),
    findList,
    findPlaces,
    placesAt: needing(findPlaces),
  };
}

function numberOf(json: Json): number {
  return json.kind === "number" ? Number(json.source) : Number.NaN;
}
