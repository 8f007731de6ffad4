// How tools, system text and messages are written for Chat Completions.
import type { LeftOut, Spelled, SpelledBlock, Spelling, Written } from "../../assembly/spelling.ts";
import type { SystemBlock } from "../../assembly/system-blocks.ts";
import type {
  Block,
  JsonText,
  Message,
  ToolResultBlock,
  ToolUseBlock,
} from "../../message/message.ts";
import type { ToolDefinition } from "../../message/tool-definition.ts";
import { toArguments } from "../openai-arguments.ts";
import {
  entryOfParts,
  nameOf,
  plainEntry,
  plainText,
  saidText,
  spellVolatile,
  toSpelled,
  toText,
  type Entry,
  type Leave,
  type Part,
} from "../openai-spelled.ts";
import { partOf, textPart } from "./parts.ts";

export const chatSpelling: Spelling = {
  tools: (tools) => tools.map(spellTool),
  system: (blocks) => blocks.map(spellSystem),
  message: spellMessage,
  volatile: (text, written, how) =>
    spellVolatile(text, how, (message) => spellMessage(message, written)),
};

function spellTool(
  { name, description, inputSchemaJson }: ToolDefinition,
  index: number,
): SpelledBlock {
  const members = `"name":${toText(name)},"description":${toText(description)},"parameters":${inputSchemaJson}`;
  return {
    json: `${index === 0 ? "" : ","}{"type":"function","function":{${members}}}`,
    markerFromEnd: null,
    kind: "tool definition",
    role: "tools",
    endsMessage: false,
    content: [],
  };
}

function spellSystem({ text }: SystemBlock, index: number): SpelledBlock {
  return {
    json: `${index === 0 ? "" : ","}${openOf.system}${textPart(text)}]}`,
    markerFromEnd: 3,
    kind: "system text",
    role: "system",
    endsMessage: true,
    content: [],
  };
}

const openOf = {
  system: '{"role":"developer","content":[',
  user: '{"role":"user","content":[',
} as const;

function spellMessage(message: Message, written: Written): Spelled {
  const leftOut: LeftOut[] = [];
  const leave: Leave = (block, reason) => {
    leftOut.push({ what: nameOf(block), reason });
  };
  const entries =
    message.role === "assistant"
      ? assistantEntries(message.content, leave)
      : partEntries(message, leave);
  return toSpelled(message, entries, written, leftOut);
}

/** What the model said, in one message: its text as a whole, then its calls. */
function assistantEntries(content: readonly Block[], leave: Leave): readonly Entry[] {
  const said: Block[] = [];
  const texts: string[] = [];
  const calls: ToolUseBlock[] = [];
  for (const block of content) {
    const text = saidText(block);
    if (text === "") leave(block, "it holds no text");
    else if (text !== undefined) texts.push(text);
    else if (block.type === "tool_use") calls.push(block);
    else leave(block, "an assistant message of Chat Completions cannot carry it");
    if ((text ?? "") !== "" || block.type === "tool_use") said.push(block);
  }
  if (said.length === 0) return [];
  const text = texts.length === 0 ? "null" : toText(texts.join(""));
  const toolCalls = calls.length === 0 ? "" : `,"tool_calls":[${calls.map(spellCall).join(",")}]`;
  const json = `{"role":"assistant","content":${text}${toolCalls}}`;
  const kind = calls.length === 0 ? "text" : "tool_use";
  return [plainEntry("assistant", { json, kind, content: said })];
}

function spellCall({ id, name, inputJson }: ToolUseBlock): JsonText {
  const call = `"name":${toText(name)},"arguments":${toText(toArguments(inputJson))}`;
  return `{"id":${toText(id)},"type":"function","function":{${call}}}`;
}

/** What a user, a tool or the application says: parts in one message, each tool result in its own. */
function partEntries({ role, content }: Message, leave: Leave): readonly Entry[] {
  const entries: Entry[] = [];
  const speaker = role === "system" ? "system" : "user";
  let parts: Part[] = [];
  const flush = (): void => {
    if (parts.length > 0) entries.push(entryOfParts(speaker, openOf[speaker], parts));
    parts = [];
  };
  for (const block of content) {
    if (block.type === "tool_result") {
      flush();
      entries.push(resultEntry(block, leave));
      continue;
    }
    const part = partOf(block, leave);
    if (part !== undefined) parts.push(speaker === "system" ? asSystemText(part) : part);
  }
  flush();
  return entries;
}

function asSystemText(part: Part): Part {
  return part.kind === "text" ? { ...part, kind: "system text" } : part;
}

/** Text alone: a tool message has no place for anything else. */
function resultEntry(block: ToolResultBlock, leave: Leave): Entry {
  const texts: string[] = [];
  const written: Block[] = [];
  for (const inner of block.content) {
    const text = plainText(inner);
    if (text === undefined) leave(inner, "a tool message of Chat Completions carries text only");
    else {
      texts.push(text);
      written.push(inner);
    }
  }
  const members = `"tool_call_id":${toText(block.toolUseId)},"content":${toText(texts.join("\n"))}`;
  return plainEntry("user", {
    json: `{"role":"tool",${members}}`,
    kind: "tool_result",
    content: [{ ...block, content: written }],
  });
}
