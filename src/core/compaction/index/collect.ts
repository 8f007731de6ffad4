// Collects every identifier of the compacted messages in one pass, with who wrote it and when.
import type { HistoryMessage } from "../history.ts";
import type { Block, Message } from "../../message/message.ts";
import type { IdentifierKind } from "./classify.ts";
import { extractIdentifiers, type Identifier } from "./identifiers.ts";
import type { Mention } from "./mention.ts";
import { parseInput } from "./tool-input.ts";
import { isObject } from "../../message/fields.ts";

export interface Collected {
  readonly mentions: ReadonlyMap<string, Mention>;
  /** Occurrences of identifiers beyond the limit of distinct ones. */
  readonly overflow: number;
}

/** Bounds memory for any input. A session of 200k tokens has a few thousand. */
const identifiersMax = 50_000;

export function collectMentions(compacted: readonly HistoryMessage[]): Collected {
  const found = new Map<string, Draft>();
  let overflow = 0;
  for (const [place, { message }] of compacted.entries()) {
    const seen = new Set<string>();
    for (const { source, identifiers } of spokenIn(message)) {
      for (const { text, kind } of identifiers) {
        const draft = found.get(text) ?? startDraft(text, kind);
        if (!found.has(text)) {
          if (found.size >= identifiersMax) {
            overflow += 1;
            continue;
          }
          found.set(text, draft);
        }
        draft.occurrences += 1;
        draft.age = compacted.length - 1 - place;
        const mark = `${source} ${text}`;
        if (seen.has(mark)) continue;
        seen.add(mark);
        if (source === "agent") draft.writes += 1;
        if (source === "user") draft.asks += 1;
        if (source === "error") draft.errors += 1;
      }
    }
  }
  return { mentions: found, overflow };
}

type Draft = { -readonly [Key in keyof Mention]: Mention[Key] };

function startDraft(text: string, kind: IdentifierKind): Draft {
  return { text, kind, writes: 0, occurrences: 0, asks: 0, errors: 0, age: 0 };
}

/** The agent will write again what it wrote. Thoughts and results only show what exists. */
type Source = "agent" | "user" | "thought" | "result" | "error";

interface Spoken {
  readonly source: Source;
  readonly identifiers: Iterable<Identifier>;
}

function* spokenIn({ role, content }: Message): Generator<Spoken, void> {
  for (const block of content) {
    if (block.type === "tool_use") {
      const input = parseInput(block.inputJson);
      yield { source: "agent", identifiers: identifiersInInput(input) };
    } else {
      for (const [source, text] of textsIn(block, role === "assistant" ? "agent" : "user")) {
        yield { source, identifiers: extractIdentifiers(text) };
      }
    }
  }
}

function* textsIn(block: Block, speaker: Source): Generator<readonly [Source, string], void> {
  switch (block.type) {
    case "text":
      yield [speaker, block.text];
      return;
    case "thinking":
      yield ["thought", block.text];
      return;
    case "tool_result":
      for (const inner of block.content) yield* textsIn(inner, block.isError ? "error" : "result");
      return;
    case "document":
      if (block.source.kind === "text") yield [speaker, block.source.data];
      return;
    case "compaction":
      yield ["thought", block.content ?? ""];
      return;
    case "tool_use":
    case "image":
    case "redacted_thinking":
    case "opaque":
  }
}

/** Values only, not field names: the tool's definition has those, and it is not compacted. */
function* identifiersInInput(input: unknown): Generator<Identifier, void> {
  const waiting: unknown[] = [input];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") yield* extractIdentifiers(value);
    else if (typeof value === "object" && value !== null) {
      for (const part of Object.values(value)) waiting.push(part);
    }
  }
  yield* findCommands(input);
}

/** The field names that command tools use. */
const commandFields = ["command", "cmd"];
const commandCharactersMax = 80;
/** Only the first lines of a script are examined. */
const scriptCharactersMax = 2_000;

/** Each simple command of at least two words. Skips commands that only change the folder. */
function* findCommands(input: unknown): Generator<Identifier, void> {
  if (!isObject(input)) return;
  for (const field of commandFields) {
    const script = input[field];
    if (typeof script !== "string") continue;
    for (const part of simpleCommands(script.slice(0, scriptCharactersMax))) {
      const command = part.replace(/^&/u, "").trim();
      if (isCommand(command)) yield { text: command, kind: "command" };
    }
  }
}

/** Split at `;`, `|`, `&&` and line ends outside of quotes. A text that goes on to the next lines ends the script. */
function* simpleCommands(script: string): Generator<string, void> {
  let [start, quote] = [0, ""];
  for (let at = 0; at < script.length; at += 1) {
    const character = script[at] ?? "";
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (";|\n".includes(character) || script.startsWith("&&", at)) {
      const command = script.slice(start, at);
      yield command;
      if (command.includes("<<")) return;
      start = at + 1;
    }
  }
  if (quote === "") yield script.slice(start);
}

function isCommand(command: string): boolean {
  return (
    command.length <= commandCharactersMax &&
    /^[a-z][\w./-]* +\S/u.test(command) &&
    !/^(?:cd|echo|head|tail|grep|cat|sed|ls|wc|sort) /u.test(command)
  );
}
