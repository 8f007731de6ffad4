// JSON text → canonical messages. Where our spelling would differ, the exact text is kept too.
import { StrataError } from "../strata-error.ts";
import { spellBlock, spellMessage } from "./encode-message.ts";
import * as jsonText from "./json-text.ts";
import type { Block, JsonText, MediaSource, Message, Role } from "./message.ts";

/**
 * Reads one message. `encodeMessage` returns exactly the text that came in, except that a bare lone
 * surrogate, which UTF-8 cannot carry, comes back escaped.
 */
export function decodeMessage(text: string): Message {
  const json = jsonText.parseJsonText(text, "the message");
  const fields = readFields(json, jsonText.rootSpan(json), "message");
  const content = contentOf(fields, "message");
  if (content === undefined) {
    throw malformed(`${fields.path}.content`, "must be text or a list of blocks");
  }
  const message: Message = { role: readRole(fields), content };
  return spellMessage(message) === json ? message : { ...message, json };
}

/** Reads one block. `encodeBlock` returns the text that came in, as for messages. */
export function decodeBlock(text: string): Block {
  const json = jsonText.parseJsonText(text, "the block");
  return readBlock(json, jsonText.rootSpan(json), "block", "message");
}

/** Where a block stands. A tool result's content holds no further tool results. */
type Place = "message" | "tool result";

function readBlock(json: JsonText, span: jsonText.Span, path: string, place: Place): Block {
  const text = json.slice(span.start, span.end);
  const block = readKnownBlock(readFields(json, span, path), place);
  if (block === undefined) return { type: "opaque", json: text };
  return spellBlock(block) === text ? block : { ...block, json: text };
}

type KnownBlock = Exclude<Block, { readonly type: "opaque" }>;

/** Undefined for an unknown type or shape. The caller keeps such a block byte for byte. */
function readKnownBlock(fields: Fields, place: Place): KnownBlock | undefined {
  const type = stringOf(fields, "type");
  switch (type ?? "") {
    case "text": {
      const text = stringOf(fields, "text");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "image":
    case "document":
      return readMedia(fields, type === "image" ? "image" : "document");
    case "tool_use":
      return readToolUse(fields);
    case "tool_result":
      return place === "message" ? readToolResult(fields) : undefined;
    case "thinking":
      return readThinking(fields);
    case "redacted_thinking": {
      const data = stringOf(fields, "data");
      return data === undefined ? undefined : { type: "redacted_thinking", data };
    }
    case "compaction":
      return readCompaction(fields);
    default:
      return undefined;
  }
}

function readToolUse(fields: Fields): KnownBlock | undefined {
  const [id, name] = [stringOf(fields, "id"), stringOf(fields, "name")];
  const inputJson = textOf(fields, "input");
  if (id === undefined || name === undefined || inputJson === undefined) return undefined;
  return { type: "tool_use", id, name, inputJson };
}

function readToolResult(fields: Fields): KnownBlock | undefined {
  const toolUseId = stringOf(fields, "tool_use_id");
  const content = fields.spans.has("content") ? contentOf(fields, "tool result") : [];
  const isError = textOf(fields, "is_error") ?? "false";
  const isKnown = isError === "true" || isError === "false";
  if (toolUseId === undefined || content === undefined || !isKnown) return undefined;
  return { type: "tool_result", toolUseId, content, isError: isError === "true" };
}

function readThinking(fields: Fields): KnownBlock | undefined {
  const [text, signature] = [stringOf(fields, "thinking"), stringOf(fields, "signature")];
  if (text === undefined || (signature === undefined && fields.spans.has("signature"))) {
    return undefined;
  }
  return signature === undefined
    ? { type: "thinking", text }
    : { type: "thinking", text, signature };
}

function readCompaction(fields: Fields): KnownBlock | undefined {
  const [summary, signature] = [stringOf(fields, "content"), stringOf(fields, "signature")];
  const content = textOf(fields, "content") === "null" ? null : summary;
  if (content === undefined || (signature === undefined && fields.spans.has("signature"))) {
    return undefined;
  }
  return signature === undefined
    ? { type: "compaction", content }
    : { type: "compaction", content, signature };
}

function readMedia(fields: Fields, type: "image" | "document"): KnownBlock | undefined {
  const source = readSource(fields);
  const title = stringOf(fields, "title");
  if (source === undefined) return undefined;
  return type === "image" || title === undefined ? { type, source } : { type, source, title };
}

function readSource({ json, spans, path }: Fields): MediaSource | undefined {
  const span = spans.get("source");
  if (span === undefined || json[span.start] !== "{") return undefined;
  const source = readFields(json, span, `${path}.source`);
  const [mediaType, data] = [stringOf(source, "media_type"), stringOf(source, "data")];
  const [url, fileId] = [stringOf(source, "url"), stringOf(source, "file_id")];
  const kind = stringOf(source, "type");
  switch (kind ?? "") {
    case "base64":
    case "text":
      if (mediaType === undefined || data === undefined) return undefined;
      return { kind: kind === "text" ? "text" : "base64", mediaType, data };
    case "url":
      return url === undefined ? undefined : { kind: "url", url };
    case "file":
      return fileId === undefined ? undefined : { kind: "file", fileId };
    default:
      return undefined;
  }
}

/** Text counts as a list of one block. Undefined if the value is neither text nor a list. */
function contentOf({ json, path, spans }: Fields, place: Place): Block[] | undefined {
  const span = spans.get("content");
  if (span === undefined) return undefined;
  if (json[span.start] === '"') return [{ type: "text", text: jsonText.stringAt(json, span) }];
  if (json[span.start] !== "[") return undefined;
  return jsonText
    .arrayItems(json, span)
    .map((item, index) => readBlock(json, item, `${path}.content.${index}`, place));
}

function readRole(fields: Fields): Role {
  const role = stringOf(fields, "role") ?? "";
  switch (role) {
    case "user":
    case "assistant":
    case "system":
    case "tool":
      return role;
    default:
      throw malformed(
        `${fields.path}.role`,
        `must be user, assistant, system or tool, not "${role}"`,
      );
  }
}

/** An object's members by key. The last of duplicate keys counts, as in every JSON parser. */
interface Fields {
  readonly json: JsonText;
  readonly path: string;
  readonly spans: ReadonlyMap<string, jsonText.Span>;
}

function readFields(json: JsonText, span: jsonText.Span, path: string): Fields {
  if (json[span.start] !== "{") throw malformed(path, "must be an object");
  const members = jsonText.objectMembers(json, span);
  return { json, path, spans: new Map(members.map(({ key, value }) => [key, value])) };
}

function textOf(fields: Fields, key: string): JsonText | undefined {
  const span = fields.spans.get(key);
  return span && fields.json.slice(span.start, span.end);
}

function stringOf(fields: Fields, key: string): string | undefined {
  const span = fields.spans.get(key);
  return span && fields.json[span.start] === '"' ? jsonText.stringAt(fields.json, span) : undefined;
}

function malformed(path: string, problem: string): StrataError {
  return new StrataError("input-invalid", `${path} ${problem}`, "correct that part of the message");
}
