// The blocks of one message in the provider's form, and why the others are left out.
import { parseFields, type Fields } from "../../message/fields.ts";
import type { LeftOut } from "../../assembly/spelling.ts";
import { encodeBlock } from "../../message/encode-message.ts";
import type { Block, JsonText, Message } from "../../message/message.ts";
import type { ContentPiece, SpelledContent } from "../open-messages.ts";
import { repairCharacters, repairOf } from "../repair-characters.ts";
import {
  readToolChange,
  refuseToolChange,
  toMessagesChange,
  type ToolChange,
} from "../tool-changes.ts";
import { kindOfType, textOf } from "./schema.ts";
import { withoutMarkers } from "./strip-markers.ts";
import { hashContent } from "../../hash.ts";
import { objectMembers, rootSpan } from "../../message/json-text.ts";

export function spellContent(message: Message, takesToolChanges: boolean): SpelledContent {
  const pieces: ContentPiece[] = [];
  const leftOut: LeftOut[] = otherMembers(message);
  for (const block of message.content) {
    const change = readToolChange(block);
    const reason = change === undefined ? null : refuseToolChange(message, takesToolChanges);
    if (change !== undefined && reason !== null) {
      leftOut.push({ what: `the ${change.kind} of ${change.name ?? "a tool"}`, reason });
      continue;
    }
    const sent = withReadableInput(inOwnForm(block, change));
    const { json, count } = repairCharacters(encodeBlock(sent).trim());
    const { type, fields, refusal } = look(sent, json);
    if (refusal !== null) {
      const what = type === "" ? "a block of an unknown type" : `a block of type ${type}`;
      leftOut.push({ what, reason: refusal });
      continue;
    }
    if (sent !== block && block.type === "tool_use") {
      leftOut.push({ what: `the input of a ${type}`, reason: "it is not a JSON object" });
    }
    if (count > 0) leftOut.push(repairOf(`a block of type ${type}`, count));
    const kind = kindOfType(type);
    const mayCarryMarker = kind !== "thinking" && kind !== "redacted_thinking" && type !== "";
    const spelled = withTakenId(withoutMarkers(json), type, fields);
    pieces.push({ json: spelled, kind, mayCarryMarker, block });
  }
  return { pieces, leftOut };
}

/** A message is written block by block: other members of its text are left out. */
function otherMembers({ json }: Message): LeftOut[] {
  if (json === undefined) return [];
  const names = Object.keys(parseFields(json) ?? {});
  return names
    .filter((name) => name !== "role" && name !== "content")
    .map((name) => ({ what: `${name} of a message`, reason: "only a system message may have it" }));
}

/** A change of the tools in the form of another protocol is written in ours. */
function inOwnForm(block: Block, change: ToolChange | undefined): Block {
  if (change === undefined || block.type !== "opaque") return block;
  const isOwn = typeof parseFields(block.json)?.["type"] === "string";
  const json = isOwn ? undefined : toMessagesChange(change);
  return json === undefined ? block : { type: "opaque", json };
}

/** A tool use with a cut input keeps its place, so that its result still has a use to answer. */
function withReadableInput(block: Block): Block {
  if (block.type !== "tool_use" || block.json !== undefined) return block;
  return parseFields(block.inputJson) === undefined ? { ...block, inputJson: "{}" } : block;
}

interface Look {
  /** The provider's name for it; empty if the block has none. */
  readonly type: string;
  readonly fields: Fields;
  /** Why it is not sent; null if it is. */
  readonly refusal: string | null;
}

function look(block: Block, json: JsonText): Look {
  if (block.type === "text" && block.text.trim() === "") {
    return { type: "text", fields: {}, refusal: "the provider refuses text without a word" };
  }
  if (block.type === "text" && block.json === undefined) {
    return { type: "text", fields: {}, refusal: null };
  }
  // Text that is not JSON would make this request and every later one unreadable.
  const fields = parseFields(json);
  if (fields === undefined) {
    return { type: block.type, fields: {}, refusal: "it is not a JSON object" };
  }
  const type = block.type === "opaque" ? textOf(fields["type"]) : block.type;
  return { type, fields, refusal: findRefusal(block, type, fields) };
}

function findRefusal({ type: own }: Block, type: string, fields: Fields): string | null {
  // Thinking of another provider's model, or thinking that a cut stream left incomplete.
  if (type === "thinking" && textOf(fields["signature"]) === "") return "it has no signature";
  // Both protocols have compaction blocks; only the other protocol's have no content.
  const isForeign =
    isItemOfOtherProtocol(type, fields) ||
    (type === "compaction" && !Object.hasOwn(fields, "content"));
  return own === "opaque" && isForeign ? "it belongs to another protocol" : null;
}

function isItemOfOtherProtocol(type: string, fields: Fields): boolean {
  // A block of this protocol says its type; one of Bedrock's Converse is named by its only member.
  if (type === "") return Object.keys(fields).length > 0;
  return /^(?:reasoning|message|item_reference|part)$|(?:_call|_call_output|_part)$/.test(type);
}

/** The same input gives the same id: a use and its result change alike. */
export function toTakenId(id: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(id)) return id;
  // The hash keeps ids apart that differ only in the replaced characters.
  return `${id.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}_${hashContent(id).slice(0, 8)}`;
}

/** The block with an id that the provider accepts. No other byte changes. */
export function withTakenId(
  json: JsonText,
  type: string,
  fields: Readonly<Record<string, unknown>>,
): JsonText {
  const member = memberOf.get(type);
  const id = member === undefined ? undefined : fields[member];
  if (typeof id !== "string" || toTakenId(id) === id) return json;
  const places = objectMembers(json, rootSpan(json)).filter(({ key }) => key === member);
  return places.reduceRight(
    (text, { value: { start, end } }) =>
      text.slice(0, start) + JSON.stringify(toTakenId(id)) + text.slice(end),
    json,
  );
}

const memberOf: ReadonlyMap<string, string> = new Map([
  ["tool_use", "id"],
  ["tool_result", "tool_use_id"],
]);
