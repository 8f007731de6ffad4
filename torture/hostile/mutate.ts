// Valid samples → hostile inputs: bytes, texts and JSON values that are broken in every way that readers have to expect.
import type { Random } from "../../harness/random-message.ts";

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

export function count(random: Random, most: number): number {
  return Math.floor(random() * (most + 1));
}

export function some<Item>(random: Random, most: number, make: () => Item): Item[] {
  return Array.from({ length: count(random, most) }, make);
}

/** From 1 to `most`, small ones more often, and rarely the greatest. */
export function size(random: Random, most: number): number {
  return Math.max(1, Math.floor(most ** random()));
}

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** Numbers as JSON text: JavaScript has no literal for some of them. */
const numbers = [
  "0",
  "-0",
  "-1",
  "0.5",
  "1e12",
  "1e21",
  "1e400",
  "-1e400",
  "1e-400",
  "2147483648",
  "4294967296",
  "9007199254740993",
  "99999999999999999999999999",
  "1.7976931348623157e308",
];

const words = [
  "",
  " ",
  "\0",
  "\u0007",
  "\ud800",
  "\udc00x",
  "\ufeff",
  "\u202e\u2066",
  "\u2028",
  "é\u0301\u0301",
  "😀",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "null",
  "undefined",
  "NaN",
  "1e400",
  "../../canary/secret.txt",
  "/proc/self/environ",
  "file:///etc/passwd",
  "${HOME}",
  "$(id)",
  "%00",
  "\\",
  '"',
  "'",
  "{{x}}",
  "<|endoftext|>",
  "</script>",
  "\u001b]0;title\u0007",
  "(a+)+$",
  "2026-99-99T99:99:99Z",
  "data:image/png;base64,AAAA",
];

/** A text that a reader may not expect; rarely a long one. */
export function oddText(random: Random): string {
  const kind = random();
  if (kind < 0.7) return pick(random, words);
  if (kind < 0.9)
    return some(random, 6, () => pick(random, words)).join(pick(random, ["", "/", "\n"]));
  return pick(random, ["x", "a ", "\n", "é", "[", '{"a":', "\u0000", "😀"]).repeat(
    size(random, longest),
  );
}

/** Characters of the longest runs. */
const longest = 60_000;

const keys = [
  "__proto__",
  "constructor",
  "toString",
  "length",
  "then",
  "",
  "0",
  "type",
  "role",
  "content",
];

/** Any JSON value as text, with the keys of the samples where there are some. */
export function oddJson(random: Random, known: readonly string[] = keys, depth = 0): string {
  const kind = random();
  if (depth < 5 && kind < 0.22) {
    const members = some(random, 4, () => {
      const key = JSON.stringify(pick(random, random() < 0.8 ? known : keys));
      return `${key}:${oddJson(random, known, depth + 1)}`;
    });
    return `{${members.join(",")}}`;
  }
  if (depth < 5 && kind < 0.4) {
    return `[${some(random, 4, () => oddJson(random, known, depth + 1)).join(",")}]`;
  }
  if (kind < 0.58) return pick(random, numbers);
  if (kind < 0.7) return pick(random, ["true", "false", "null"]);
  if (kind < 0.71) return nested(random);
  return JSON.stringify(oddText(random));
}

function nested(random: Random): string {
  const deep = size(random, 20_000);
  const [open, close] = pick(random, [
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"content":', "}]"],
  ]);
  return `${open.repeat(deep)}null${random() < 0.9 ? close.repeat(deep) : ""}`;
}

/** One to four changes at random places of a JSON value, as text. */
export function mutateJson(random: Random, sample: Json, known: readonly string[]): string {
  const holes = new Map<string, string>();
  let value = sample;
  for (let left = size(random, 4); left > 0; left -= 1) value = change(random, value, known, holes);
  const text = JSON.stringify(value) ?? "null";
  const filled = text.replace(/"\u241f(\d+)"/g, (_, at: string) => holes.get(at) ?? "null");
  return random() < 0.05 ? mutateText(random, filled) : filled;
}

type Holes = Map<string, string>;

function change(random: Random, value: Json, known: readonly string[], holes: Holes): Json {
  const deeper = random() < 0.85;
  if (Array.isArray(value) && value.length > 0 && deeper) {
    const at = Math.floor(random() * value.length);
    return changeList(random, value, at, known, holes);
  }
  if (typeof value === "object" && value !== null && deeper) {
    const entries = Object.entries(value);
    if (entries.length > 0) return changeObject(random, entries, known, holes);
  }
  return hole(oddJson(random, known), holes);
}

/** JSON.stringify cannot write duplicate keys or 1e400, so their text is put in afterwards. */
function hole(text: string, holes: Holes): string {
  const at = String(holes.size);
  holes.set(at, text);
  return `\u241f${at}`;
}

function changeList(
  random: Random,
  list: readonly Json[],
  at: number,
  known: readonly string[],
  holes: Holes,
): Json {
  const kind = random();
  const item = list[at] ?? null;
  if (kind < 0.7) return list.with(at, change(random, item, known, holes));
  if (kind < 0.8) return list.toSpliced(at, 1);
  if (kind < 0.9) return list.toSpliced(at, 0, item);
  if (kind < 0.97) return list.toReversed();
  return [...list, ...Array.from({ length: size(random, 500) }, () => item)];
}

function changeObject(
  random: Random,
  entries: readonly (readonly [string, Json])[],
  known: readonly string[],
  holes: Holes,
): Json {
  const kind = random();
  const at = Math.floor(random() * entries.length);
  const [key, item] = entries[at] ?? ["", null];
  const rest = entries.toSpliced(at, 1);
  if (kind < 0.72) {
    return toObject(entries.with(at, [key, change(random, item, known, holes)]));
  }
  if (kind < 0.8) return toObject(rest);
  if (kind < 0.9) return toObject([...rest, [pick(random, [...known, ...keys]), item]]);
  if (kind < 0.96) {
    return toObject([...entries, [pick(random, known), hole(oddJson(random, known), holes)]]);
  }
  // The same key twice, with another value first.
  const members = entries.map(([name, each]) => `${JSON.stringify(name)}:${JSON.stringify(each)}`);
  const twice = `${JSON.stringify(key)}:${oddJson(random, known)}`;
  const text = `{${[twice, ...members].join(",")}}`;
  return hole(
    text.replace(/"\u241f(\d+)"/g, (_, old: string) => holes.get(old) ?? "null"),
    holes,
  );
}

/** Keeps a key `__proto__` as a key. */
function toObject(entries: readonly (readonly [string, Json])[]): Json {
  return Object.fromEntries(entries);
}

/** All keys in a value, for random values that look like it. */
export function keysIn(value: Json): readonly string[] {
  const found = new Set<string>();
  const visit = (each: Json): void => {
    if (Array.isArray(each)) each.forEach(visit);
    else if (typeof each === "object" && each !== null) {
      for (const [key, inner] of Object.entries(each)) {
        found.add(key);
        visit(inner);
      }
    }
  };
  visit(value);
  return [...found];
}

/** One to six changes of a text: cut, repeated, filled with odd text, digits changed, pieces swapped. */
export function mutateText(random: Random, sample: string): string {
  let text = sample;
  for (let left = size(random, 6); left > 0; left -= 1) text = changeText(random, text);
  return text;
}

function changeText(random: Random, text: string): string {
  const at = Math.floor(random() * (text.length + 1));
  const to = Math.min(text.length, at + size(random, 40));
  const kind = random();
  if (kind < 0.2) return text.slice(0, at) + text.slice(to);
  if (kind < 0.4) return text.slice(0, at) + oddText(random) + text.slice(at);
  if (kind < 0.5) return text.slice(0, at) + oddText(random) + text.slice(to);
  if (kind < 0.6)
    return text.slice(0, at) + text.slice(at, to).repeat(size(random, 50)) + text.slice(to);
  if (kind < 0.7) return text.slice(0, at);
  if (kind < 0.85) {
    const found = [...text.slice(0, 5000).matchAll(/-?\d+(?:\.\d+)?/g)];
    const digits = found[Math.floor(random() * found.length)];
    if (digits === undefined) return text;
    return (
      text.slice(0, digits.index) +
      pick(random, numbers) +
      text.slice(digits.index + digits[0].length)
    );
  }
  const code = text.charCodeAt(at) ^ (1 << Math.floor(random() * 7));
  return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
}

/** One to eight changes of bytes, so that the result need not be UTF-8. */
export function mutateBytes(random: Random, sample: Uint8Array): Uint8Array {
  let bytes = Buffer.from(sample);
  for (let left = size(random, 8); left > 0; left -= 1) {
    const at = Math.floor(random() * (bytes.length + 1));
    const kind = random();
    if (kind < 0.5 && bytes.length > 0) {
      const place = Math.min(at, bytes.length - 1);
      bytes[place] = (bytes[place] ?? 0) ^ (1 << Math.floor(random() * 8));
    } else if (kind < 0.75) {
      const odd = pick(random, oddBytes);
      bytes = Buffer.concat([bytes.subarray(0, at), odd, bytes.subarray(at)]);
    } else if (kind < 0.9) bytes = bytes.subarray(0, at);
    else bytes = Buffer.concat([bytes, bytes.subarray(at)]);
  }
  return bytes;
}

const oddBytes = [
  [0],
  [0xff],
  [0xc3],
  [0xed, 0xa0, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xef, 0xbb, 0xbf],
  [0xfe, 0xff],
  [0x0d],
  [0x0a],
  [0x1b, 0x5b],
].map((bytes) => Buffer.from(bytes));
