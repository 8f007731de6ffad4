// How tools, system text and messages are written for the Responses API: every message is a list of items.
import type { Spelling } from "../../../assembly/spelling.ts";
import type { Block, ToolResultBlock } from "../../../message/message.ts";
import { toArguments } from "../arguments.ts";
import {
  fileNameOf,
  partOf,
  type PartWords,
  plainText,
  toAddress,
  resultContent,
} from "../parts.ts";
import { plainEntry, textOfBlock, toText, type Entry, type Leave } from "../spelled.ts";
import { partEntries, toOpenaiSpelling, type SpellingWords } from "../spelling.ts";
import { isSameMeaning, meaningOf } from "./items.ts";
import { readItem, type Item } from "./schema.ts";

const partWords: PartWords = {
  api: "the Responses API",
  text: (text) => `{"type":"input_text","text":${toText(text)}}`,
  image: (source) => {
    const where =
      source.kind === "file"
        ? `"file_id":${toText(source.fileId)}`
        : `"image_url":${toAddress(source)}`;
    return `{"type":"input_image","detail":"auto",${where}}`;
  },
  document: (source, title) => {
    switch (source.kind) {
      case "base64": {
        const name = fileNameOf(title, source.mediaType);
        return `{"type":"input_file","filename":${name},"file_data":${toAddress(source)}}`;
      }
      case "file":
        return `{"type":"input_file","file_id":${toText(source.fileId)}}`;
      case "url":
        return `{"type":"input_file","file_url":${toText(source.url)}}`;
    }
  },
};

const words: SpellingWords = {
  // Not strict, although strict is the API's default: our schemas may leave things open.
  tool: (members) => `{"type":"function",${members},"strict":false}`,
  opens: {
    system: '{"type":"message","role":"developer","content":',
    user: '{"type":"message","role":"user","content":',
  },
  parts: partWords,
  isText: false,
  joinsSystem: false,
  takesLaterSystem: true,
  afterTools: null,
  entries: ({ role, content }, leave) => {
    const speaker = role === "tool" ? "user" : role;
    const sent = content.filter((block, index) => !isRepeated(block, content[index - 1]));
    if (speaker === "assistant") {
      return sent.flatMap((block) => itemEntry(block, speaker) ?? outputEntries(block, leave));
    }
    const alone = (block: Block): Entry | undefined =>
      block.type === "tool_result" ? resultEntry(block, leave) : itemEntry(block, speaker);
    return partEntries({ role, content: sent }, words, alone, leave);
  },
};

export const responsesSpelling: Spelling = toOpenaiSpelling(words);

/** Whether the item before it already says the same. */
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

/** An item is counted by its content, not by its JSON; a sealed one by its length. */
function countedAs(item: Item): Block | undefined {
  if (item.kind !== "reasoning") return meaningOf(item);
  return { type: "thinking", text: item.summary, signature: item.sealed };
}

/** The model's output: an item for each block. */
function outputEntries(block: Block, leave: Leave): readonly Entry[] {
  const text = textOfBlock(block);
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

/** Plain text as one string, anything else as parts; neither can carry a marker. */
function resultEntry(block: ToolResultBlock, leave: Leave): Entry {
  const parts = resultContent(block).flatMap((inner) => partOf(inner, partWords, leave) ?? []);
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
