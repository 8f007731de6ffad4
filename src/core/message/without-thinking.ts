// Removes a model's thinking: another model cannot read it, and some providers refuse it after the
// messages before it have changed.
import { parseFields, textIn } from "./fields.ts";
import type { Block, Message } from "./message.ts";

/** Returns the same message if it has no thinking. The result may be empty. */
export function withoutThinking(message: Message): Message {
  const content = message.content.filter((block) => !isThinking(block));
  // `json` would still contain the thinking, so it is left out.
  return content.length === message.content.length ? message : { role: message.role, content };
}

/** Also detects thinking in blocks we cannot read. */
function isThinking(block: Block): boolean {
  if (block.type !== "opaque") {
    return block.type === "thinking" || block.type === "redacted_thinking";
  }
  return /thinking|^reasoning$/.test(textIn(parseFields(block.json) ?? {}, "type") ?? "");
}
