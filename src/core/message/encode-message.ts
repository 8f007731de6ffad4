// Canonical messages → JSON text. Each value has one spelling; a message that came with another spelling keeps it.
import type { Block, JsonText, MediaSource, Message } from "./message.ts";

/** The message as JSON text: the text it came as, or our own spelling. */
export function encodeMessage(message: Message): JsonText {
  return message.json ?? spellMessage(message);
}

/** The block as JSON text: the text it came as, or our own spelling. */
export function encodeBlock(block: Block): JsonText {
  return block.json ?? spellBlock(block);
}

/** Our own spelling of a message around the exact texts of its blocks. */
export function spellMessage(message: Message): JsonText {
  return `{"role":"${message.role}","content":${encodeBlocks(message.content)}}`;
}

/** Our own spelling of a block, even if it came with another. */
export function spellBlock(block: Block): JsonText {
  switch (block.type) {
    case "text":
      return object("text", ["text", block.text]);
    case "image":
      return object("image", ["source", spellSource(block.source)]);
    case "document":
      return object("document", ["source", spellSource(block.source)], ["title", block.title]);
    case "tool_use":
      return object(
        "tool_use",
        ["id", block.id],
        ["name", block.name],
        ["input", { json: block.inputJson }],
      );
    case "tool_result":
      return object(
        "tool_result",
        ["tool_use_id", block.toolUseId],
        ["content", { json: encodeBlocks(block.content) }],
        ["is_error", block.isError ? { json: "true" } : undefined],
      );
    case "thinking":
      return object("thinking", ["thinking", block.text], ["signature", block.signature]);
    case "redacted_thinking":
      return object("redacted_thinking", ["data", block.data]);
    case "compaction":
      return object(
        "compaction",
        ["content", block.content ?? { json: "null" }],
        ["signature", block.signature],
      );
    case "opaque":
      return block.json;
  }
}

function encodeBlocks(blocks: readonly Block[]): JsonText {
  return `[${blocks.map(encodeBlock).join(",")}]`;
}

function spellSource(source: MediaSource): { readonly json: JsonText } {
  switch (source.kind) {
    case "base64":
    case "text":
      return {
        json: object(source.kind, ["media_type", source.mediaType], ["data", source.data]),
      };
    case "url":
      return { json: object("url", ["url", source.url]) };
    case "file":
      return { json: object("file", ["file_id", source.fileId]) };
  }
}

type MemberValue = string | { readonly json: JsonText } | undefined;

function object(type: string, ...members: readonly (readonly [string, MemberValue])[]): JsonText {
  let json = `{"type":"${type}"`;
  for (const [key, value] of members) {
    if (value === undefined) continue;
    json += `,"${key}":${typeof value === "string" ? JSON.stringify(value) : value.json}`;
  }
  return `${json}}`;
}
