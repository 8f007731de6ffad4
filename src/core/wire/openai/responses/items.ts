// Output items ⇄ blocks. An item with more than text is kept as the item itself.
import type { Block, JsonText } from "../../../message/message.ts";
import { toInputJson } from "../arguments.ts";
import { readItem, type Item } from "./schema.ts";

/**
 * An item of a reply as blocks. If our own spelling would lose something (a phase, annotations, a
 * namespace), the verbatim item comes before the block with its meaning: this protocol
 * writes the first, every other one the second.
 */
export function toBlocks(json: JsonText): readonly Block[] {
  const item = readItem(json);
  const verbatim: Block = { type: "opaque", json };
  const meaning = item === null ? undefined : meaningOf(item);
  if (meaning === undefined) return [verbatim];
  if (isPlain(item)) return isSaying(meaning) ? [meaning] : [];
  return isSaying(meaning) ? [verbatim, meaning] : [verbatim];
}

/** Whether a block only repeats what the item before it says. */
export function isSameMeaning(item: Item, block: Block | undefined): boolean {
  if (item.kind === "message" || item.kind === "user message") {
    return block?.type === "text" && block.text === item.text;
  }
  return (
    item.kind === "call" &&
    block?.type === "tool_use" &&
    block.id === item.callId &&
    block.inputJson === toInputJson(item.argumentsText)
  );
}

/** Undefined for an item that only this API understands. */
export function meaningOf(item: Item): Block | undefined {
  switch (item.kind) {
    case "message":
    case "user message":
      return { type: "text", text: item.text };
    case "call": {
      const { callId: id, name, argumentsText } = item;
      return { type: "tool_use", id, name, inputJson: toInputJson(argumentsText) };
    }
    case "reasoning":
    case "compaction":
    case "other":
      return undefined;
  }
}

function isPlain(item: Item | null): boolean {
  return (item?.kind === "message" || item?.kind === "call") && item.isPlain;
}

function isSaying(block: Block): boolean {
  return block.type !== "text" || block.text !== "";
}
