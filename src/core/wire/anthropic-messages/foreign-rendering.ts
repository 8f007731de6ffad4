// The part of a Messages API block that reaches the model, in one spelling. Markers and explicit defaults do not reach it.
import * as json from "../../message/json-tree.ts";

/** Definitions of deferred tools by name. */
export type DeferredTools = Pick<ReadonlyMap<string, string>, "get">;

/** Plain text as it is; all else as JSON with sorted keys, nested values in the order written. */
export function renderBlock(block: json.JsonNode, deferred: DeferredTools): string {
  const plain = plainText(block);
  if (plain !== undefined) return plain;
  if (block.kind !== "object") return json.compactJson(block);
  const members = sortedMembers(block, isUnrendered);
  const texts = members.map(([key, value]) => [key, renderMember(key, value, deferred)] as const);
  const definition = broughtIn(block, deferred);
  return json.objectText(definition === undefined ? texts : [...texts, ["definition", definition]]);
}

/** The text of a block that is nothing but text. */
function plainText(block: json.JsonNode): string | undefined {
  if (block.kind === "string") return block.text;
  if (block.kind !== "object" || json.textOf(block, "type") !== "text") return undefined;
  const members = sortedMembers(block, isUnrendered);
  const isPlain = members.every(([key]) => key === "type" || key === "text");
  return isPlain ? json.textOf(block, "text") : undefined;
}

/** Definitions are long and stay the same: each is rendered once for as long as its node is kept. */
const rendered = new WeakMap<json.JsonNode, string>();

/** A definition; how it is to be loaded or streamed is not rendered. */
export function renderTool(tool: json.JsonNode): string {
  const text = rendered.get(tool) ?? renderDefinition(tool);
  rendered.set(tool, text);
  return text;
}

function renderDefinition(tool: json.JsonNode): string {
  if (tool.kind !== "object") return json.compactJson(tool);
  const members = sortedMembers(
    tool,
    (key, value) =>
      unrenderedOfTools.has(key) ||
      (key === "type" && value.kind === "string" && value.text === "custom") ||
      (key === "strict" && value.kind === "scalar" && value.source === "false"),
  );
  return json.objectText(members.map(([key, value]) => [key, json.compactJson(value)]));
}

const unrenderedOfTools: ReadonlySet<string> = new Set([
  "cache_control",
  "defer_loading",
  "eager_input_streaming",
]);

type IsLeftOut = (key: string, value: json.JsonNode, object: json.JsonObject) => boolean;

function sortedMembers(
  object: json.JsonObject,
  isLeftOut: IsLeftOut,
): (readonly [string, json.JsonNode])[] {
  return [...object.members]
    .filter(
      ([key, value]) => json.memberOf(object, key) !== undefined && !isLeftOut(key, value, object),
    )
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** An explicit default means the same as an absent member. */
const isUnrendered: IsLeftOut = (key, value, object) => {
  switch (key) {
    case "cache_control":
      return true;
    case "citations":
      return value.kind === "list"
        ? value.items.length === 0
        : !json.isScalar(value, "enabled", "true");
    case "is_error":
      return value.kind === "scalar" && value.source === "false";
    case "caller":
      return json.textOf(value, "type") === "direct";
    case "content":
      return json.textOf(object, "type") === "tool_result" && isEmpty(value);
    default:
      return false;
  }
};

function isEmpty(value: json.JsonNode): boolean {
  return value.kind === "list"
    ? value.items.length === 0
    : value.kind === "string" && value.text === "";
}

function renderMember(key: string, value: json.JsonNode, deferred: DeferredTools): string {
  if (key === "content" && value.kind === "string") return renderList([value], deferred);
  if (key === "content" && value.kind === "list") return renderList(value.items, deferred);
  if (key === "source" && value.kind === "object") {
    const inner = sortedMembers(value, () => false);
    return json.objectText(inner.map(([name, each]) => [name, renderMember(name, each, deferred)]));
  }
  return json.compactJson(value);
}

function renderList(items: readonly json.JsonNode[], deferred: DeferredTools): string {
  const texts = items.map((item) => {
    const plain = plainText(item);
    return plain === undefined ? renderBlock(item, deferred) : JSON.stringify(plain);
  });
  return `[${texts.join(",")}]`;
}

/** The definition behind a reference to a deferred tool. */
function broughtIn(block: json.JsonObject, deferred: DeferredTools): string | undefined {
  const type = json.textOf(block, "type");
  if (type === "tool_reference") return deferred.get(json.textOf(block, "tool_name") ?? "");
  if (type !== "tool_addition") return undefined;
  return deferred.get(json.textOf(json.memberOf(block, "tool"), "name") ?? "");
}
