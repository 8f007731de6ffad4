// A block of the Messages API in the form our counters take; most are counted by their text.
import type { Block, JsonText, MediaSource } from "../../message/message.ts";
import { compactJson, listOf, memberOf, textOf, type JsonNode } from "../../message/json-tree.ts";

/** Undefined if the text is enough. */
export function countedBlock(block: JsonNode): Block | undefined {
  switch (textOf(block, "type") ?? "") {
    // Citations in a text are not billed again.
    case "text":
      return { type: "text", text: textOf(block, "text") ?? "" };
    case "image":
      return { type: "image", source: sourceOf(block) };
    case "document":
      return documentOf(block);
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return {
        type: "tool_use",
        id: "",
        name: textOf(block, "name") ?? "",
        inputJson: inputOf(block),
      };
    case "tool_result":
      return { type: "tool_result", toolUseId: "", isError: false, content: innerBlocks(block) };
    case "thinking": {
      const text = textOf(block, "thinking") ?? "";
      const signature = textOf(block, "signature");
      return { type: "thinking", text, ...(signature === undefined ? {} : { signature }) };
    }
    case "redacted_thinking":
      return { type: "redacted_thinking", data: textOf(block, "data") ?? "" };
    case "compaction":
      return { type: "compaction", content: textOf(block, "content") ?? null };
    default:
      return undefined;
  }
}

/** Some clients log an input as text. */
function inputOf(block: JsonNode): JsonText {
  const input = memberOf(block, "input");
  if (input === undefined) return "{}";
  return input.kind === "string" ? input.text : compactJson(input);
}

function innerBlocks(block: JsonNode): readonly Block[] {
  const text = textOf(block, "content");
  if (text !== undefined) return [{ type: "text", text }];
  return listOf(block, "content").map(
    (inner): Block =>
      countedBlock(inner) ?? { type: "text", text: textOf(inner, "text") ?? compactJson(inner) },
  );
}

/** Documents made of blocks are counted by their text. */
function documentOf(block: JsonNode): Block | undefined {
  const source = memberOf(block, "source");
  return textOf(source, "type") === "content"
    ? undefined
    : { type: "document", source: sourceOf(block) };
}

function sourceOf(block: JsonNode): MediaSource {
  const source = memberOf(block, "source");
  const mediaType = textOf(source, "media_type") ?? "";
  const data = textOf(source, "data") ?? "";
  switch (textOf(source, "type") ?? "") {
    case "base64":
      return { kind: "base64", mediaType, data };
    case "text":
      return { kind: "text", mediaType, data };
    case "url":
      return { kind: "url", url: textOf(source, "url") ?? "" };
    default:
      return { kind: "file", fileId: textOf(source, "file_id") ?? "" };
  }
}
