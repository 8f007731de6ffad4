// JSON that remembers what a hash must see: the order of keys and the spelling of numbers.

export type Json =
  | JsonObject
  | JsonArray
  | JsonString
  | { readonly kind: "number"; readonly source: string }
  | { readonly kind: "literal"; readonly value: boolean | null };

export interface JsonObject {
  readonly kind: "object";
  readonly fields: ReadonlyMap<string, Json>;
}

export interface JsonArray {
  readonly kind: "array";
  readonly items: readonly Json[];
}

export interface JsonString {
  readonly kind: "string";
  readonly value: string;
}

/** One spelling for equal values: no spaces, plain escapes, keys and numbers as they came. */
export function compact(value: Json, without: ReadonlySet<string> = new Set()): string {
  switch (value.kind) {
    case "object": {
      const fields = [...value.fields].filter(([key]) => !without.has(key));
      return `{${fields.map(([key, item]) => `${JSON.stringify(key)}:${compact(item, without)}`).join(",")}}`;
    }
    case "array":
      return `[${value.items.map((item) => compact(item, without)).join(",")}]`;
    case "string":
      return JSON.stringify(value.value);
    case "number":
      return value.source;
    case "literal":
      return String(value.value);
  }
}

/** As `JSON.parse` gives it, for sending it back. */
export function toPlain(value: Json): unknown {
  switch (value.kind) {
    case "object":
      return Object.fromEntries([...value.fields].map(([key, item]) => [key, toPlain(item)]));
    case "array":
      return value.items.map(toPlain);
    case "string":
      return value.value;
    case "number":
      return Number(value.source);
    case "literal":
      return value.value;
  }
}

/** The object without some of its own keys. */
export function withoutKeys(value: JsonObject, keys: readonly string[]): JsonObject {
  const fields = new Map([...value.fields].filter(([key]) => !keys.includes(key)));
  return { kind: "object", fields };
}
