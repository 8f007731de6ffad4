// Reads the content blocks of Converse as blocks of the model's own API.
import { compactJson, jsonText, type JsonObject } from "../json-source.ts";
import { createCollector, type Marked } from "./cache-points.ts";
import { readDocument, readImage, readSearchResult } from "./read-media.ts";
import {
  constraint,
  fields,
  find,
  flag,
  insideOf,
  listOf,
  memberOf,
  objectOf,
  optionalText,
  type Member,
  type Place,
} from "./read-fields.ts";
import { invalid, invented, notSimulated } from "./refusal.ts";

const kinds = [
  "text",
  "image",
  "toolUse",
  "toolResult",
  "document",
  "video",
  "audio",
  "cachePoint",
  "reasoningContent",
  "citationsContent",
  "searchResult",
  "guardContent",
  "toolAddition",
  "toolRemoval",
] as const;

export type ContentKind = (typeof kinds)[number];

export interface ReadContent extends Marked {
  /** The kinds of blocks, cache points included. */
  readonly kinds: readonly ContentKind[];
  /** Ids of tool uses and of tool results, in order. */
  readonly uses: readonly string[];
  readonly results: readonly string[];
}

/** The content of one message; `at` is the list's path in messages for people. */
export function readContent(message: Place, at: string): ReadContent {
  const collector = createCollector(at);
  const found: ContentKind[] = [];
  const uses: string[] = [];
  const results: string[] = [];
  for (const [index, place] of fields.placesAt(message, "content").entries()) {
    const member = memberOf(place, `${at}.${index}`, "ContentBlock", kinds);
    found.push(member.kind);
    if (member.kind === "cachePoint") {
      collector.mark(member);
      continue;
    }
    const block = readBlock(member, member.kind);
    collector.add(block, member.kind);
    if (member.kind === "toolUse") uses.push(idOf(member));
    if (member.kind === "toolResult") results.push(idOf(member));
  }
  return { ...collector.result(), kinds: found, uses, results };
}

function idOf(member: Member<string>): string {
  return fields.textAt(insideOf(member).inside, "toolUseId");
}

function readBlock(member: Member<string>, kind: Exclude<ContentKind, "cachePoint">): JsonObject {
  switch (kind) {
    case "text":
      return readText(member, "ContentBlock");
    case "image":
      return readImage(member);
    case "document":
      return readDocument(member);
    case "searchResult":
      return readSearchResult(member);
    case "toolUse":
      return readToolUse(member);
    case "toolResult":
      return readToolResult(member);
    case "reasoningContent":
      return readReasoning(member);
    case "guardContent":
      return readGuarded(member);
    case "citationsContent":
      return readCited(member);
    case "toolAddition":
    case "toolRemoval":
      return readToolChange(member, kind);
    case "video":
    case "audio":
      throw invented(`${member.at}: this model doesn't support ${kind} content blocks`);
  }
}

/** Blank text is refused before it reaches the model. */
export function readText({ place, kind, at }: Member<string>, what: string): JsonObject {
  const text = fields.textAt(place, kind);
  if (text.trim() === "")
    throw invalid(
      `The text field in the ${what} object at ${at} is blank. Add text to the text field, and try again.`,
    );
  return objectOf({ type: jsonText("text"), text: jsonText(text) });
}

function readToolUse(member: Member<string>): JsonObject {
  const { inside, at } = insideOf(member);
  if (fields.findText(inside, "type") !== null) throw notSimulated(`${at}.type`);
  const input = find(inside, "input");
  if (input?.kind !== "object")
    throw invalid(
      `The format of the value at ${at}.input is invalid. Provide a json object for the field and try again.`,
    );
  return objectOf({
    type: jsonText("tool_use"),
    id: jsonText(toolUseId(inside)),
    name: jsonText(fields.textAt(inside, "name")),
    input,
  });
}

function toolUseId(place: Place): string {
  const id = fields.textAt(place, "toolUseId");
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id))
    throw constraint(
      `'${id}'`,
      `${place.path}.toolUseId`,
      "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
    );
  return id;
}

const resultKinds = ["text", "image", "document", "json", "searchResult", "video"] as const;

function readToolResult(member: Member<string>): JsonObject {
  const { inside, at } = insideOf(member);
  if (fields.findText(inside, "type") !== null) throw notSimulated(`${at}.type`);
  const status = fields.findOneOf(inside, "status", ["success", "error"]);
  const content = fields.placesAt(inside, "content").map((place, index) => {
    const inner = memberOf(place, `${at}.content.${index}`, "ToolResultContentBlock", resultKinds);
    switch (inner.kind) {
      case "text":
        return readText(inner, "ToolResultContentBlock");
      case "image":
        return readImage(inner);
      case "document":
        return readDocument(inner);
      case "searchResult":
        return readSearchResult(inner);
      case "json":
        return objectOf({ type: jsonText("text"), text: jsonText(compactJson(inner.json)) });
      case "video":
        throw invented(`${inner.at}: this model doesn't support video content blocks`);
    }
  });
  if (status === "error" && content.length === 0)
    throw invalid(`The content field at ${at} cannot be empty when status value is error.`);
  return objectOf({
    type: jsonText("tool_result"),
    tool_use_id: jsonText(toolUseId(inside)),
    content: listOf(content),
    is_error: status === "error" ? flag(true) : undefined,
  });
}

function readReasoning(member: Member<string>): JsonObject {
  const { inside, at } = insideOf(member);
  const inner = memberOf(inside, at, "ReasoningContentBlock", ["reasoningText", "redactedContent"]);
  if (inner.kind === "redactedContent")
    return objectOf({
      type: jsonText("redacted_thinking"),
      data: jsonText(fields.textAt(inside, "redactedContent")),
    });
  const text = insideOf(inner).inside;
  return objectOf({
    type: jsonText("thinking"),
    thinking: jsonText(fields.textAt(text, "text")),
    signature: optionalText(fields.findText(text, "signature")),
  });
}

/** The model reads what is guarded as if it were not. */
export function readGuarded(member: Member<string>): JsonObject {
  const { inside, at } = insideOf(member);
  const inner = memberOf(inside, at, "GuardrailConverseContentBlock", ["text", "image"]);
  if (inner.kind === "image") return readImage(inner);
  const text = insideOf(inner);
  return readText(
    { kind: "text", json: inner.json, place: text.inside, at },
    "GuardrailConverseTextBlock",
  );
}

/** Text of an earlier reply with its sources; the model reads the text. */
function readCited(member: Member<string>): JsonObject {
  const { inside } = insideOf(member);
  const texts = (fields.findPlaces(inside, "content") ?? []).map((part) =>
    fields.textAt(part, "text"),
  );
  return objectOf({ type: jsonText("text"), text: jsonText(texts.join("")) });
}

function readToolChange(member: Member<string>, kind: "toolAddition" | "toolRemoval"): JsonObject {
  const { inside, at } = insideOf(member);
  const tool = fields.placeAt(inside, "tool");
  if (fields.findText(tool, "serverName") !== null) throw notSimulated(`${at}.tool.serverName`);
  const reference = {
    type: jsonText("tool_reference"),
    name: jsonText(fields.textAt(tool, "name")),
  };
  return objectOf({
    type: jsonText(kind === "toolAddition" ? "tool_addition" : "tool_removal"),
    tool: objectOf(reference),
  });
}
