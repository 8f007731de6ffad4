// The identifiers a compaction must not lose, found independently of the index under test.
import type { HistoryMessage } from "../../src/core/compaction/history.ts";
import type { Block } from "../../src/core/message/message.ts";
import type { CompactionCase } from "./cases.ts";

export const identifierKinds = [
  "url",
  "path",
  "file name",
  "id",
  "version",
  "flag",
  "constant",
  "dotted name",
  "symbol",
] as const;

export type IdentifierKind = (typeof identifierKinds)[number];

/** The characters of identifiers. */
const words = /[\p{L}\p{N}_./:@#%+~$=-]+/gu;
const charactersMin = 5;
/** Longer runs are data, not names. */
const charactersMax = 300;

/** Whole words between white space, quotes and brackets, without punctuation at the ends. */
export function findIdentifiers(text: string): Map<string, IdentifierKind> {
  const found = new Map<string, IdentifierKind>();
  for (const word of new Set(allWords(text))) {
    const kind = kindOf(word);
    if (kind !== null) found.set(word, kind);
  }
  return found;
}

/** Every identifier, with repetitions. */
export function findWords(text: string): string[] {
  const found = findIdentifiers(text);
  return allWords(text).filter((word) => found.has(word));
}

function allWords(text: string): string[] {
  const runs = Array.from(text.matchAll(words), ([run]) => run);
  return runs
    .filter((run) => run.length <= charactersMax)
    .flatMap(wordsOf)
    .filter((word) => word.length >= charactersMin);
}

/** Splits `KEY=value`, `file.ts:12` and `a:b` into parts; keeps URLs whole. */
function wordsOf(run: string): readonly string[] {
  const parts = run.includes("://") ? [run] : run.split(/[:=#@+~$%]+/u);
  return parts.map((part) => part.replace(/^-+(?!-?[a-z])|^-(?!-)|[./:@#%+~$=-]+$/gu, ""));
}

function kindOf(word: string): IdentifierKind | null {
  if (/^[a-z]+:\/\/./u.test(word)) return "url";
  if (/^v?\d+(\.\d+){2,}/u.test(word)) return "version";
  if (/^--[a-z]/u.test(word)) return "flag";
  if (/^[0-9a-f-]{7,}$/u.test(word) && /\d/u.test(word) && /[a-f]/u.test(word)) return "id";
  if (/^[A-Za-z]{2,}-\d+$/u.test(word)) return "id";
  if (/^[.~]{0,2}\/?[\w.@-]+(\/[\w.@-]+)+$/u.test(word)) return isPath(word) ? "path" : null;
  if (/^[\w-]+(\.[\w-]+)*\.[a-z][a-z0-9]{0,4}$/u.test(word) && /^[a-z]/iu.test(word))
    return "file name";
  if (/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/u.test(word)) return "constant";
  if (/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/u.test(word)) return "dotted name";
  if (/^\w+$/u.test(word) && /[A-Za-z]/u.test(word) && isSymbol(word)) return "symbol";
  return null;
}

/** Two plain words with a slash are prose: `if/else`, `read/write`. */
function isPath(word: string): boolean {
  return /[A-Za-z]{2}/u.test(word) && !/^[A-Za-z]+\/[A-Za-z]+$/u.test(word);
}

/** snake_case, camelCase, PascalCase of two words or more. */
function isSymbol(word: string): boolean {
  return /[A-Za-z0-9]_[A-Za-z0-9]/u.test(word) || /[a-z0-9][A-Z]/u.test(word);
}

/** Whether the text contains it as a whole word: no letter, digit or underscore on either side. */
export function stands(text: string, identifier: string): boolean {
  for (let at = text.indexOf(identifier); at !== -1; at = text.indexOf(identifier, at + 1)) {
    const [before, behind] = [text[at - 1], text[at + identifier.length]];
    if (!isWordCharacter(before) && !isWordCharacter(behind)) return true;
  }
  return false;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}

/**
 * Identifiers that are in the compacted part, not in the kept part, and that the agent later writes in text or a tool's
 * input before a tool result or the user shows them again.
 */
export function findNeeded(each: CompactionCase): Map<string, IdentifierKind> {
  const compacted = new Set(findIdentifiers(textOf(each.history.slice(0, each.tailFrom))).keys());
  let shown = textOf(each.history.slice(each.tailFrom));
  const written = new Set<string>();
  const needed = new Map<string, IdentifierKind>();
  for (const message of each.after) {
    const text = textOf([message]);
    if (message.message.role !== "assistant") {
      shown += `\n${text}`;
      continue;
    }
    for (const [identifier, kind] of findIdentifiers(text)) {
      if (written.has(identifier)) continue;
      written.add(identifier);
      if (compacted.has(identifier) && !stands(shown, identifier)) needed.set(identifier, kind);
    }
  }
  return needed;
}

/** Text, tool inputs and results; without thinking and the names of a tool's fields. */
export function textOf(messages: readonly HistoryMessage[]): string {
  return messages.flatMap(({ message }) => message.content.flatMap(textsOf)).join("\n");
}

function textsOf(block: Block): string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "tool_use":
      return valuesOf(JSON.parse(block.inputJson));
    case "tool_result":
      return block.content.flatMap(textsOf);
    case "thinking":
    case "redacted_thinking":
    case "image":
    case "document":
    case "compaction":
    case "opaque":
      return [];
  }
}

function valuesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(valuesOf) : [];
}
