// How tools, system text and messages are written for Chat Completions, by the rules of the server.
import type { Spelling } from "../../../assembly/spelling.ts";
import type { Block, JsonText, ToolResultBlock, ToolUseBlock } from "../../../message/message.ts";
import type { ModelFacts } from "../../../models/model-facts.ts";
import type { WireRules } from "../../../models/wire-rules.ts";
import { toArguments } from "../arguments.ts";
import { fileNameOf, plainText, resultContent, toAddress, type PartWords } from "../parts.ts";
import { plainEntry, textOfBlock, toText, type Entry, type Leave } from "../spelled.ts";
import { partEntries, toOpenaiSpelling, type SpellingWords } from "../spelling.ts";
import { hashContent } from "../../../hash.ts";

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

/** A marker needs a part to stand on, so a model that takes markers gets parts everywhere. */
export function chatSpelling({ wire, cache }: Pick<ModelFacts, "wire" | "cache">): Spelling {
  const isText = wire.content === "text" && cache.markers === null;
  return toOpenaiSpelling(wordsFor(wire, isText));
}

function wordsFor(wire: WireRules, isText: boolean): SpellingWords {
  const words: SpellingWords = {
    tool: (members) => `{"type":"function","function":{${members}}}`,
    opens: {
      system: `{"role":"${wire.systemRole}","content":`,
      user: '{"role":"user","content":',
    },
    parts: partWords,
    isText,
    joinsSystem:
      wire.systemMessages === "one, first" || (wire.systemMessages !== "anywhere" && isText),
    takesLaterSystem: wire.systemMessages === "anywhere",
    afterTools: wire.afterTools === "assistant" ? afterTools : null,
    entries: (message, leave) => {
      if (message.role === "assistant") return assistantEntries(message.content, leave, wire);
      const alone = (block: Block): Entry | undefined =>
        block.type === "tool_result" ? resultEntry(block, leave, wire) : undefined;
      return partEntries(message, words, alone, leave);
    },
  };
  return words;
}

/** Stands between a tool's result and words of the user on servers that demand an answer there. */
const afterTools = '{"role":"assistant","content":"I have the results."}';

/** The model's message: its whole text, then its calls. */
function assistantEntries(
  content: readonly Block[],
  leave: Leave,
  wire: WireRules,
): readonly Entry[] {
  const sent: Block[] = [];
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: ToolUseBlock[] = [];
  for (const block of content) {
    const text = textOfBlock(block);
    const isThought = block.type === "thinking" && wire.thinking === "reasoning_content";
    if (text === "") leave(block, "it holds no text");
    else if (text !== undefined) texts.push(text);
    else if (block.type === "tool_use") calls.push(block);
    else if (isThought) thoughts.push(block.text);
    else leave(block, "an assistant message of Chat Completions cannot carry it");
    if ((text ?? "") !== "" || block.type === "tool_use" || isThought) sent.push(block);
  }
  if (texts.length === 0 && calls.length === 0) {
    for (const block of sent) leave(block, "a message of thinking alone is not taken");
    return [];
  }
  const text = texts.length === 0 ? "null" : toText(texts.join(""));
  const reasoning =
    wire.thinking === "reasoning_content" && (thoughts.length > 0 || calls.length > 0)
      ? `,"reasoning_content":${toText(thoughts.join(""))}`
      : "";
  const spelled = calls.map((call) => spellCall(call, wire)).join(",");
  const toolCalls = calls.length === 0 ? "" : `,"tool_calls":[${spelled}]`;
  const json = `{"role":"assistant","content":${text}${reasoning}${toolCalls}}`;
  const kind = calls.length === 0 ? "text" : "tool_use";
  return [plainEntry("assistant", { json, kind, content: sent })];
}

function spellCall({ id, name, inputJson }: ToolUseBlock, wire: WireRules): JsonText {
  const call = `"name":${toText(name)},"arguments":${toText(toArguments(inputJson))}`;
  return `{"id":${toText(toolIdFor(id, wire))},"type":"function","function":{${call}}}`;
}

/** Text only: a tool message cannot hold anything else. */
function resultEntry(block: ToolResultBlock, leave: Leave, wire: WireRules): Entry {
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
  const id = toText(toolIdFor(block.toolUseId, wire));
  const members = `"tool_call_id":${id},"content":${toText(texts.join("\n"))}`;
  return plainEntry("user", {
    json: `{"role":"tool",${members}}`,
    kind: "tool_result",
    content: [{ ...block, content: written }],
  });
}

function filePart(members: string): JsonText {
  return `{"type":"file","file":{${members}}}`;
}

/** The same input gives the same id: a call and its result change alike. */
function toolIdFor(id: string, { toolIds }: Pick<WireRules, "toolIds">): string {
  if (toolIds === "any" || /^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return hashContent(id).slice(-9);
}
