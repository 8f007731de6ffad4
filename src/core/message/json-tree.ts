// JSON as it was written: order of keys and spelling of numbers kept, white space and escapes not. One canonical spelling where order has no meaning.
import {
  endOfScalar,
  endOfString,
  parseJsonText,
  skipSeparator,
  skipSpace,
  stringAt,
} from "./json-text.ts";
import { isObject, type Fields } from "./fields.ts";
import type { JsonText } from "./message.ts";
import { StrataError } from "../strata-error.ts";

export type JsonNode = JsonObject | JsonList | JsonString | JsonScalar;

export interface JsonObject {
  readonly kind: "object";
  /** In the order written; of duplicate keys the last counts. */
  readonly members: ReadonlyMap<string, JsonNode>;
}

export interface JsonList {
  readonly kind: "list";
  readonly items: readonly JsonNode[];
}

export interface JsonString {
  readonly kind: "string";
  readonly text: string;
}

/** A number, true, false or null, as written. */
export interface JsonScalar {
  readonly kind: "scalar";
  readonly source: string;
}

/** Reads text that is exactly one JSON value. */
export function parseJsonTree(text: string, what: string): JsonNode {
  const json = parseJsonText(text, what);
  return nodeAt(json, skipSpace(json, 0), 0).node;
}

/** From an object that was parsed before. What the parser changed, such as 1.0 to 1, is not brought back. */
export function toJsonTree(fields: Fields): JsonObject {
  return objectOf(fields, 0);
}

/** Without white space; keys in the order written, those in `without` left out at the top. */
export function compactJson(node: JsonNode, without: ReadonlySet<string> = nothing): string {
  switch (node.kind) {
    case "string":
      return JSON.stringify(node.text);
    case "scalar":
      return node.source;
    case "list":
      return `[${node.items.map((item) => compactJson(item)).join(",")}]`;
    case "object": {
      const kept = [...node.members].filter(([key]) => !without.has(key));
      return objectText(kept.map(([key, value]) => [key, compactJson(value)]));
    }
  }
}

/**
 * The canonical spelling of a JSON text: keys sorted by code unit, no white space, strings escaped one
 * way, the last of duplicate keys. Numbers stay as written: rewriting would change 1.0 and long
 * integers.
 */
export function toCanonicalJson(text: string): JsonText {
  return canonicalText(parseJsonTree(text, "the text"));
}

/** The canonical JSON of a plain value. Leaves out undefined members. */
export function canonicalJsonOf(value: unknown): JsonText {
  const json = JSON.stringify(value);
  if (json === undefined) {
    throw new StrataError("input-invalid", "the value has no JSON form", "pass plain data");
  }
  return toCanonicalJson(json);
}

function canonicalText(node: JsonNode): JsonText {
  if (node.kind === "list") return `[${node.items.map(canonicalText).join(",")}]`;
  if (node.kind !== "object") return compactJson(node);
  const sorted = [...node.members].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return objectText(sorted.map(([key, value]) => [key, canonicalText(value)]));
}

export function objectText(members: Iterable<readonly [string, string]>): string {
  return `{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}

/** A member that is there and is not null. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  const member = node?.kind === "object" ? node.members.get(key) : undefined;
  return member?.kind === "scalar" && member.source === "null" ? undefined : member;
}

/** Whether a member is there and is not null. */
export function hasMember(node: JsonNode | undefined, key: string): boolean {
  return memberOf(node, key) !== undefined;
}

/** The text of a member; undefined where it is none. */
export function textOf(node: JsonNode | undefined, key: string): string | undefined {
  const member = memberOf(node, key);
  return member?.kind === "string" ? member.text : undefined;
}

export function listOf(node: JsonNode | undefined, key: string): readonly JsonNode[] {
  const member = memberOf(node, key);
  return member?.kind === "list" ? member.items : [];
}

/** Whether a member is exactly this scalar, such as `true`. */
export function isScalar(node: JsonNode | undefined, key: string, source: string): boolean {
  const member = memberOf(node, key);
  return member?.kind === "scalar" && member.source === source;
}

const nothing: ReadonlySet<string> = new Set();

/** Where we walk JSON, deeper nesting is refused. A verbatim value may be nested to any depth. */
const depthMax = 500;

interface Parsed {
  readonly node: JsonNode;
  readonly end: number;
}

function nodeOf(value: unknown, depth: number): JsonNode {
  if (depth > depthMax) throw tooDeep();
  if (typeof value === "string") return { kind: "string", text: value };
  if (Array.isArray(value)) {
    return { kind: "list", items: value.map((item: unknown) => nodeOf(item, depth + 1)) };
  }
  return isObject(value)
    ? objectOf(value, depth)
    : { kind: "scalar", source: JSON.stringify(value) ?? "null" };
}

function objectOf(fields: Fields, depth: number): JsonObject {
  const members = new Map<string, JsonNode>();
  for (const [key, member] of Object.entries(fields)) {
    if (member !== undefined) members.set(key, nodeOf(member, depth + 1));
  }
  return { kind: "object", members };
}

function tooDeep(): StrataError {
  return new StrataError(
    "input-invalid",
    `the JSON is nested deeper than ${depthMax} levels`,
    "flatten the value",
  );
}

// The text is known to be valid JSON, so what follows looks only for where things end.

function nodeAt(json: string, start: number, depth: number): Parsed {
  if (depth > depthMax) throw tooDeep();
  switch (json.charAt(start)) {
    case "{":
      return objectAt(json, start, depth);
    case "[":
      return listAt(json, start, depth);
    case '"': {
      const end = endOfString(json, start);
      return { node: { kind: "string", text: stringAt(json, { start, end }) }, end };
    }
    default: {
      const end = endOfScalar(json, start);
      return { node: { kind: "scalar", source: json.slice(start, end) }, end };
    }
  }
}

function objectAt(json: string, start: number, depth: number): Parsed {
  const members = new Map<string, JsonNode>();
  let at = skipSpace(json, start + 1);
  while (json.charAt(at) !== "}") {
    const keyEnd = endOfString(json, at);
    const key = stringAt(json, { start: at, end: keyEnd });
    const value = nodeAt(json, skipSpace(json, skipSpace(json, keyEnd) + 1), depth + 1);
    members.set(key, value.node);
    at = skipSeparator(json, value.end);
  }
  return { node: { kind: "object", members }, end: at + 1 };
}

function listAt(json: string, start: number, depth: number): Parsed {
  const items: JsonNode[] = [];
  let at = skipSpace(json, start + 1);
  while (json.charAt(at) !== "]") {
    const item = nodeAt(json, at, depth + 1);
    items.push(item.node);
    at = skipSeparator(json, item.end);
  }
  return { node: { kind: "list", items }, end: at + 1 };
}
