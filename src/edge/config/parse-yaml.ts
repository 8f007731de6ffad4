// Parses a person's YAML: bounded before parsing, nothing expanded, every value with its line and column.
import {
  CST,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  type Document,
  type ParsedNode,
  type YAMLMap,
} from "yaml";
import * as tree from "../../core/config/config-node.ts";
import type { ConfigProblem } from "../../core/config/config-problem.ts";
import { maskText } from "../../core/config/mask-secrets.ts";

export interface ParsedYaml {
  /** Null if the text is not a tree. */
  readonly root: tree.ConfigNode | null;
  readonly problems: readonly ConfigProblem[];
}

export interface YamlFile {
  readonly file: string;
  readonly isFound: boolean;
}

/** An empty text is an empty map. The caller must bound the size. */
export function parseYaml(text: string, file: YamlFile): ParsedYaml {
  const lines = new LineCounter();
  const refused = lookAhead(text, lines, file);
  if (refused !== null) return { root: null, problems: [refused] };
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    resolveKnownTags: false,
    logLevel: "error",
    prettyErrors: false,
    // The parser compares every pair of keys; we check ourselves.
    uniqueKeys: false,
    lineCounter: lines,
  });
  const problems = toProblems(document, lines, file).slice(0, problemsMax);
  if (document.errors.length > 0) return { root: null, problems };
  const at = (node: { readonly range?: readonly number[] | null } | null): tree.Origin =>
    originAt(lines, node?.range?.[0] ?? 0, file);
  const odd: ConfigProblem[] = [];
  const root = toNode(document.contents, at, odd) ?? tree.emptyAt(at(null));
  return { root, problems: [...problems, ...odd].slice(0, problemsMax) };
}

const problemsMax = 20;

/**
 * Refuses text that is expensive to parse or that means something else than it looks, while it is only cut into
 * tokens: the parser is recursive, and a few kilobytes of brackets would end it.
 */
function lookAhead(text: string, lines: LineCounter, file: YamlFile): ConfigProblem | null {
  let offset = 0;
  let isScalarNext = false;
  const brackets: number[] = [];
  let onLine = 0;
  let entries = 0;
  const refuse = (message: string, hint: string, at = offset): ConfigProblem => {
    countLines(text, lines);
    return { severity: "error", origin: originAt(lines, at, file), message, hint };
  };
  const refuseOpen = (at: number): ConfigProblem =>
    refuse("not YAML: this bracket is not closed", "close it", at);
  for (const token of new Lexer().lex(text)) {
    const type: string | null = isScalarNext ? "scalar text" : CST.tokenType(token);
    isScalarNext = type === "scalar";
    if (type === "anchor" || type === "alias") {
      return refuse(
        "an anchor or an alias (& or *) is not allowed",
        "write the value out, or in quotes",
      );
    }
    if (type === "tag") return refuse("a tag (!) is not allowed", "leave it out, or use quotes");
    if (type === "flow-map-start" || type === "flow-seq-start") brackets.push(offset);
    if (type === "flow-map-end" || type === "flow-seq-end") brackets.pop();
    const isStep = type === "seq-item-ind" || type === "explicit-key-ind";
    if (isStep || type === "map-value-ind") onLine += 1;
    if (isStep || type === "map-value-ind" || type === "comma") entries += 1;
    if (type === "comma" || type === "newline") onLine = 0;
    if (brackets.length > depthMax || onLine > depthMax) {
      return refuse(`it is nested more than ${depthMax} deep`, "make it flatter");
    }
    if (entries > entriesMax) {
      return refuse(`it has more than ${entriesMax} settings`, "make it smaller");
    }
    if (type === "flow-error-end") return refuseOpen(brackets.at(-1) ?? offset);
    if (!isControl(type)) offset += token.length;
  }
  const open = brackets.at(-1);
  return open === undefined ? null : refuseOpen(open);
}

const depthMax = 32;

/** Far above what a person writes, and still fast to check. */
const entriesMax = 10_000;

/** A token that the lexer adds, not part of the text. */
function isControl(type: string | null): boolean {
  return type === "scalar" || type === "doc-mode" || type === "flow-error-end";
}

function countLines(text: string, lines: LineCounter): void {
  lines.addNewLine(0);
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) {
    lines.addNewLine(index + 1);
  }
}

function originAt(lines: LineCounter, offset: number, { file, isFound }: YamlFile): tree.Origin {
  const { line, col } = lines.linePos(offset);
  return { kind: "file", file, line: Math.max(1, line), column: Math.max(1, col), isFound };
}

function toProblems(document: Document, lines: LineCounter, file: YamlFile): ConfigProblem[] {
  return [...document.errors, ...document.warnings].map(({ code, message, pos }) => {
    const [first = ""] = message.split("\n");
    const words = ourWords[code] ?? [
      `not YAML: ${maskText(first)}`,
      "correct the line, or the one before it",
    ];
    return {
      severity: "error" as const,
      origin: originAt(lines, pos[0], file),
      message: words[0],
      hint: words[1],
    };
  });
}

const quotes = "put quotes around a value with a colon or a special first character";

const ourWords: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  MULTIPLE_DOCS: ["there is a second document", "keep one, without a line of --- between"],
  BLOCK_AS_IMPLICIT_KEY: ["not YAML: a value cannot go on like this", quotes],
  BAD_SCALAR_START: ["not YAML: a value cannot begin like this", quotes],
  TAB_AS_INDENT: ["not YAML: tabs cannot indent", "indent with spaces"],
  BAD_INDENT: ["not YAML: the indentation does not fit", "indent what belongs together equally"],
};

type At = (node: { readonly range?: readonly number[] | null } | null) => tree.Origin;

function toNode(
  node: ParsedNode | null,
  at: At,
  odd: ConfigProblem[],
  depth = 0,
): tree.ConfigNode | null {
  if (depth > depthMax) {
    const message = `it is nested more than ${depthMax} deep`;
    odd.push({ severity: "error", origin: at(node), message, hint: "make it flatter" });
    return null;
  }
  if (isMap(node)) return toMap(node, at, odd, depth);
  if (isSeq(node)) {
    const items = node.items.map((item) => toNode(item, at, odd, depth + 1) ?? nothingAt(at(item)));
    return { kind: "list", origin: at(node), items };
  }
  return isScalar(node) && node.value !== null
    ? { kind: "scalar", origin: at(node), value: toScalar(node.value) }
    : null;
}

function toMap(map: YAMLMap.Parsed, at: At, odd: ConfigProblem[], depth: number): tree.ConfigMap {
  const entries = new Map<string, tree.ConfigEntry>();
  for (const { key, value } of map.items) {
    const origin = at(key);
    const name = isScalar(key) ? (key.value === null ? null : (key.source ?? "")) : null;
    if (name === null || name === "") {
      const hint = "write name: value";
      odd.push({ severity: "error", origin, message: "the name of a setting must be text", hint });
      continue;
    }
    // The first of two wins, in any spelling: 1 and "1" are the same name.
    if (entries.has(name)) {
      const hint = "keep one of the two";
      odd.push({ severity: "error", origin, message: "this key is written twice", hint });
      continue;
    }
    const node =
      toNode(value, at, odd, depth + 1) ?? nothingAt(value === null ? origin : at(value));
    entries.set(name, { key: name, origin, node });
  }
  return { kind: "map", origin: at(map), entries: [...entries.values()] };
}

/** Numbers beyond exactness stay text, and are refused where a number is wanted. */
function toScalar(value: unknown): tree.ScalarValue {
  if (typeof value === "boolean" || typeof value === "number") return value;
  return String(value);
}

function nothingAt(origin: tree.Origin): tree.ConfigNode {
  return { kind: "scalar", origin, value: null };
}
