// How tools, system text and messages are written for the Responses API: everything said is an item.
import type { LeftOut, Spelled, SpelledBlock, Spelling, Written } from "../../assembly/spelling.ts";
import type { SystemBlock } from "../../assembly/system-blocks.ts";
import type { Block, Message, ToolResultBlock } from "../../message/message.ts";
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
import { isSameMeaning, meaningOf } from "./items.ts";
import { partOf, textPart } from "./parts.ts";
import { readItem, type Item } from "./schema.ts";

export const responsesSpelling: Spelling = {
  tools: (tools) => tools.map(spellTool),
  system: (blocks) => blocks.map(spellSystem),
  message: spellMessage,
  volatile: (text, written, how) =>
    spellVolatile(text, how, (message) => spellMessage(message, written)),
};

/** Not strict, which this API is unasked: our schemas may leave things open. */
function spellTool(
  { name, description, inputSchemaJson }: ToolDefinition,
  index: number,
): SpelledBlock {
  const members = `"name":${toText(name)},"description":${toText(description)},"parameters":${inputSchemaJson}`;
  return {
    json: `${index === 0 ? "" : ","}{"type":"function",${members},"strict":false}`,
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
  system: '{"type":"message","role":"developer","content":[',
  user: '{"type":"message","role":"user","content":[',
} as const;

function spellMessage(message: Message, written: Written): Spelled {
  const leftOut: LeftOut[] = [];
  const leave: Leave = (block, reason) => {
    leftOut.push({ what: nameOf(block), reason });
  };
  const entries = entriesOf(message, leave);
  return toSpelled(message, entries, written, leftOut);
}

function entriesOf({ role, content }: Message, leave: Leave): readonly Entry[] {
  const speaker = role === "tool" ? "user" : role;
  const said = content.filter((block, index) => !isRepeated(block, content[index - 1]));
  if (speaker === "assistant") {
    return said.flatMap((block) => itemEntry(block, speaker) ?? outputEntries(block, leave));
  }
  const entries: Entry[] = [];
  let parts: Part[] = [];
  const flush = (): void => {
    if (parts.length > 0) entries.push(entryOfParts(speaker, openOf[speaker], parts));
    parts = [];
  };
  for (const block of said) {
    const entry =
      block.type === "tool_result" ? resultEntry(block, leave) : itemEntry(block, speaker);
    if (entry === undefined) {
      const part = partOf(block, leave);
      if (part !== undefined) parts.push(speaker === "system" ? asSystemText(part) : part);
    } else {
      flush();
      entries.push(entry);
    }
  }
  flush();
  return entries;
}

/** The item before it says the same and more. */
function isRepeated(block: Block, before: Block | undefined): boolean {
  if (before?.type !== "opaque") return false;
  const item = readItem(before.json);
  return item !== null && isSameMeaning(item, block);
}

/** An item of this API as it came; undefined for any other block. */
function itemEntry(block: Block, role: Entry["role"]): Entry | undefined {
  const json = block.type === "opaque" || block.type === "thinking" ? block.json : undefined;
  const item = json === undefined ? null : readItem(json);
  if (json === undefined || item === null) return undefined;
  const kind = item.kind === "reasoning" ? "thinking" : "other";
  return plainEntry(role, { json, kind, content: [countedAs(item) ?? block] });
}

/** An item takes tokens for what it says, not for how it is written; a sealed one for its length. */
function countedAs(item: Item): Block | undefined {
  if (item.kind !== "reasoning") return meaningOf(item);
  return { type: "thinking", text: item.summary, signature: item.sealed };
}

/** What the model said: an item for each block. */
function outputEntries(block: Block, leave: Leave): readonly Entry[] {
  const text = saidText(block);
  if (text !== undefined && text !== "") {
    const part = `{"type":"output_text","text":${toText(text)},"annotations":[]}`;
    const json = `{"type":"message","role":"assistant","content":[${part}]}`;
    return [plainEntry("assistant", { json, kind: "text", content: [block] })];
  }
  if (block.type === "tool_use") {
    const call = `"name":${toText(block.name)},"arguments":${toText(toArguments(block.inputJson))}`;
    const json = `{"type":"function_call","call_id":${toText(block.id)},${call}}`;
    return [plainEntry("assistant", { json, kind: "tool_use", content: [block] })];
  }
  leave(block, text === "" ? "it holds no text" : "it is no output item of the Responses API");
  return [];
}

function asSystemText(part: Part): Part {
  return part.kind === "text" ? { ...part, kind: "system text" } : part;
}

/** Text alone as one string, anything more as parts; neither can carry a marker. */
function resultEntry(block: ToolResultBlock, leave: Leave): Entry {
  const parts = block.content.flatMap((inner) => partOf(inner, leave) ?? []);
  const content = parts.flatMap((part) => part.content);
  const texts = content.flatMap((inner) => plainText(inner) ?? []);
  const output =
    texts.length === content.length
      ? toText(texts.join("\n"))
      : `[${parts.map(({ json }) => json).join(",")}]`;
  return plainEntry("user", {
    json: `{"type":"function_call_output","call_id":${toText(block.toolUseId)},"output":${output}}`,
    kind: "tool_result",
    content: [{ ...block, content }],
  });
}
