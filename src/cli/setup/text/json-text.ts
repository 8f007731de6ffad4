// JSON with or without comments and trailing commas: the parser says where things are, and we splice between the bytes.
import { parseTree, type Node, type ParseError } from "jsonc-parser";
import { isDeepStrictEqual } from "node:util";
import { assert } from "../../../core/assert.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { lineEndOf, type TextFormat } from "./text-format.ts";

export const jsonText: TextFormat = {
  read: (text, path) => {
    const { node, rest } = findDeepest(readTree(text), path);
    return node === null || rest.length > 0 ? undefined : valueOf(node);
  },
  set: (text, path, value) => {
    const changed = value === undefined ? remove(text, path) : put(text, path, value);
    const there = jsonText.read(changed, path);
    assert(isDeepStrictEqual(there, value), "an edit of JSON did not do what it should");
    return changed;
  },
};

function put(text: string, path: readonly string[], value: unknown): string {
  const root = readTree(text);
  if (root === null) {
    const gap = text === "" || text.endsWith("\n") ? "" : "\n";
    return `${text}${gap}${render(nested(path, value), { indent: "", unit: "  ", end: "\n" })}\n`;
  }
  const { node, rest } = findDeepest(root, path);
  assert(node !== null, "the root is there");
  const [first, ...deeper] = rest;
  if (first === undefined) {
    const place = { indent: indentAt(text, node.offset), unit: unitOf(text), end: lineEndOf(text) };
    const isFlat = !text.slice(node.offset, endOf(node)).includes("\n");
    return splice(text, node.offset, endOf(node), render(value, isFlat ? null : place));
  }
  if (node.type !== "object") throw notAnObject(path.slice(0, path.length - rest.length));
  return insertFirst(text, node, first, nested(deeper, value));
}

/** Before the other members: there a comma follows whatever else the object has, and comments stay where they are. */
function insertFirst(text: string, object: Node, name: string, value: unknown): string {
  const at = object.offset + 1;
  const end = lineEndOf(text);
  const [member] = object.children ?? [];
  const inside = text.slice(at, endOf(object) - 1);
  if (member === undefined) {
    const indent = indentAt(text, object.offset);
    const unit = unitOf(text);
    if (inside.trim() !== "") {
      // Only comments: a line of its own, before them.
      const line = render(value, { indent: `${indent}${unit}`, unit, end });
      return splice(text, at, at, `${end}${indent}${unit}${JSON.stringify(name)}: ${line}${end}`);
    }
    const whole = render({ [name]: value }, { indent, unit, end });
    return splice(text, object.offset, endOf(object), whole);
  }
  const gap = text.slice(at, member.offset);
  if (!gap.includes("\n")) {
    const space = /^\s*/.exec(gap)?.[0] ?? "";
    const added = `${space}${JSON.stringify(name)}: ${render(value, null)},${space === "" ? " " : ""}`;
    return splice(text, at, at, added);
  }
  const indent = indentAt(text, member.offset);
  const place = { indent, unit: unitOf(text), end };
  return splice(text, at, at, `${end}${indent}${JSON.stringify(name)}: ${render(value, place)},`);
}

function remove(text: string, path: readonly string[]): string {
  const { node, rest } = findDeepest(readTree(text), path);
  if (node === null || rest.length > 0 || path.length === 0) return text;
  const property = node.parent;
  const object = property?.parent;
  assert(property !== undefined && object !== undefined, "a named value is a member of an object");
  const members = object.children ?? [];
  const index = members.indexOf(property);
  const next = members[index + 1];
  const before = members[index - 1];
  const start = lineStartOf(text, property.offset);
  const comma = commaAfter(text, endOf(property), next?.offset ?? endOf(object) - 1);
  if (comma !== null) return splice(text, start, comma + 1, "");
  if (before === undefined) return splice(text, start, endOf(property), "");
  const early = commaAfter(text, endOf(before), property.offset);
  assert(early !== null, "members are divided by commas");
  return splice(splice(text, start, endOf(property), ""), early, early + 1, "");
}

/** With the line end and the white space before it, so that an added line is gone as a whole. */
function lineStartOf(text: string, offset: number): number {
  const before = text.slice(0, offset);
  return /(?:\r?\n)?[ \t]*$/.exec(before)?.index ?? offset;
}

/** The first comma outside of comments. */
function commaAfter(text: string, from: number, to: number): number | null {
  const between = text.slice(from, to);
  const bare = between.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, (comment) =>
    " ".repeat(comment.length),
  );
  const at = bare.indexOf(",");
  return at === -1 ? null : from + at;
}

interface Place {
  readonly indent: string;
  readonly unit: string;
  readonly end: string;
}

/** `place`: null writes on one line. */
function render(value: unknown, place: Place | null): string {
  if (place === null) return JSON.stringify(value);
  const { indent, unit, end } = place;
  return JSON.stringify(value, null, unit).replaceAll("\n", `${end}${indent}`);
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value);
}

function splice(text: string, start: number, end: number, added: string): string {
  return `${text.slice(0, start)}${added}${text.slice(end)}`;
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** By the first indented line. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function readTree(text: string): Node | null {
  const errors: ParseError[] = [];
  // A mark of the byte order is no part of JSON, and some editors write one.
  const shown = text.replace(/^\uFEFF/, " ");
  const tree = parseTree(shown, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = shown.slice(0, error.offset).split("\n").length;
    throw new StrataError(
      "config-invalid",
      `line ${line} is not JSON`,
      "correct it first; nothing was changed",
    );
  }
  return tree ?? null;
}

/** As far as the path leads. Of two members with one name the last one counts, as for JSON.parse. */
function findDeepest(
  root: Node | null,
  path: readonly string[],
): { readonly node: Node | null; readonly rest: readonly string[] } {
  const [name, ...rest] = path;
  if (root === null || name === undefined || root.type !== "object")
    return { node: root, rest: path };
  const property = root.children?.findLast(({ children }) => children?.[0]?.value === name);
  const value = property?.children?.[1];
  return value === undefined ? { node: root, rest: path } : findDeepest(value, rest);
}

function valueOf(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(valueOf);
  if (node.type !== "object") return node.value;
  const members = (node.children ?? []).map(({ children = [] }): [string, unknown] => {
    const [name, value] = children;
    return [String(name?.value), value === undefined ? null : valueOf(value)];
  });
  return Object.fromEntries(members);
}

function notAnObject(path: readonly string[]): StrataError {
  const where = path.length === 0 ? "the file" : path.join(".");
  return new StrataError(
    "config-invalid",
    `${where} is not an object`,
    "correct it first; nothing was changed",
  );
}
