// A block of any shape as the canonical block whose tokens are counted. Stubs stand for what was taken out.
import { isObject } from "../../core/message/fields.ts";
import type { Block, JsonText, MediaSource } from "../../core/message/message.ts";
import { countIn, fieldsIn, textIn, type Fields } from "../../core/message/fields.ts";

/** Never fails: what is not understood is counted as the JSON it is. */
export function toCountedBlock(fields: Fields): Block {
  const type = textIn(fields, "type") ?? "";
  switch (type) {
    case "text":
      return { type, text: textIn(fields, "text") ?? "" };
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return toolUse(textIn(fields, "name"), inputJsonOf(fields["input"]));
    case "tool_result":
      return toolResult(fields["content"]);
    case "thinking": {
      const signature = textIn(fields, "signature") ?? stubText(fields, "sig_chars");
      return { type, text: textIn(fields, "thinking") ?? "", signature };
    }
    case "redacted_thinking":
      return { type, data: textIn(fields, "data") ?? stubText(fields, "data_chars") };
    case "compaction":
      return { type, content: textIn(fields, "content") ?? null };
    case "image":
      return { type, source: imageSource(fields) };
    case "document":
      return { type, source: sourceIn(fields) ?? unknownSource };
    default:
      return { type: "opaque", json: JSON.stringify(fields) };
  }
}

export function toolUse(name: string | undefined, inputJson: JsonText): Block {
  return { type: "tool_use", id: "", name: name ?? "", inputJson };
}

/** Text, a list of blocks, or anything else as its JSON. */
export function toolResult(content: unknown): Block {
  return { type: "tool_result", toolUseId: "", content: resultContent(content), isError: false };
}

function resultContent(content: unknown): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (content === undefined || content === null) return [];
  if (!Array.isArray(content)) return [{ type: "text", text: JSON.stringify(content) }];
  return content.map((item: unknown) =>
    isObject(item)
      ? toCountedBlock(item)
      : { type: "text", text: typeof item === "string" ? item : JSON.stringify(item) },
  );
}

function inputJsonOf(input: unknown): JsonText {
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

const unknownSource: MediaSource = { kind: "file", fileId: "" };

function imageSource(fields: Fields): MediaSource {
  const [width, height] = [countIn(fields, "w"), countIn(fields, "h")];
  if (width === undefined || height === undefined) return sourceIn(fields) ?? unknownSource;
  return pngOfSize(width, height);
}

function sourceIn(fields: Fields): MediaSource | undefined {
  const source = fieldsIn(fields, "source");
  const data = textIn(source, "data");
  if (data === undefined) return undefined;
  const kind = source["type"] === "text" ? "text" : "base64";
  return { kind, mediaType: textIn(source, "media_type") ?? "", data };
}

/** The header of a picture is all that counting looks at. */
function pngOfSize(width: number, height: number): MediaSource {
  const header = Buffer.alloc(24);
  header.writeUInt32BE(0x89504e47, 0);
  header.writeUInt32BE(Math.min(width, 0xffffffff), 16);
  header.writeUInt32BE(Math.min(height, 0xffffffff), 20);
  return { kind: "base64", mediaType: "image/png", data: header.toString("base64") };
}

const stubCharactersMax = 10_000_000;

function stubText(fields: Fields, key: string): string {
  return "x".repeat(Math.min(countIn(fields, key) ?? 0, stubCharactersMax));
}
