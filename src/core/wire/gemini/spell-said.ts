// The parts of one message in the provider's form, and why other blocks are left out.
import type { BlockKind } from "../../assembly/prompt-block.ts";
import type { LeftOut, Written, WrittenCall } from "../../assembly/spelling.ts";
import { parseFields, textIn } from "../../message/fields.ts";
import type { Block, DocumentBlock, ImageBlock, JsonText } from "../../message/message.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { callPart, isSameMeaning, keptPart, type ReadPart } from "./parts.ts";

export type Abilities = Pick<ModelFacts["capabilities"], "signedToolCalls" | "mediaInToolResults">;

export interface SpelledPart {
  readonly json: JsonText;
  readonly kind: BlockKind;
  readonly content: readonly Block[];
}

export interface SpelledParts {
  readonly parts: readonly SpelledPart[];
  readonly leftOut: readonly LeftOut[];
}

/** What the model said. `calls`: how its results have to name it. */
export function spellReply(
  content: readonly Block[],
  can: Abilities,
): SpelledParts & { readonly calls: ReadonlyMap<string, WrittenCall> } {
  const parts: SpelledPart[] = [];
  const leftOut: LeftOut[] = [];
  const calls = new Map<string, WrittenCall>();
  let kept: ReadPart | undefined;
  for (const block of content) {
    const before = kept;
    kept = keptPart(block);
    const isRepeated = before !== undefined && isSameMeaning(before, block);
    if (block.type === "tool_use") {
      const hasNone = isRepeated && before.call?.id === "";
      calls.set(block.id, { name: block.name, id: hasNone ? null : block.id });
    }
    if (isRepeated) continue;
    const spelled = kept === undefined ? spellSaid(block, leftOut) : spellKept(kept, block);
    if (spelled === undefined) continue;
    const isFirstCall =
      spelled.kind === "tool_use" && !parts.some(({ kind }) => kind === "tool_use");
    const needsSignature = can.signedToolCalls && isFirstCall && (kept?.signature ?? "") === "";
    parts.push(needsSignature ? withSignature(spelled) : spelled);
  }
  return { parts, leftOut, calls };
}

/** Counted by what it says. A part that only holds a signature says nothing. */
function spellKept({ json, call, isThought, text }: ReadPart, block: Block): SpelledPart {
  if (call !== undefined) {
    return { json, kind: "tool_use", content: [{ type: "tool_use", ...call }] };
  }
  if (text === undefined) return { json, kind: "other", content: [block] };
  const content: readonly Block[] = text === "" ? [] : [{ type: "text", text }];
  return { json, kind: isThought || text === "" ? "thinking" : "text", content };
}

/** Undefined if the block was left out. */
function spellSaid(block: Block, leftOut: LeftOut[]): SpelledPart | undefined {
  if (block.type === "tool_use") {
    const input = parseFields(block.inputJson) === undefined ? undefined : block.inputJson;
    if (input === undefined) {
      leftOut.push({ what: "the input of a tool_use", reason: "it is not a JSON object" });
    }
    const json = callPart({ ...block, inputJson: input ?? "{}" });
    return { json, kind: "tool_use", content: [block] };
  }
  const text = textOf(block);
  if (text !== undefined && text !== "") return textPart(text, block);
  const isThinking = block.type === "thinking" || block.type === "redacted_thinking";
  const reason =
    text === ""
      ? "it holds no text"
      : isThinking
        ? "it is the thinking of another provider's model"
        : "a reply of Gemini cannot hold it";
  leftOut.push({ what: nameOf(block), reason });
  return undefined;
}

/**
 * The provider refuses the first call of a step without its signature. One that another model made has none; this word, from the
 * provider's page on thought signatures, stands for it.
 */
function withSignature(spelled: SpelledPart): SpelledPart {
  const open = spelled.json.slice(0, spelled.json.lastIndexOf("}"));
  return { ...spelled, json: `${open},"thoughtSignature":"skip_thought_signature_validator"}` };
}

/** What the user, a tool or the application said, without results of tools. */
export function spellPart(block: Block, leftOut: LeftOut[]): SpelledPart | undefined {
  const text = textOf(block);
  const written =
    text !== undefined
      ? text === ""
        ? "it holds no text"
        : textPart(text, block)
      : block.type === "image" || block.type === "document"
        ? mediaPart(block)
        : "a message to Gemini cannot hold it";
  if (typeof written !== "string") return written;
  leftOut.push({ what: nameOf(block), reason: written });
  return undefined;
}

function mediaPart(block: ImageBlock | DocumentBlock): SpelledPart | string {
  const { source, type: kind } = block;
  switch (source.kind) {
    case "base64":
      return { json: inlinePart(source), kind, content: [block] };
    case "file": {
      const json = `{"fileData":{"fileUri":${toText(source.fileId)}}}`;
      return { json, kind, content: [block] };
    }
    case "url":
      return "Gemini reads a file by its bytes or its id there, not by another address";
    case "text":
      return "an image is not text";
  }
}

function inlinePart({ mediaType, data }: { mediaType: string; data: string }): JsonText {
  return `{"inlineData":{"mimeType":${toText(mediaType)},"data":${toText(data)}}}`;
}

/** Undefined for a result whose call is not there: the provider refuses it. */
export function spellResult(
  block: Extract<Block, { readonly type: "tool_result" }>,
  { calls }: Pick<Written, "calls">,
  can: Abilities,
  leftOut: LeftOut[],
): SpelledPart | undefined {
  const call = calls?.get(block.toolUseId);
  if (call === undefined) {
    leftOut.push({ what: "a tool_result", reason: "the message before it has no such tool use" });
    return undefined;
  }
  const texts: string[] = [];
  const media: string[] = [];
  const sent: Block[] = [];
  for (const inner of block.content) {
    const text = textOf(inner);
    const isMedia = inner.type === "image" || inner.type === "document";
    const inline = isMedia && inner.source.kind === "base64" ? inner.source : undefined;
    if (text !== undefined) texts.push(text);
    else if (inline !== undefined && can.mediaInToolResults) media.push(inlinePart(inline));
    else {
      leftOut.push({ what: nameOf(inner), reason: "the result of a tool cannot hold it here" });
      continue;
    }
    sent.push(inner);
  }
  const id = call.id === null ? "" : `"id":${toText(call.id)},`;
  const response = `{"${block.isError ? "error" : "output"}":${toText(texts.join("\n"))}}`;
  const parts = media.length === 0 ? "" : `,"parts":[${media.join(",")}]`;
  const members = `${id}"name":${toText(call.name)},"response":${response}${parts}`;
  return {
    json: `{"functionResponse":{${members}}}`,
    kind: "tool_result",
    content: [{ ...block, content: sent }],
  };
}

function textPart(text: string, block: Block): SpelledPart {
  return { json: `{"text":${toText(text)}}`, kind: "text", content: [block] };
}

/** The text of a block that is nothing but text. */
function textOf(block: Block): string | undefined {
  if (block.type === "text") return block.text;
  if (block.type === "compaction") return block.content ?? "";
  if (block.type !== "document" || block.source.kind !== "text") return undefined;
  const { title, source } = block;
  return title === undefined ? source.data : `${title}\n\n${source.data}`;
}

export function toText(text: string): JsonText {
  return JSON.stringify(text);
}

function nameOf(block: Block): string {
  if (block.type !== "opaque") return block.type;
  const type = textIn(parseFields(block.json) ?? {}, "type");
  return type === undefined ? "a block of an unknown type" : `a block of type ${type}`;
}
