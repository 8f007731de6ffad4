// The content of a message in either OpenAI form, as drafts: one for each part.
import type { BlockKind, PromptRole } from "../../core/assembly/prompt-block.ts";
import { isObject } from "../../core/message/fields.ts";
import type { Block } from "../../core/message/message.ts";
import { lifetimes, type Lifetime } from "../../core/message/usage.ts";
import { fieldsIn, textIn, type Fields } from "../../core/message/fields.ts";
import { createDraft, type BlockDraft, type Drafting } from "./block-draft.ts";
import { blocksOf, draftTools, toHashedJson } from "./message-blocks.ts";
import type { RecordedBlock } from "../recording.ts";

/** Where parts stand. */
export interface PartPlace {
  readonly role: Exclude<PromptRole, "tools">;
  readonly tier: RecordedBlock["tier"];
  /** How long a marker lives that does not say it. */
  readonly lifetime: Lifetime;
}

/** Text, or a list of parts. Only what a client says can carry a marker. */
export function draftParts(content: unknown, place: PartPlace, drafting: Drafting): BlockDraft[] {
  return blocksOf(content).map((part, index, parts) => {
    const block = toBlock(part);
    const kind = kindOf(block, place.role);
    return createDraft(
      {
        json: block.type === "text" ? toHashedJson({ ...block }) : toHashedJson(part),
        content: block,
        opensReply: place.role === "assistant" && index === 0,
        tier: place.tier,
        kind,
        role: place.role,
        endsMessage: index === parts.length - 1,
        mayCarryMarker: place.role !== "assistant" && kind !== "empty text" && kind !== "other",
        marker: breakpointOf(part, place.lifetime),
      },
      drafting,
    );
  });
}

/** One block that is a message by itself, such as a tool call. */
export function draftWhole(
  parts: {
    readonly fields: Fields;
    readonly content: Block;
    readonly kind: BlockKind;
    readonly role: PartPlace["role"];
    readonly opensReply: boolean;
  },
  drafting: Drafting,
): BlockDraft {
  const { fields, ...rest } = parts;
  return createDraft(
    {
      ...rest,
      json: toHashedJson(fields),
      tier: "T3",
      endsMessage: true,
      mayCarryMarker: false,
      marker: null,
    },
    drafting,
  );
}

/** Definitions carry no markers here. */
export function draftFunctions(tools: unknown, drafting: Drafting): BlockDraft[] {
  return draftTools(tools, drafting).map((draft) => ({ ...draft, mayCarryMarker: false }));
}

function toBlock(part: Fields): Block {
  const text = textIn(part, "text") ?? textIn(part, "refusal");
  if (text !== undefined) return { type: "text", text };
  const type = textIn(part, "type") ?? "";
  if (/image/.test(type)) {
    const url = textIn(part, "image_url") ?? textIn(fieldsIn(part, "image_url"), "url") ?? "";
    const [, mediaType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
    if (mediaType === undefined || data === undefined) {
      return { type: "image", source: { kind: "url", url } };
    }
    return { type: "image", source: { kind: "base64", mediaType, data } };
  }
  if (/file|audio/.test(type)) return { type: "document", source: { kind: "file", fileId: "" } };
  return { type: "opaque", json: JSON.stringify(part) };
}

function kindOf(block: Block, role: PartPlace["role"]): BlockKind {
  if (block.type === "text") {
    if (block.text === "") return "empty text";
    return role === "system" ? "system text" : "text";
  }
  return block.type === "image" || block.type === "document" ? block.type : "other";
}

function breakpointOf(part: Fields, lifetime: Lifetime): Lifetime | null {
  const breakpoint = part["prompt_cache_breakpoint"];
  if (!isObject(breakpoint)) return null;
  return lifetimes.find((name) => name === breakpoint["ttl"]) ?? lifetime;
}
