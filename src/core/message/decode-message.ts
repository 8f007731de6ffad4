// JSON text → canonical messages. Whatever we would spell otherwise keeps its exact text beside its meaning.
import { StrataError } from "../strata-error.ts";
import { spellBlock, spellMessage } from "./encode-message.ts";
import {
  arrayItems,
  objectMembers,
  parseJsonText,
  rootSpan,
  stringAt,
  type Span,
} from "./json-text.ts";
import type { Block, JsonText, MediaSource, Message, Role } from "./message.ts";

/** Reads one message. `encodeMessage` gives back exactly the text that came in. */
export function decodeMessage(text: string): Message {
  const json = parseJsonText(text, "the message");
  const fields = readFields(json, rootSpan(json), "message");
  const role = readRole(fields);
  const message: Message = { role, content: readContent(fields, "message") };
  return spellMessage(message) === json ? message : { ...message, json };
}

/** Reads one block. `encodeBlock` gives back exactly the text that came in. */
export function decodeBlock(text: string): Block {
  const json = parseJsonText(text, "the block");
  return readBlock(json, rootSpan(json), "block", "message");
}

/** Where a block stands: a tool result's own content holds no further tool results. */
type Place = "message" | "tool result";

function readBlock(json: JsonText, span: Span, path: string, place: Place): Block {
  const text = json.slice(span.start, span.end);
  const block = readKnownBlock(readFields(json, span, path), place);
  if (block === undefined) return { type: "opaque", json: text };
  return spellBlock(block) === text ? block : { ...block, json: text };
}

type KnownBlock = Exclude<Block, { readonly type: "opaque" }>;

/** Undefined for a type, or a shape of it, that we do not know: such a block is kept to the byte. */
function readKnownBlock(fields: Fields, place: Place): KnownBlock | undefined {
  const type = optionalString(fields, "type") ?? "";
  switch (type) {
    case "text":
      return { type, text: requiredString(fields, "text") };
    case "image":
    case "document":
      return readMedia(fields, type);
    case "tool_use":
      return {
        type,
        id: requiredString(fields, "id"),
        name: requiredString(fields, "name"),
        inputJson: requiredText(fields, "input"),
      };
    case "tool_result":
      return place === "message" ? readToolResult(fields) : undefined;
    case "thinking":
      return { type, text: requiredString(fields, "thinking"), ...readSignature(fields) };
    case "redacted_thinking":
      return { type, data: requiredString(fields, "data") };
    case "compaction":
      return {
        type,
        content: optionalString(fields, "content") ?? null,
        ...readSignature(fields),
      };
    default:
      return undefined;
  }
}

function readToolResult(fields: Fields): KnownBlock {
  return {
    type: "tool_result",
    toolUseId: requiredString(fields, "tool_use_id"),
    content: fields.spans.has("content") ? readContent(fields, "tool result") : [],
    isError: textOf(fields, "is_error") === "true",
  };
}

function readMedia(fields: Fields, type: "image" | "document"): KnownBlock | undefined {
  const source = readSource(fields);
  const title = optionalString(fields, "title");
  if (source === undefined) return undefined;
  return type === "image" || title === undefined ? { type, source } : { type, source, title };
}

function readSignature(fields: Fields): { readonly signature?: string } {
  const signature = optionalString(fields, "signature");
  return signature === undefined ? {} : { signature };
}

function readContent(fields: Fields, place: Place): Block[] {
  const { json, path } = fields;
  const span = fields.spans.get("content");
  if (span !== undefined && json[span.start] === '"') {
    return [{ type: "text", text: stringAt(json, span) }];
  }
  if (span === undefined || json[span.start] !== "[") {
    throw malformed(`${path}.content`, "must be text or a list of blocks");
  }
  return arrayItems(json, span).map((item, index) =>
    readBlock(json, item, `${path}.content.${index}`, place),
  );
}

function readSource(fields: Fields): MediaSource | undefined {
  const span = fields.spans.get("source");
  if (span === undefined) return undefined;
  const source = readFields(fields.json, span, `${fields.path}.source`);
  const kind = optionalString(source, "type");
  switch (kind) {
    case "base64":
    case "text":
      return {
        kind,
        mediaType: requiredString(source, "media_type"),
        data: requiredString(source, "data"),
      };
    case "url":
      return { kind, url: requiredString(source, "url") };
    case "file":
      return { kind, fileId: requiredString(source, "file_id") };
    case undefined:
    default:
      return undefined;
  }
}

function readRole(fields: Fields): Role {
  const role = requiredString(fields, "role");
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

/** An object's members by key; of duplicates the last counts, as for every JSON parser. */
interface Fields {
  readonly json: JsonText;
  readonly path: string;
  readonly spans: ReadonlyMap<string, Span>;
}

function readFields(json: JsonText, span: Span, path: string): Fields {
  if (json[span.start] !== "{") throw malformed(path, "must be an object");
  const members = objectMembers(json, span);
  return { json, path, spans: new Map(members.map(({ key, value }) => [key, value])) };
}

function textOf(fields: Fields, key: string): JsonText | undefined {
  const span = fields.spans.get(key);
  return span && fields.json.slice(span.start, span.end);
}

function requiredText(fields: Fields, key: string): JsonText {
  const text = textOf(fields, key);
  if (text === undefined) throw malformed(`${fields.path}.${key}`, "is missing");
  return text;
}

function optionalString(fields: Fields, key: string): string | undefined {
  const span = fields.spans.get(key);
  return span && fields.json[span.start] === '"' ? stringAt(fields.json, span) : undefined;
}

function requiredString(fields: Fields, key: string): string {
  const value = optionalString(fields, key);
  if (value === undefined) throw malformed(`${fields.path}.${key}`, "must be text");
  return value;
}

function malformed(path: string, problem: string): StrataError {
  return new StrataError("input-invalid", `${path} ${problem}`, "correct that part of the message");
}
