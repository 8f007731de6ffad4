// Random tool uses: names, JSON and paths that a confused or hostile model could write.
import type { Random } from "../../harness/random-message.ts";

export interface HostileUse {
  readonly name: string;
  readonly inputJson: string;
}

/** Folders and files that exist in the workspace, always or sometimes. */
export interface Places {
  readonly inside: readonly string[];
  /** Links to the outside, swapped places, and absolute paths outside. */
  readonly hostile: readonly string[];
}

export function randomUse(random: Random, places: Places): HostileUse {
  if (random() < 0.02) {
    return { name: pick(random, oddNames), inputJson: randomJson(random, places) };
  }
  const name = pick(random, ["read", "write", "edit", "list", "glob", "read", "write", "edit"]);
  const tool = random() < 0.02 ? "grep" : name;
  if (random() < 0.1) return { name: tool, inputJson: randomJson(random, places) };
  const text = JSON.stringify(randomInput(random, places, tool));
  return { name: tool, inputJson: random() < 0.05 ? mangle(random, text) : text };
}

export function randomPath(random: Random, { inside, hostile }: Places): string {
  const kind = random();
  if (kind < 0.35) return pick(random, inside);
  if (kind < 0.6) return pick(random, hostile);
  if (kind < 0.7) return `${pick(random, hostile)}/${pick(random, words)}`;
  if (kind < 0.8) return pick(random, ready);
  const length = 1 + Math.floor(random() * 6);
  const all = [...words, ...inside, ...hostile];
  const path = Array.from({ length }, () => pick(random, all)).join(
    pick(random, ["/", "/", "//", "\\"]),
  );
  return random() < 0.1 ? `/${path}` : path;
}

const words = [
  "..",
  "..",
  ".",
  "",
  " ",
  "...",
  "....",
  "~",
  "%2e%2e",
  "..%2f",
  "..\u2215",
  "\u202e..",
  "a",
  "deep",
  "secret.txt",
  "con",
  "$HOME",
  "*",
  "file.txt",
  "\ud800",
  "e\u0301",
  "\u00e9",
  "x".repeat(255),
  "x".repeat(256),
] as const;

const ready = [
  "",
  "/",
  "//",
  ".",
  "..",
  "../",
  "/etc/passwd",
  "/proc/self/environ",
  "/proc/self/root/etc/passwd",
  "/dev/stdin",
  "/dev/zero",
  "file:///etc/passwd",
  "\0",
  "a\0/../../b",
  "a\nb",
  "./././../canary/secret.txt",
  "../".repeat(300),
  "a/".repeat(3000),
] as const;

const oddNames = [
  "",
  "Read",
  "read ",
  "__proto__",
  "constructor",
  "bash",
  "x".repeat(5000),
  "\ud800",
  "../read",
];

function randomInput(random: Random, places: Places, tool: string): Record<string, unknown> {
  const path = randomPath(random, places);
  switch (tool) {
    case "write":
      return { path, content: randomText(random) };
    case "edit":
      return {
        path,
        old: pick(random, ["one", "o", "", "zzz"]),
        new: randomText(random),
        all: random() < 0.5,
      };
    case "glob":
      return { pattern: randomPattern(random, places), ...(random() < 0.5 ? { path } : {}) };
    case "grep":
      return { pattern: pick(random, expressions), literal: random() < 0.2, path };
    case "list":
      return random() < 0.1 ? {} : { path };
    default:
      return { path, ...(random() < 0.2 ? { offset: Math.floor(random() * 5), limit: 2 } : {}) };
  }
}

const expressions = [
  "one",
  ".",
  "(a+)+$",
  "(",
  "[",
  "CANARY",
  "^(\\w+\\s?)*$",
  "\\p{L}",
  "a{1,99999}",
  "",
];

function randomPattern(random: Random, places: Places): string {
  const parts = [
    "**",
    "*",
    "?",
    "[a-z]",
    "{a,b}",
    "{",
    "[",
    "..",
    "\\",
    ...places.hostile,
    ...words,
  ];
  const length = 1 + Math.floor(random() * 5);
  return Array.from({ length }, () => pick(random, parts)).join(pick(random, ["/", "", ","]));
}

function randomText(random: Random): string {
  const kind = random();
  if (kind < 0.6) return "one\ntwo\nthree\n";
  if (kind < 0.8) return "";
  if (kind < 0.9) return "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n";
  if (kind < 0.95) return "\ud83d\ude00 \0 \r\n";
  if (kind < 0.999) return "\udc00";
  return "one ".repeat(200_000);
}

/** Invalid JSON, or JSON of the wrong shape. */
function randomJson(random: Random, places: Places): string {
  const path = JSON.stringify(randomPath(random, places));
  return pick(random, [
    "",
    " ",
    "null",
    "[]",
    "{",
    '"path"',
    "1e999",
    "{}",
    `{"path":${path}`,
    `{"path":[${path}]}`,
    `{"path":{"path":${path}}}`,
    `{"path":"file.txt","path":${path},"content":"x"}`,
    `{"__proto__":{"path":${path}},"content":"x"}`,
    `{"constructor":1,"toString":2,"path":${path}}`,
    `{"path":${path},"offset":1e308,"limit":-1}`,
    `{"path":${path},"offset":12345678901234567890}`,
    `{"path":${"[".repeat(5000)}${"]".repeat(5000)}}`,
    "[".repeat(20_000),
    `{${Array.from({ length: 300 }, (_, index) => `"k${index}":1`).join(",")}}`,
    `{"path":"${"\\u0000".repeat(50)}"}`,
    `\ufeff{"path":${path}}`,
  ]);
}

function mangle(random: Random, text: string): string {
  const at = Math.floor(random() * text.length);
  return random() < 0.5 ? text.slice(0, at) : `${text.slice(0, at)}\u0007${text.slice(at + 1)}`;
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}
