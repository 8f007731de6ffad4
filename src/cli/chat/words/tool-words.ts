// A tool use as text: in a few words, and in full.
import { countBytes } from "../../../core/layers/cut-middle.ts";
import type { ToolInput } from "../../../core/tools/tool.ts";
import { formatBytes, toPrintable } from "../../ledger/render-ledger.ts";
import { toPlainLine } from "./plain-text.ts";

/** The inputs that say most about a use, best first. */
const namingInputs = ["command", "pattern", "query", "path", "name", "skill", "file", "url"];

/** Empty if the input has none of them or cannot be read. */
export function aboutUse(inputJson: string): string {
  const input = readInput(inputJson);
  const found = namingInputs.find((name) => typeof input[name] === "string") ?? firstText(input);
  const words = found === undefined ? "" : wordsOf(input[found]);
  const path = found === "pattern" || found === "query" ? wordsOf(input["path"]) : "";
  return path === "" || path === "." ? words : `${words} in ${path}`;
}

function wordsOf(value: unknown): string {
  return typeof value === "string" ? toPlainLine(value.slice(0, 500)) : "";
}

/** What the user is asked to allow, in full, with control characters visible. */
export function previewUse(input: ToolInput): readonly string[] {
  const { path, ...rest } = input;
  if (path !== undefined && typeof path !== "string") return toJsonLines(input);
  const target = path === undefined ? [] : [toVisible(path).replaceAll("\n", "\\n")];
  const { command, content, old, new: replacement, ...others } = rest;
  const more = Object.keys(others).length === 0 ? [] : toJsonLines(others);
  const isOnly = (...names: readonly string[]): boolean =>
    Object.keys(rest).length === names.length + Object.keys(others).length;
  if (typeof command === "string" && isOnly("command")) {
    return [...target, ...markLines(command, "$ "), ...more];
  }
  if (typeof content === "string" && isOnly("content")) {
    const size = `${formatBytes(countBytes(content))} in all`;
    return [...target, ...markLines(content, "+ "), ...more, size];
  }
  if (typeof old === "string" && typeof replacement === "string" && isOnly("old", "new")) {
    return [...target, ...markLines(old, "- "), ...markLines(replacement, "+ "), ...more];
  }
  return toJsonLines(input);
}

function toJsonLines(value: object): readonly string[] {
  return markLines(JSON.stringify(value, null, 2), "");
}

function markLines(text: string, mark: string): readonly string[] {
  return toVisible(text)
    .split("\n")
    .map((line) => `${mark}${line}`);
}

/** Shows control characters instead of removing them: a shell may run what follows them. */
function toVisible(text: string): string {
  return toPrintable(text.replaceAll("\r\n", "\n"));
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
