// Reads hand-written facts field by field. Every error names the file, the model and the field.
import { isObject, type Fields } from "../message/fields.ts";
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import { isDay } from "./moment.ts";

export { isObject as isFields, type Fields } from "../message/fields.ts";

/** An object with only known keys. A misspelt key is an error with the nearest known one. */
export function fields(value: unknown, place: string, known: readonly string[]): Fields {
  const found = record(value, place);
  for (const key of Object.keys(found)) {
    if (known.includes(key)) continue;
    const near = nearestNames(key, known, 1)[0];
    throw new StrataError(
      "config-invalid",
      `${place} has an unknown field "${key}"`,
      near === undefined ? `known fields: ${known.join(", ")}` : `did you mean "${near}"?`,
    );
  }
  return found;
}

/** Reads a value, or throws an error that names its place. */
export type Reader<Value> = (value: unknown, place: string) => Value;

/** An object with one reader for each of its fields; other fields are errors. */
export function shape<Shape extends object>(
  value: unknown,
  place: string,
  readers: { readonly [Name in keyof Shape]: Reader<Shape[Name]> },
): Shape {
  const given = fields(value, place, Object.keys(readers));
  const read = Object.entries<Reader<unknown>>(readers).map(
    ([name, reader]) => [name, reader(given[name], `${place}.${name}`)] as const,
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field was read by its reader
  return Object.fromEntries(read) as Shape;
}

/** An object whose keys are free names. */
export function record(value: unknown, place: string): Fields {
  if (!isObject(value)) throw unfit(value, place, "an object");
  return value;
}

/** Reads a field by a free name, which may be "constructor". Undefined if absent. */
export function ownField(owner: Fields, name: string): unknown {
  return Object.hasOwn(owner, name) ? owner[name] : undefined;
}

/** A non-empty text. */
export function text(value: unknown, place: string): string {
  if (typeof value !== "string" || value === "") throw unfit(value, place, "a text");
  return value;
}

/** Only true or false; no other value counts. */
export function flag(value: unknown, place: string): boolean {
  if (typeof value !== "boolean") throw unfit(value, place, "true or false");
  return value;
}

/** A whole number above zero: tokens, seconds, markers. */
export function count(value: unknown, place: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value <= 0)
    throw unfit(value, place, "a whole number above 0");
  return value;
}

/** A factor on a price. pico-usd.ts does the exact arithmetic. */
export function multiplier(value: unknown, place: string): number {
  if (typeof value !== "number" || !(value >= 0) || !Number.isFinite(value))
    throw unfit(value, place, "a number from 0");
  return value;
}

export function oneOf<Choice extends string>(
  value: unknown,
  choices: readonly Choice[],
  place: string,
): Choice {
  const found = choices.find((each) => each === value);
  if (found === undefined)
    throw unfit(value, place, `one of ${choices.map((each) => `"${each}"`).join(", ")}`);
  return found;
}

export function day(value: unknown, place: string): string {
  if (typeof value !== "string" || !isDay(value))
    throw unfit(value, place, "a day like 2026-11-15");
  return value;
}

export function list<Item>(value: unknown, place: string, readItem: Reader<Item>): readonly Item[] {
  if (!Array.isArray(value)) throw unfit(value, place, "a list");
  return value.map((item, index) => readItem(item, `${place}[${index}]`));
}

/** The value, or null if the field is absent or null. */
export function optional<Value>(value: unknown, place: string, read: Reader<Value>): Value | null {
  return value === undefined || value === null ? null : read(value, place);
}

/** A reader for a field that may be absent or null; then it is null. */
export function nullable<Value>(read: Reader<Value>): Reader<Value | null> {
  return (value, place) => optional(value, place, read);
}

/** A reader for a field that may be absent or null; then it is the given value. */
export function orElse<Value>(absent: unknown, read: Reader<Value>): Reader<Value> {
  return (value, place) => read(value ?? absent, place);
}

export function choice<const Choice extends string>(choices: readonly Choice[]): Reader<Choice> {
  return (value, place) => oneOf(value, choices, place);
}

export function listOf<Item>(readItem: Reader<Item>): Reader<readonly Item[]> {
  return (value, place) => list(value, place, readItem);
}

/** For a field that is read elsewhere. */
export function anything(value: unknown): unknown {
  return value;
}

/** Later fields win. Objects are merged field by field; other values are replaced. */
export function mergeFields(...layers: readonly Fields[]): Fields {
  // A map, because assigning to an object's "__proto__" would not create a field.
  const merged = new Map<string, unknown>();
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer)) {
      const before = merged.get(key);
      merged.set(key, isObject(before) && isObject(value) ? mergeFields(before, value) : value);
    }
  }
  return Object.fromEntries(merged);
}

function unfit(value: unknown, place: string, wanted: string): StrataError {
  const found = value === undefined ? "missing" : shown(value);
  return new StrataError(
    "config-invalid",
    `${place} is ${found}, but must be ${wanted}`,
    value === undefined ? `add ${place}` : `set ${place} to ${wanted}`,
  );
}

/** Its JSON as far as it is short enough to read, and not nested too deep to be written. */
function shown(value: unknown): string {
  try {
    const json = JSON.stringify(value);
    return json.length > 200 ? `${json.slice(0, 200).toWellFormed()}…` : json;
  } catch {
    return "nested too deep";
  }
}
