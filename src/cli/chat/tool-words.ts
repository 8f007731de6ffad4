// A tool use in a few words, and what it would do in a few lines.
import { countBytes } from "../../core/layers/cut-middle.ts";
import type { ToolInput } from "../../core/tools/tool.ts";
import { formatBytes } from "../render-ledger.ts";
import { toPlain, toPlainLine } from "./plain-text.ts";

/** What a person would name first: a path, a command, a pattern. */
const telling = ["command", "pattern", "query", "path", "name", "skill", "file", "url"];

/** Empty where the input says nothing, or cannot be read. */
export function aboutUse(inputJson: string): string {
  const input = readInput(inputJson);
  const found = telling.find((name) => typeof input[name] === "string") ?? firstText(input);
  const words = found === undefined ? "" : wordsOf(input[found]);
  const path = found === "pattern" || found === "query" ? wordsOf(input["path"]) : "";
  return path === "" || path === "." ? words : `${words} in ${path}`;
}

function wordsOf(value: unknown): string {
  return typeof value === "string" ? toPlainLine(value.slice(0, 500)) : "";
}

/** What somebody is asked to allow. Long texts are cut, and how much is missing is told. */
export function previewUse(input: ToolInput): readonly string[] {
  const { path, command, content, old, new: replacement } = input;
  const target = typeof path === "string" ? [toPlainLine(path)] : [];
  if (typeof command === "string") return [...target, ...cutLines(command, "$ ")];
  if (typeof old === "string" && typeof replacement === "string") {
    return [...target, ...cutLines(old, "- "), ...cutLines(replacement, "+ ")];
  }
  if (typeof content === "string") {
    return [...target, ...cutLines(content, "+ "), `${formatBytes(countBytes(content))} in all`];
  }
  return cutLines(JSON.stringify(input, null, 2), "");
}

const linesShown = 8;

function cutLines(text: string, mark: string): readonly string[] {
  const lines = toPlain(text).split("\n");
  const shown = lines.slice(0, linesShown).map((line) => `${mark}${line}`);
  const more = lines.length - shown.length;
  return more === 0 ? shown : [...shown, `… ${more} more ${more === 1 ? "line" : "lines"}`];
}

function readInput(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function firstText(input: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(input).find((name) => typeof input[name] === "string");
}
