// The parts of a reply ⇄ blocks. A part with more than its plain meaning is kept as the part itself.
import { fieldsIn, hasOnly, parseFields, textIn } from "../../message/fields.ts";
import { memberTexts, objectMembers, rootSpan } from "../../message/json-text.ts";
import type { Block, JsonText, ToolUseBlock } from "../../message/message.ts";

export interface ReadPart {
  /** Exactly as it came. */
  readonly json: JsonText;
  /** Undefined if it is no text. */
  readonly text: string | undefined;
  /** A summary of the model's thinking, not its answer. */
  readonly isThought: boolean;
  /** Empty for none. */
  readonly signature: string;
  readonly call: ReadCall | undefined;
  /** Whether nothing is lost if only its text or its call is kept. */
  readonly isPlain: boolean;
  /** Whether it is a summary of thinking and nothing else. */
  readonly isPlainThought: boolean;
}

export interface ReadCall {
  /** Empty if the provider gave none. */
  readonly id: string;
  readonly name: string;
  readonly inputJson: JsonText;
}

/** A part that is nothing but text, in our own spelling. Most pieces of a stream are joined to others, so it is spelled when asked for. */
class TextPart implements ReadPart {
  readonly text: string;
  readonly isThought = false;
  readonly signature = "";
  readonly call = undefined;
  readonly isPlain = true;
  readonly isPlainThought = false;

  constructor(text: string) {
    this.text = text;
  }

  get json(): JsonText {
    return `{"text":${JSON.stringify(this.text)}}`;
  }
}

export function textPart(text: string): ReadPart {
  return new TextPart(text);
}

/** Undefined if the text is not one JSON object. */
export function readPart(json: JsonText): ReadPart | undefined {
  const fields = parseFields(json);
  if (fields === undefined) return undefined;
  const text = "functionCall" in fields ? undefined : textIn(fields, "text");
  const call = "functionCall" in fields ? readCall(json) : undefined;
  const isThought = fields["thought"] === true;
  return {
    json,
    text,
    isThought,
    signature: textIn(fields, "thoughtSignature") ?? "",
    call: call?.read,
    isPlain:
      call === undefined
        ? text !== undefined && hasOnly(fields, ["text"])
        : call.isPlain && hasOnly(fields, ["functionCall"]),
    isPlainThought: isThought && text !== undefined && hasOnly(fields, ["text", "thought"]),
  };
}

/** Undefined for a piece of one: Vertex streams arguments in pieces only if it is asked to. */
function readCall(
  json: JsonText,
): { readonly read: ReadCall; readonly isPlain: boolean } | undefined {
  const fields = fieldsIn(parseFields(json) ?? {}, "functionCall");
  if ("partialArgs" in fields || fields["willContinue"] === true) return undefined;
  const args = memberTexts(memberTexts(json).get("functionCall") ?? "").get("args");
  const id = textIn(fields, "id") ?? "";
  const read = { id, name: textIn(fields, "name") ?? "", inputJson: toInputJson(args) };
  const isPlain = args?.startsWith("{") === true && id !== "" && isInOurOrder(fields);
  return { read, isPlain };
}

/** The order in which the provider writes a call, and we do. */
function isInOurOrder(fields: object): boolean {
  return Object.keys(fields).join() === "name,args,id";
}

/** A call as a part, in the same order. */
export function callPart({ id, name, inputJson }: ReadCall): JsonText {
  const members = `"name":${JSON.stringify(name)},"args":${inputJson}`;
  return `{"functionCall":{${members},"id":${JSON.stringify(id)}}}`;
}

/** What is no object is kept whole under one key, so that every protocol can carry it. */
function toInputJson(args: JsonText | undefined): JsonText {
  if (args === undefined || args === "null") return "{}";
  return args.startsWith("{") ? args : `{"invalid_arguments":${args}}`;
}

/** The same part with more text at its end, as the later pieces of it say. */
export function withMoreText(part: ReadPart, more: readonly string[]): ReadPart {
  if (more.length === 0) return part;
  const text = [part.text ?? "", ...more].join("");
  if (part.isPlain) return textPart(text);
  const place = objectMembers(part.json, rootSpan(part.json)).findLast(({ key }) => key === "text");
  if (place === undefined) return part;
  const { start, end } = place.value;
  const json = part.json.slice(0, start) + JSON.stringify(text) + part.json.slice(end);
  return { ...part, text, json };
}

/**
 * A part of a reply as blocks. If our own spelling would lose something (a signature, that it is thinking, an unknown member), the
 * verbatim part comes before the block with its meaning: this protocol writes the first, every other one the second.
 */
export function toBlocks(part: ReadPart, toolUseId: string): readonly Block[] {
  const meaning = meaningOf(part, toolUseId);
  return part.isPlain ? meaning : [keep(part), ...meaning];
}

/** Empty for a part that only this protocol understands, and for one that says nothing. */
function meaningOf({ text, isThought, call }: ReadPart, toolUseId: string): readonly Block[] {
  if (call !== undefined) {
    const { id, name, inputJson } = call;
    return [{ type: "tool_use", id: id === "" ? toolUseId : id, name, inputJson }];
  }
  return isThought || (text ?? "") === "" ? [] : [{ type: "text", text: text ?? "" }];
}

/** Another model cannot read what this one thought: such a part has a type of its own, as other protocols' thinking does. */
function keep({ json, isThought, signature }: ReadPart): Block {
  const type = isThought || signature !== "" ? "thinking_part" : "part";
  return { type: "opaque", json: `{"type":"${type}","part":${json}}` };
}

/** The part that a block keeps; undefined for any other block. */
export function keptPart(block: Block): ReadPart | undefined {
  if (block.type !== "opaque") return undefined;
  const type = textIn(parseFields(block.json) ?? {}, "type");
  if (type !== "thinking_part" && type !== "part") return undefined;
  const json = memberTexts(block.json).get("part") ?? "";
  return json.startsWith("{") ? readPart(json) : undefined;
}

/** Whether a block only repeats what the kept part before it says. */
export function isSameMeaning({ text, isThought, call }: ReadPart, block: Block): boolean {
  if (call === undefined) return !isThought && block.type === "text" && block.text === text;
  return block.type === "tool_use" && isSameCall(call, block);
}

/** A call without an id of its own has got one from us. */
function isSameCall(call: ReadCall, { id, name, inputJson }: ToolUseBlock): boolean {
  return (call.id === "" || call.id === id) && call.name === name && call.inputJson === inputJson;
}
