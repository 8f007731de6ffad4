// What must hold for any message text: its bytes survive, its inputs stay verbatim, our spelling is stable.
import { decodeMessage } from "../src/core/message/decode-message.ts";
import { encodeMessage, spellBlock, spellMessage } from "../src/core/message/encode-message.ts";
import type { Message } from "../src/core/message/message.ts";
import { validateMessage } from "../src/core/message/validate-message.ts";

/** Every promise this message text breaks; an empty list when all hold. */
export function brokenPromises(text: string): string[] {
  try {
    const message = decodeMessage(text);
    const broken: string[] = [];
    if (encodeMessage(message) !== text) broken.push("encoding gives other bytes");
    if (!keepsInputs(message, text)) broken.push("a tool input is not verbatim");
    if (!hasStableSpelling(message)) broken.push("our own spelling does not read back as itself");
    if (validateMessage(message).some(({ rule }) => rule === "json-stale")) {
      broken.push("the kept text is called stale");
    }
    return broken;
  } catch (error) {
    return [`threw ${String(error)}`];
  }
}

function keepsInputs(message: Message, text: string): boolean {
  return message.content.every(
    (block) => block.type !== "tool_use" || text.includes(block.inputJson),
  );
}

function hasStableSpelling({ role, content }: Message): boolean {
  const blocks = content.map(spellBlock);
  const plain = `{"role":"${role}","content":[${blocks.join(",")}]}`;
  const again = decodeMessage(plain);
  return spellMessage(again) === plain && again.content.every((block) => spellsItself(block));
}

function spellsItself(block: Message["content"][number]): boolean {
  return block.json === undefined || block.json === spellBlock(block);
}
