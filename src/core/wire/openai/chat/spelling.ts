// How tools, system text and messages are written for Chat Completions.
import type { Spelling } from "../../../assembly/spelling.ts";
import type { Block, JsonText, ToolResultBlock, ToolUseBlock } from "../../../message/message.ts";
import { toArguments } from "../arguments.ts";
import { fileNameOf, type PartWords, plainText, toAddress, resultContent } from "../parts.ts";
import { plainEntry, textOfBlock, toText, type Entry, type Leave } from "../spelled.ts";
import { partEntries, toOpenaiSpelling, type SpellingWords } from "../spelling.ts";

const partWords: PartWords = {
  api: "Chat Completions",
  text: (text) => `{"type":"text","text":${toText(text)}}`,
  image: (source) =>
    source.kind === "file"
      ? filePart(`"file_id":${toText(source.fileId)}`)
      : `{"type":"image_url","image_url":{"url":${toAddress(source)}}}`,
  document: (source, title) => {
    switch (source.kind) {
      case "base64":
        return filePart(
          `"filename":${fileNameOf(title, source.mediaType)},"file_data":${toAddress(source)}`,
        );
      case "file":
        return filePart(`"file_id":${toText(source.fileId)}`);
      case "url":
        return undefined;
    }
  },
};

const words: SpellingWords = {
  tool: (members) => `{"type":"function","function":{${members}}}`,
  opens: {
    system: '{"role":"developer","content":[',
    user: '{"role":"user","content":[',
  },
  parts: partWords,
  entries: (message, leave) => {
    if (message.role === "assistant") return assistantEntries(message.content, leave);
    const alone = (block: Block): Entry | undefined =>
      block.type === "tool_result" ? resultEntry(block, leave) : undefined;
    return partEntries(message, words, alone, leave);
  },
};

export const chatSpelling: Spelling = toOpenaiSpelling(words);

/** The model's message: its whole text, then its calls. */
function assistantEntries(content: readonly Block[], leave: Leave): readonly Entry[] {
  const sent: Block[] = [];
  const texts: string[] = [];
  const calls: ToolUseBlock[] = [];
  for (const block of content) {
    const text = textOfBlock(block);
    if (text === "") leave(block, "it holds no text");
    else if (text !== undefined) texts.push(text);
    else if (block.type === "tool_use") calls.push(block);
    else leave(block, "an assistant message of Chat Completions cannot carry it");
    if ((text ?? "") !== "" || block.type === "tool_use") sent.push(block);
  }
  if (sent.length === 0) return [];
  const text = texts.length === 0 ? "null" : toText(texts.join(""));
  const toolCalls = calls.length === 0 ? "" : `,"tool_calls":[${calls.map(spellCall).join(",")}]`;
  const json = `{"role":"assistant","content":${text}${toolCalls}}`;
  const kind = calls.length === 0 ? "text" : "tool_use";
  return [plainEntry("assistant", { json, kind, content: sent })];
}

function spellCall({ id, name, inputJson }: ToolUseBlock): JsonText {
  const call = `"name":${toText(name)},"arguments":${toText(toArguments(inputJson))}`;
  return `{"id":${toText(id)},"type":"function","function":{${call}}}`;
}

/** Text only: a tool message cannot hold anything else. */
function resultEntry(block: ToolResultBlock, leave: Leave): Entry {
  const texts: string[] = [];
  const written: Block[] = [];
  for (const inner of resultContent(block)) {
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

function filePart(members: string): JsonText {
  return `{"type":"file","file":{${members}}}`;
}
