// The blocks of one message as Converse writes them, and why the others are left out.
import { hashContent } from "../../../hash.ts";
import { parseFields } from "../../../message/fields.ts";
import type { BlockKind } from "../../../assembly/prompt-block.ts";
import type { LeftOut } from "../../../assembly/spelling.ts";
import type {
  Block,
  JsonText,
  MediaSource,
  Message,
  ToolResultBlock,
} from "../../../message/message.ts";
import { toTakenId } from "../../anthropic-messages/spell-content.ts";
import type { ContentPiece, SpelledContent } from "../../open-messages.ts";
import { repairCharacters, repairOf } from "../../repair-characters.ts";
import {
  readToolChange,
  refuseToolChange,
  toConverseChange,
  type ToolChange,
} from "../../tool-changes.ts";
import { kindOfMember, memberOfBlock } from "./schema.ts";

export function spellContent(message: Message, takesToolChanges: boolean): SpelledContent {
  const pieces: ContentPiece[] = [];
  const leftOut: LeftOut[] = [];
  for (const block of message.content) {
    const change = readToolChange(block);
    const spelled =
      change === undefined ? spellBlock(block) : spellChange(change, message, takesToolChanges);
    leftOut.push(...spelled.leftOut);
    if (spelled.json === null) continue;
    const { json, count } = repairCharacters(spelled.json);
    if (count > 0) leftOut.push(repairOf(`a block of type ${block.type}`, count));
    const { kind } = spelled;
    pieces.push({ json, kind, mayCarryMarker: !isThinking(kind), block });
  }
  return { pieces, leftOut };
}

function isThinking(kind: BlockKind): boolean {
  return kind === "thinking" || kind === "redacted_thinking";
}

/** Null for a block that is not sent. */
interface SpelledOne {
  readonly json: JsonText | null;
  readonly kind: BlockKind;
  readonly leftOut: readonly LeftOut[];
}

function sent(kind: BlockKind, json: JsonText, leftOut: readonly LeftOut[] = []): SpelledOne {
  return { json, kind, leftOut };
}

function refused({ type }: Block, reason: string): SpelledOne {
  const what = `a block of type ${type}`;
  return { json: null, kind: "other", leftOut: [{ what, reason }] };
}

function spellChange(change: ToolChange, message: Message, takesToolChanges: boolean): SpelledOne {
  const json = toConverseChange(change);
  const refusal = refuseToolChange(message, takesToolChanges);
  if (refusal === null && json !== undefined) return sent("server tool block", json);
  const what = `the ${change.kind} of ${change.name ?? "a tool"}`;
  const reason = refusal ?? "the provider takes a tool by its name only";
  return { json: null, kind: "other", leftOut: [{ what, reason }] };
}

function spellBlock(block: Block): SpelledOne {
  switch (block.type) {
    case "text":
      return block.text.trim() === ""
        ? refused(block, "the provider refuses text without a word")
        : sent("text", textJson(block.text));
    case "compaction":
      return (block.content ?? "").trim() === ""
        ? refused(block, "it holds no text")
        : sent("text", textJson(block.content ?? ""));
    case "image":
    case "document":
      return spellMedia(block);
    case "tool_use": {
      const isObject = parseFields(block.inputJson) !== undefined;
      const input = isObject ? block.inputJson.trim() : "{}";
      const lost = { what: "the input of a tool_use", reason: "it is not a JSON object" };
      const members = `"toolUseId":${idJson(block.id)},"name":${JSON.stringify(block.name)}`;
      // A use with a cut input keeps its place, so that its result still has a use to answer.
      return sent("tool_use", `{"toolUse":{${members},"input":${input}}}`, isObject ? [] : [lost]);
    }
    case "tool_result":
      return spellResult(block);
    case "thinking": {
      const { text, signature = "" } = block;
      if (signature === "") return refused(block, "it has no signature");
      const members = `"text":${JSON.stringify(text)},"signature":${JSON.stringify(signature)}`;
      return sent("thinking", `{"reasoningContent":{"reasoningText":{${members}}}}`);
    }
    case "redacted_thinking": {
      const data = JSON.stringify(block.data);
      return sent("redacted_thinking", `{"reasoningContent":{"redactedContent":${data}}}`);
    }
    case "opaque": {
      const member = memberOfBlock(Object.keys(parseFields(block.json) ?? {}));
      if (member === undefined) return refused(block, "it belongs to another protocol");
      return sent(kindOfMember(member) ?? "other", block.json.trim());
    }
  }
}

export function textJson(text: string): JsonText {
  return `{"text":${JSON.stringify(text)}}`;
}

/** The provider takes the same ids as the vendor of the models. */
function idJson(id: string): JsonText {
  return JSON.stringify(toTakenId(id));
}

function spellResult({ toolUseId, content, isError }: ToolResultBlock): SpelledOne {
  const inner = content.map(spellBlock);
  const texts = inner.flatMap(({ json, kind }) =>
    json === null || isThinking(kind) ? [] : [json],
  );
  const status = isError ? ',"status":"error"' : "";
  const members = `"toolUseId":${idJson(toolUseId)},"content":[${texts.join(",")}]${status}`;
  const leftOut = inner.flatMap((each) => each.leftOut);
  return sent("tool_result", `{"toolResult":{${members}}}`, leftOut);
}

type MediaBlock = Extract<Block, { readonly type: "image" | "document" }>;

function spellMedia(block: MediaBlock): SpelledOne {
  const { type, source } = block;
  if (source.kind === "file") return refused(block, "the provider has no files of other APIs");
  const place = placeOf(source, type);
  if (place === null) return refused(block, "the provider fetches nothing but objects of S3");
  const format = (type === "image" ? imageFormats : documentFormats).get(kindOfMedia(source));
  if (format === undefined)
    return refused(block, `no format of the provider is ${kindOfMedia(source)}`);
  if (type === "image") {
    return sent("image", `{"image":{"format":"${format}","source":${place}}}`);
  }
  const name = JSON.stringify(nameOf(block));
  return sent("document", `{"document":{"format":"${format}","name":${name},"source":${place}}}`);
}

/** Null for an address that the provider does not read. */
function placeOf(
  source: Exclude<MediaSource, { readonly kind: "file" }>,
  type: MediaBlock["type"],
): JsonText | null {
  switch (source.kind) {
    case "base64":
      return `{"bytes":${JSON.stringify(source.data)}}`;
    case "text":
      return type === "image" ? null : `{"text":${JSON.stringify(source.data)}}`;
    case "url":
      return source.url.startsWith("s3://")
        ? `{"s3Location":{"uri":${JSON.stringify(source.url)}}}`
        : null;
  }
}

/** By the end of its name, where there is nothing but an address. */
function kindOfMedia(source: Exclude<MediaSource, { readonly kind: "file" }>): string {
  if (source.kind !== "url") return source.mediaType.toLowerCase();
  return /\.([a-z0-9]+)$/i.exec(source.url)?.[1]?.toLowerCase() ?? "unknown";
}

const imageFormats: ReadonlyMap<string, string> = formats([
  ["jpeg", "image/jpeg", "jpg"],
  ["png", "image/png"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
]);

const documentFormats: ReadonlyMap<string, string> = formats([
  ["pdf", "application/pdf"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["doc", "application/msword"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["xls", "application/vnd.ms-excel"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
]);

/** Each format is also the usual ending of a file's name. */
function formats(rows: readonly (readonly [string, ...string[]])[]): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap(([format, ...names]) => [format, ...names].map((name) => [name, format])),
  );
}

/** The provider takes letters, digits, single spaces, hyphens, parentheses and brackets. The same document gives the same name. */
function nameOf(block: MediaBlock): string {
  const title = block.type === "document" ? (block.title ?? "") : "";
  const name = title
    .replaceAll(/[^a-zA-Z0-9\-()[\]]+/g, " ")
    .trim()
    .slice(0, nameLengthMax);
  return name === "" ? `document ${hashContent(JSON.stringify(block.source)).slice(0, 8)}` : name;
}

const nameLengthMax = 200;
