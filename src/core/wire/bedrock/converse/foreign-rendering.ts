// The part of a Converse block that reaches the model, in one spelling, and the form that our counters take.
import type { Block, MediaSource } from "../../../message/message.ts";
import * as json from "../../../message/json-tree.ts";

/** A block's only member. */
export interface BlockParts {
  readonly member: string;
  readonly value: json.JsonNode;
}

/** Plain text as it is; all else as JSON with sorted keys, nested values in the order written. */
export function renderBlock(block: json.JsonNode, parts: BlockParts | undefined): string {
  if (parts?.member === "text" && parts.value.kind === "string") return parts.value.text;
  if (parts === undefined) return json.compactJson(block);
  return `${parts.member} ${sorted(parts.value)}`;
}

/** A definition; whether a reply must follow its schema to the letter is a part of it. */
export function renderTool(tool: json.JsonNode): string {
  const spec = json.memberOf(tool, "toolSpec");
  return spec === undefined ? json.compactJson(tool) : sorted(spec);
}

function sorted(node: json.JsonNode): string {
  if (node.kind !== "object") return json.compactJson(node);
  const members = [...node.members].filter(
    ([key]) => json.hasMember(node, key) && !isSuccess(node, key),
  );
  const inOrder = members.toSorted(([left], [right]) => (left < right ? -1 : 1));
  return json.objectText(inOrder.map(([key, value]) => [key, json.compactJson(value)]));
}

/** An explicit default means the same as an absent member. */
function isSuccess(node: json.JsonNode, key: string): boolean {
  return key === "status" && json.textOf(node, key) === "success";
}

/** Undefined if the text is enough. */
export function countedBlock({ member, value }: BlockParts): Block | undefined {
  switch (member) {
    case "text":
      return value.kind === "string" ? { type: "text", text: value.text } : undefined;
    case "image":
      return { type: "image", source: sourceOf(value, "image") };
    case "document":
      return { type: "document", source: sourceOf(value, "application") };
    case "toolUse": {
      const input = json.memberOf(value, "input");
      const inputJson = input === undefined ? "{}" : json.compactJson(input);
      return { type: "tool_use", id: "", name: json.textOf(value, "name") ?? "", inputJson };
    }
    case "toolResult":
      return {
        type: "tool_result",
        toolUseId: "",
        isError: false,
        content: json.listOf(value, "content").map(innerBlock),
      };
    case "reasoningContent":
      return thinkingOf(value);
    default:
      return undefined;
  }
}

function innerBlock(inner: json.JsonNode): Block {
  const text = json.textOf(inner, "text");
  if (text !== undefined) return { type: "text", text };
  for (const member of ["image", "document"]) {
    const value = json.memberOf(inner, member);
    const counted = value === undefined ? undefined : countedBlock({ member, value });
    if (counted !== undefined) return counted;
  }
  return { type: "text", text: json.compactJson(json.memberOf(inner, "json") ?? inner) };
}

function thinkingOf(value: json.JsonNode): Block {
  const data = json.textOf(value, "redactedContent");
  if (data !== undefined) return { type: "redacted_thinking", data };
  const said = json.memberOf(value, "reasoningText");
  const signature = json.textOf(said, "signature");
  const text = json.textOf(said, "text") ?? "";
  return { type: "thinking", text, ...(signature === undefined ? {} : { signature }) };
}

function sourceOf(media: json.JsonNode, family: string): MediaSource {
  const source = json.memberOf(media, "source");
  const mediaType = `${family}/${json.textOf(media, "format") ?? "unknown"}`;
  const text = json.textOf(source, "text");
  if (text !== undefined) return { kind: "text", mediaType: "text/plain", data: text };
  const uri = json.textOf(json.memberOf(source, "s3Location"), "uri");
  if (uri !== undefined) return { kind: "url", url: uri };
  return { kind: "base64", mediaType, data: json.textOf(source, "bytes") ?? "" };
}
