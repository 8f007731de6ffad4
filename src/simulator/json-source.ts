// A JSON reader that keeps the order of keys and the spelling of numbers, because providers render both.

export type Json =
  | { readonly kind: "string"; readonly text: string }
  /** As written: 1.0 is not 1. */
  | { readonly kind: "number"; readonly source: string }
  | { readonly kind: "literal"; readonly value: true | false | null }
  | JsonList
  | JsonObject;

export interface JsonList {
  readonly kind: "list";
  readonly items: readonly Json[];
}

/** A map, because JavaScript objects move number-like keys to the front. */
export interface JsonObject {
  readonly kind: "object";
  readonly fields: ReadonlyMap<string, Json>;
}

/** Invalid JSON: what is wrong, and at which character. */
export class JsonFault extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = "JsonFault";
    this.at = at;
  }
}

/** Whether a lone surrogate in a string is accepted: providers differ. */
type LoneSurrogates = "refused" | "kept";

/** Reads one value; throws a JsonFault for invalid JSON. */
export function readJson(source: string, loneSurrogates: LoneSurrogates = "refused"): Json {
  const scanner: Scanner = { source, loneSurrogates, at: 0, depth: 0 };
  const value = readValue(scanner);
  skipSpace(scanner);
  if (scanner.at < source.length)
    throw new JsonFault("unexpected content after document", scanner.at);
  return value;
}

const nothing: ReadonlySet<string> = new Set();

/** The value without white space, with keys in order and numbers as written. */
export function compactJson(json: Json, without: ReadonlySet<string> = nothing): string {
  switch (json.kind) {
    case "string":
      return JSON.stringify(json.text);
    case "number":
      return json.source;
    case "literal":
      return String(json.value);
    case "list":
      return `[${json.items.map((item) => compactJson(item, without)).join(",")}]`;
    case "object": {
      const fields = [...json.fields].filter(([key]) => !without.has(key));
      const texts = fields.map(
        ([key, value]) => `${JSON.stringify(key)}:${compactJson(value, without)}`,
      );
      return `{${texts.join(",")}}`;
    }
  }
}

/** As a JavaScript value; loses spelling and the order of number-like keys. */
export function toPlainValue(json: Json): unknown {
  switch (json.kind) {
    case "string":
      return json.text;
    case "number":
      return Number(json.source);
    case "literal":
      return json.value;
    case "list":
      return json.items.map(toPlainValue);
    case "object":
      return Object.fromEntries(
        [...json.fields].map(([key, value]) => [key, toPlainValue(value)] as const),
      );
  }
}

export function jsonText(text: string): Json {
  return { kind: "string", text };
}

export function jsonObject(entries: Iterable<readonly [string, Json]>): JsonObject {
  return { kind: "object", fields: new Map(entries) };
}

interface Scanner {
  readonly source: string;
  readonly loneSurrogates: LoneSurrogates;
  at: number;
  depth: number;
}

/** A nesting limit, so that hostile bodies cannot exhaust the stack. */
const depthMax = 500;

const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const literals: readonly (readonly [string, true | false | null])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

function readValue(scanner: Scanner): Json {
  skipSpace(scanner);
  switch (scanner.source.charAt(scanner.at)) {
    case '"':
      return { kind: "string", text: readText(scanner) };
    case "{":
      return { kind: "object", fields: readMembers(scanner) };
    case "[":
      return { kind: "list", items: readItems(scanner) };
    default:
      return readScalar(scanner);
  }
}

function readMembers(scanner: Scanner): Map<string, Json> {
  const fields = new Map<string, Json>();
  readSequence(scanner, "}", () => {
    skipSpace(scanner);
    if (scanner.source[scanner.at] !== '"') throw new JsonFault("expected a key", scanner.at);
    const key = readText(scanner);
    skipSpace(scanner);
    if (scanner.source[scanner.at] !== ":") throw new JsonFault("expected ':'", scanner.at);
    scanner.at += 1;
    fields.set(key, readValue(scanner));
  });
  return fields;
}

function readItems(scanner: Scanner): Json[] {
  const items: Json[] = [];
  readSequence(scanner, "]", () => void items.push(readValue(scanner)));
  return items;
}

function readSequence(scanner: Scanner, close: string, readOne: () => void): void {
  scanner.at += 1;
  scanner.depth += 1;
  if (scanner.depth > depthMax) throw new JsonFault("recursion limit exceeded", scanner.at);
  skipSpace(scanner);
  if (scanner.source[scanner.at] !== close) {
    for (;;) {
      readOne();
      skipSpace(scanner);
      const next = scanner.source[scanner.at];
      if (next === close) break;
      if (next !== ",") throw new JsonFault("unexpected character", scanner.at);
      scanner.at += 1;
    }
  }
  scanner.at += 1;
  scanner.depth -= 1;
}

function readText(scanner: Scanner): string {
  const { source } = scanner;
  const start = scanner.at + 1;
  const end = closingQuote(source, start);
  const raw = source.slice(start, end);
  scanner.at = end + 1;
  // oxlint-disable-next-line no-control-regex -- exactly these must be escaped in JSON
  if (/[\u0000-\u001f]/.test(raw)) throw new JsonFault("control character in string", start);
  const text = raw.includes("\\") ? unescaped(raw, start) : raw;
  if (scanner.loneSurrogates === "refused" && !text.isWellFormed()) {
    throw new JsonFault("no low surrogate in string", start);
  }
  return text;
}

function closingQuote(source: string, start: number): number {
  for (let end = start; ; end += 1) {
    end = source.indexOf('"', end);
    if (end === -1) throw new JsonFault("unexpected end of data", source.length);
    let slash = end - 1;
    while (slash >= start && source[slash] === "\\") slash -= 1;
    if ((end - slash) % 2 === 1) return end;
  }
}

function unescaped(raw: string, start: number): string {
  try {
    const text: unknown = JSON.parse(`"${raw}"`);
    if (typeof text === "string") return text;
  } catch {
    // Only an invalid escape can fail here.
  }
  throw new JsonFault("invalid escape in string", start);
}

function readScalar(scanner: Scanner): Json {
  const { source, at } = scanner;
  for (const [spelling, value] of literals) {
    if (source.startsWith(spelling, at)) {
      scanner.at += spelling.length;
      return { kind: "literal", value };
    }
  }
  numberForm.lastIndex = at;
  const found = numberForm.exec(source)?.[0];
  if (found === undefined) {
    throw new JsonFault(at < source.length ? "unexpected character" : "unexpected end of data", at);
  }
  scanner.at += found.length;
  return { kind: "number", source: found };
}

function skipSpace(scanner: Scanner): void {
  const { source } = scanner;
  for (; scanner.at < source.length; scanner.at += 1) {
    const code = source.charCodeAt(scanner.at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
  }
}
