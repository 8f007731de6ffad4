// Items in the form of the Responses API. Codex stores its transcripts in it.
import { textIn, type Fields } from "../../../core/message/fields.ts";
import { toJsonTree } from "../../../core/message/json-tree.ts";
import type { BlockDraft as ReadBlock } from "../../../core/wire/foreign/foreign-request.ts";
import { openaiResponses } from "../../../core/wire/openai/responses/index.ts";
import type { Protocol } from "../../../core/wire/protocol.ts";
import { createDrafts, type BlockDraft, type Drafting } from "../block-draft.ts";

export const responsesForm: Protocol = openaiResponses;

/** Whether the model made the item. */
export function isOutputItem(item: Fields): boolean {
  const type = textIn(item, "type") ?? "message";
  if (type === "message") return item["role"] === "assistant";
  return type === "reasoning" || type.endsWith("_call");
}

export function isSystemItem(item: Fields): boolean {
  return item["role"] === "system" || item["role"] === "developer";
}

/** Instructions stand before all items and carry no markers. */
export function draftInstructions(instructions: unknown, drafting: Drafting): BlockDraft[] {
  return createDrafts(readBody({ instructions }), drafting);
}

export interface ItemPlace {
  /** Whether a system item stands before the conversation. */
  readonly isHead: boolean;
  /** Whether the item continues a reply. */
  readonly isReplyOpen: boolean;
}

export function draftItem(
  item: Fields,
  { isHead, isReplyOpen }: ItemPlace,
  drafting: Drafting,
): BlockDraft[] {
  // A system item on its own is read as the head of a request.
  const read = readBody({ input: [item] }).map((block): ReadBlock => {
    return block.tier === "T1" && !isHead ? { ...block, tier: "T3" } : block;
  });
  return createDrafts(read, drafting, isReplyOpen);
}

function readBody(body: Fields): readonly ReadBlock[] {
  return responsesForm.foreign.read(toJsonTree(body), undefined).drafts;
}
